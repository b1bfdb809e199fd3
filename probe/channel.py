"""A run's channel to the reader process: hands sockets over, and takes what they bring.

The reader only empties and notes; here its entries become portions with a stamp, in the run's own
loop and in its own time.
"""

import array
import asyncio
import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from probe import entries
from probe.arrivals import HELD_BYTES, Arrivals
from probe.entries import Entry, take_entries
from probe.stamps import ON_ITS_WAY_NS, Portion, arrived_ns, offset_ns

ANSWER_S = 5.0
"""A reader that leaves a question unanswered for this long is taken for dead, seconds."""

_BATCH_BYTES = 256 * 1024
_GRANT_BYTES = HELD_BYTES // 8
"""What has been taken is granted anew in portions of this size."""


class ReaderLost(Exception):  # noqa: N818 - named for what happened
    """The reader process has gone, and with it what it had read: a fault of our own."""


class Channel:
    """One end of a channel; its loop is the running one."""

    def __init__(self, sock: socket.socket) -> None:
        """Begin on a connected, non-blocking socket whose other end the reader has or will have."""
        self._sock = sock
        self._loop = asyncio.get_running_loop()
        self._came = bytearray()
        self._offset_ns = 0
        self._sockets: dict[int, Watching] = {}
        self._numbers = 0
        self._answers: dict[int, asyncio.Future[None]] = {}
        self._loop.add_reader(sock.fileno(), self._on_readable)
        self.is_lost = False
        """True: the reader has nothing of it any more, and brings nothing."""

    def watch(self, sock: socket.socket, arrivals: Arrivals) -> None:
        """Have the reader empty the socket into the arrivals from now on; raises ReaderLost."""
        self._numbers += 1
        watching = Watching(channel=self, number=self._numbers, arrivals=arrivals)
        self.ask(entries.WATCH, self._numbers, HELD_BYTES, sock)
        self._sockets[self._numbers] = watching
        arrivals.read_by(watching)

    async def catch_up(self) -> None:
        """Have all that has come by now brought; raises ReaderLost."""
        self._numbers += 1
        number = self._numbers
        answer = self._answers[number] = self._loop.create_future()
        try:
            self.ask(entries.CATCH_UP, number)
            async with asyncio.timeout(ANSWER_S):
                await answer
        except TimeoutError:
            self._lose()
            raise ReaderLost from None
        finally:
            del self._answers[number]

    def forget(self, number: int) -> None:
        """Have the reader let go of a socket."""
        if self._sockets.pop(number, None) is not None and not self.is_lost:
            with suppress(ReaderLost):
                self.ask(entries.FORGET, number)

    def ask(
        self, kind: int, number: int, count: int = 0, sock: socket.socket | None = None
    ) -> None:
        """Send the reader one message; raises ReaderLost."""
        ancillary: list[Any] = []
        if sock is not None:
            ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [sock.fileno()]))]
        try:
            self._sock.sendmsg([entries.ASK.pack(kind, number, count)], ancillary)
        except OSError:
            self._lose()
            raise ReaderLost from None

    def close(self) -> None:
        """Have the reader let go of all."""
        if not self.is_lost:
            self.is_lost = True
            self._loop.remove_reader(self._sock.fileno())
            self._sock.close()

    def _lose(self) -> None:
        """Fail all that hangs on the entries."""
        if self.is_lost:
            return
        self.close()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(ReaderLost())
        for watching in self._sockets.values():
            watching.arrivals.fail(ReaderLost(), 0)

    # What the reader brings

    def _on_readable(self) -> None:
        try:
            data = self._sock.recv(_BATCH_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self._lose()
            return
        self._came += data
        for entry, brought in take_entries(self._came):
            self._take(entry, brought)

    def _take(self, entry: Entry, data: bytes) -> None:
        kind, count, number, _, kernel_ns, looked_ns, read_ns = entry
        if kind == entries.CLOCKS:
            self._offset_ns = offset_ns(kernel_ns, read_ns)
        elif kind == entries.CAUGHT_UP:
            if (answer := self._answers.get(number)) is not None and not answer.done():
                answer.set_result(None)
        elif (watching := self._sockets.get(number)) is not None:
            if kind == entries.DATA:
                watching.add(data, count, (kernel_ns, looked_ns, read_ns), self._offset_ns)
            elif count:
                watching.arrivals.fail(OSError(count, os.strerror(count)), read_ns)
            else:
                watching.arrivals.add(Portion(data=b"", stamp_ns=read_ns))


@dataclass(slots=True, kw_only=True)
class Watching:
    """One socket in the reader's hands."""

    channel: Channel
    number: int
    arrivals: Arrivals
    taken_bytes: int = 0
    last_ns: int = 0
    """The latest stamp given: they never fall."""

    def add(self, data: bytes, packets: int, stamps: tuple[int, int, int], offset_ns: int) -> None:
        """Give the arrivals what a read brought, with the kernel's stamp where it can be."""
        kernel_ns, looked_ns, read_ns = stamps
        after_ns = max(looked_ns - ON_ITS_WAY_NS, self.last_ns)
        at_ns = arrived_ns(kernel_ns, offset_ns, after_ns=after_ns, until_ns=read_ns)
        self.last_ns = read_ns if at_ns is None else at_ns
        self.arrivals.add(
            Portion(data=data, stamp_ns=self.last_ns, is_kernel=at_ns is not None, packets=packets)
        )

    def taken(self, cost_bytes: int) -> None:
        """Grant anew what has been taken."""
        self.taken_bytes += cost_bytes
        if self.taken_bytes >= _GRANT_BYTES and not self.channel.is_lost:
            with suppress(ReaderLost):
                self.channel.ask(entries.GRANT, self.number, self.taken_bytes)
            self.taken_bytes = 0

    async def catch_up(self) -> None:
        """Bring all that has come by now; raises ReaderLost."""
        if self.channel.is_lost:
            raise ReaderLost
        await self.channel.catch_up()

    def stop(self) -> None:
        """Have the reader let go of the socket."""
        self.channel.forget(self.number)
