"""What one socket has brought, in portions as they were read, until somebody takes it.

Who empties the socket is another's business: a `Source`, which is either the reader process or the
event loop itself.
"""

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from time import monotonic_ns
from typing import Protocol

from probe.entries import ENTRY_COST_BYTES
from probe.stamps import Portion
from probe.together import Turns

READ_BYTES = 65_536
HELD_BYTES = 1 * 1024 * 1024
"""What one socket may have brought without its being taken, before reading it pauses: bytes, and
ENTRY_COST_BYTES for every read.
"""


class BrokenLink(Exception):  # noqa: N818 - what the network did, not an error of ours
    """The connection failed; `__cause__` is the socket's or TLS' own error."""


class TimeUp(Exception):  # noqa: N818 - a limit was reached
    """What comes now comes after the limit."""


class Source(Protocol):
    """Whoever empties the socket."""

    def taken(self, cost_bytes: int) -> None:
        """Hear that so much of what it brought has been taken."""

    async def catch_up(self) -> None:
        """Bring all that has come by now."""

    def stop(self) -> None:
        """Read no more."""


class Arrivals:
    """What one socket has brought, in portions as they were read."""

    def __init__(self, sock: socket.socket) -> None:
        """Begin to read a connected, non-blocking socket in the running loop."""
        self._sock = sock
        self._loop = asyncio.get_running_loop()
        self._portions: deque[Portion] = deque()
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._due_ns: Callable[[], int] | None = None
        self.turns: Turns | None = None
        """Where set, every portion waits for its turn before it is handed on."""
        self.portion = Portion(data=b"", stamp_ns=0)
        """What was handed on last."""
        self._source: Source = OwnReading(sock, self)

    def read_by(self, source: Source) -> None:
        """Have another one empty the socket from now on; `turns` are not needed any more."""
        self._source.stop()
        self._source = source
        self.turns = None

    def limit(self, due_ns: Callable[[], int]) -> None:
        """Hand nothing on that came after the moment which this returns whenever it is asked."""
        self._due_ns = due_ns

    # The source's side

    def add(self, portion: Portion) -> None:
        """Add what a read has brought."""
        self._portions.append(portion)
        self.wake()

    def fail(self, error: Exception, at_ns: int) -> None:
        """Note that nothing more can come, and why: OSError where it is the network's doing."""
        self._error = error
        self.add(Portion(data=b"", stamp_ns=at_ns))

    # The taker's side

    async def take(self) -> bytes:
        """Return the bytes of the next read, b"" at the end, and keep its portion.

        Raises BrokenLink where the connection failed, TimeUp where nothing came in time, and what
        the source failed with.
        """
        while not self._portions:
            if self.is_due():
                await self._source.catch_up()
                if not self._portions:
                    raise TimeUp
            else:
                await self._wait()
        if self.turns is not None:
            await self.turns.wait()
        first = self._portions[0]
        if self._due_ns is not None and first.stamp_ns > self._due_ns():
            raise TimeUp
        if not first.data and self._error is not None:
            if isinstance(self._error, OSError):
                raise BrokenLink from self._error
            raise self._error
        self.portion = first
        if first.data:
            self._portions.popleft()
            self._source.taken(len(first.data) + ENTRY_COST_BYTES)
        return first.data

    def put_back(self, data: bytes) -> None:
        """Have these bytes of the last portion taken once more, with its stamp."""
        self._portions.appendleft(Portion(data=data, stamp_ns=self.portion.stamp_ns))
        self._source.taken(-len(data) - ENTRY_COST_BYTES)

    def __len__(self) -> int:
        """Return how many reads wait to be taken, with the end or a failure."""
        return len(self._portions)

    def is_due(self) -> bool:
        """Tell whether the limit has been reached."""
        return self._due_ns is not None and monotonic_ns() >= self._due_ns()

    async def wait_to_write(self) -> None:
        """Wait until the socket takes bytes again, or has brought some, or somebody wakes it."""
        self._loop.add_writer(self._sock.fileno(), self.wake)
        try:
            await self._wait()
        finally:
            self._loop.remove_writer(self._sock.fileno())

    async def _wait(self) -> None:
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def wake(self) -> None:
        """Have whoever waits look again."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def stop(self) -> None:
        """Read no more, and forget what nobody has taken."""
        self._source.stop()
        self._portions.clear()


class OwnReading:
    """Empties a socket in the event loop's own callback, before any task runs; stamps are the
    loop's: what a busy process can do.
    """

    def __init__(self, sock: socket.socket, arrivals: Arrivals) -> None:
        """Begin to read in the running loop."""
        self._sock = sock
        self._arrivals = arrivals
        self._loop = asyncio.get_running_loop()
        self._held_bytes = 0
        self._is_paused = False
        self._loop.add_reader(sock.fileno(), self._on_readable)

    def _on_readable(self) -> None:
        try:
            data = self._sock.recv(READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self.stop()
            self._arrivals.fail(error, monotonic_ns())
            return
        self._arrivals.add(Portion(data=data, stamp_ns=monotonic_ns()))
        self._held_bytes += len(data) + ENTRY_COST_BYTES
        self._is_paused = self._held_bytes > HELD_BYTES
        if self._is_paused or not data:
            self.stop()

    def taken(self, cost_bytes: int) -> None:
        """Go on reading once half of what was held is taken."""
        self._held_bytes -= cost_bytes
        if self._is_paused and self._held_bytes < HELD_BYTES // 2:
            self._is_paused = False
            self._loop.add_reader(self._sock.fileno(), self._on_readable)

    async def catch_up(self) -> None:
        """Do nothing: what has not been read has no stamp yet."""

    def stop(self) -> None:
        """Read no more."""
        self._loop.remove_reader(self._sock.fileno())
