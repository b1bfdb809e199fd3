"""Empties one socket, and notes when: each read of the kernel's buffer with its stamp, in order.

Whoever empties the socket decides how exact a stamp is, so the read happens in the event loop's
own callback, before any task runs, and the clock is read as soon as it returns.
"""

import asyncio
import socket
from collections import deque
from time import monotonic_ns

from probe.together import Turns

READ_BYTES = 65_536
HELD_BYTES = 4 * 1024 * 1024
"""Bytes that may wait to be taken before reading pauses."""


class BrokenLink(Exception):  # noqa: N818 - what the network did, not an error of ours
    """The connection failed; `__cause__` is the socket's or TLS' own error."""


class TimeUp(Exception):  # noqa: N818 - a limit was reached
    """A time limit ended the wait."""


class Arrivals:
    """What one socket has brought, in portions as they were read."""

    def __init__(self, sock: socket.socket) -> None:
        """Begin to read a connected, non-blocking socket in the running loop."""
        self._sock = sock
        self._loop = asyncio.get_running_loop()
        self._portions: deque[tuple[int, bytes]] = deque()
        self._held_bytes = 0
        self._is_paused = False
        self._error: OSError | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._time_up: tuple[int, TimeUp] | None = None
        self.turns: Turns | None = None
        """Where set, every portion waits for its turn before it is handed on."""
        self.stamp_ns = 0
        """When the read that was handed on last returned."""
        self._loop.add_reader(sock.fileno(), self._on_readable)

    def _on_readable(self) -> None:
        try:
            data = self._sock.recv(READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._error = error
            data = b""
        self._portions.append((monotonic_ns(), data))
        self._held_bytes += len(data)
        self._is_paused = self._held_bytes > HELD_BYTES
        if self._is_paused or not data:
            self._loop.remove_reader(self._sock.fileno())
        self._wake()

    async def take(self) -> bytes:
        """Return the bytes of the next read, b"" at the end, and set its stamp.

        Raises BrokenLink where the connection failed, TimeUp where nothing came in time.
        """
        while not self._has_some_in_time():
            if self._time_up is not None:
                raise self._time_up[1]
            await self._wait()
        if self.turns is not None:
            await self.turns.wait()
        self.stamp_ns, data = self._portions[0]
        if not data:
            if self._error is not None:
                raise BrokenLink from self._error
            return b""
        self._portions.popleft()
        self._held_bytes -= len(data)
        if self._is_paused and self._held_bytes < HELD_BYTES // 2:
            self._is_paused = False
            self._loop.add_reader(self._sock.fileno(), self._on_readable)
        return data

    def put_back(self, data: bytes) -> None:
        """Have these bytes of the last portion taken once more, with its stamp."""
        self._portions.appendleft((self.stamp_ns, data))
        self._held_bytes += len(data)

    def has_some(self) -> bool:
        """Tell whether anything waits to be taken: bytes, the end, or a failure."""
        return bool(self._portions)

    def _has_some_in_time(self) -> bool:
        if not self._portions:
            return False
        return self._time_up is None or self._portions[0][0] <= self._time_up[0]

    def set_time_up(self, at_ns: int, error: TimeUp | None) -> None:
        """End the wait for what comes after that moment with the error; None takes that back."""
        self._time_up = None if error is None else (at_ns, error)
        self._wake()

    def is_time_up(self) -> bool:
        """Tell whether a limit has ended the wait."""
        return self._time_up is not None

    async def wait_to_write(self) -> None:
        """Wait until the socket takes bytes again, or has brought some, or a limit is reached."""
        self._loop.add_writer(self._sock.fileno(), self._wake)
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

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def stop(self) -> None:
        """Read no more, and forget what nobody has taken."""
        self._loop.remove_reader(self._sock.fileno())
        self._portions.clear()
