"""The socket of one request: a network stream for httpcore2 that notes when bytes came and went.

Whoever empties the socket decides how exact a stamp is, so the read happens in the event loop's
own callback, before any task runs, and the clock is read as soon as it returns. `read` hands on
one such read at a time and `stamp_ns` is its stamp; what is parsed out of it, through TLS, chunked
coding and compression, came then. Writes are held until the first read and go out together, so
that several requests can leave at once (`Start`).
"""

import asyncio
import socket
import ssl
import struct
import sys
from collections import deque
from collections.abc import Callable
from time import monotonic_ns

from httpcore2 import AsyncNetworkStream

READ_BYTES = 65_536
HELD_BYTES = 4 * 1024 * 1024
"""Bytes that may wait to be taken before reading pauses."""


_TCP_INFO_BYTES, _RTT_AT, _RETRANSMITS_AT = 104, 68, 100
"""Where Linux's struct tcp_info holds tcpi_rtt and tcpi_total_retrans."""


_HTTP = b"HTTP/1."
"""How every answer begins."""


class BrokenLink(Exception):  # noqa: N818 - what the network did, not an error of ours
    """The connection failed; `__cause__` is the socket's or TLS' own error."""


class TimeUp(Exception):  # noqa: N818 - a limit was reached
    """A time limit ended the wait."""


class NotHttp(Exception):  # noqa: N818 - what the other side speaks
    """The first bytes that came are not HTTP/1's."""


class Turns:
    """Lets one answer be read on between two looks at the sockets.

    Ten fast answers are more work than one core has time for: then what has come waits here,
    stamped, and the sockets are still emptied in time.
    """

    def __init__(self) -> None:
        """Begin with nobody waiting."""
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._is_turning = False

    async def wait(self) -> None:
        """Wait for the next turn."""
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.append(turn)
        if not self._is_turning:
            self._is_turning = True
            loop.call_soon(self._next, loop)
        await turn

    def _next(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                break
        self._is_turning = bool(self._waiting)
        if self._is_turning:
            loop.call_soon(self._next, loop)


class Start:
    """Lets requests leave together: each waits here until all are ready, or have given up."""

    def __init__(self, parties: int) -> None:
        """Begin with how many requests are expected."""
        self.parties = parties
        self.turns = Turns() if parties > 1 else None
        self._missing = parties
        self._ready: list[Callable[[], None]] = []
        self._gone = asyncio.Event()

    async def wait(self, send: Callable[[], None]) -> None:
        """Wait for the others; `send` is called once, right after theirs."""
        self._ready.append(send)
        self.leave()
        await self._gone.wait()

    def leave(self) -> None:
        """Count one request less that is waited for; the last one lets all go."""
        self._missing -= 1
        if self._missing <= 0:
            for send in self._ready:
                send()
            self._ready.clear()
            self._gone.set()


class Wire(AsyncNetworkStream):
    """One connected socket, with TLS on it or not."""

    def __init__(self, sock: socket.socket) -> None:
        """Take over a connected, non-blocking socket; its loop is the running one."""
        self._sock = sock
        self._loop = asyncio.get_running_loop()
        self._arrived: deque[tuple[int, bytes]] = deque()
        self._arrived_bytes = 0
        self._is_first = True
        self._error: OSError | None = None
        self._is_paused = False
        self._waiter: asyncio.Future[None] | None = None
        self._time_up: tuple[int, TimeUp] | None = None
        self._tls: ssl.SSLObject | None = None
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._held = bytearray()
        self._start: Start | None = None
        self._turns: Turns | None = None
        self._on_sending: Callable[[], None] = lambda: None
        self._is_closed = False
        self.has_ended = False
        """True: the other side's end has been handed on."""
        self.stamp_ns = 0
        """When the read that was handed on last returned."""
        self.sent_ns: int | None = None
        """When the last byte of the request was handed to the kernel."""
        self.send_gap_ns = 0
        """Between the clock readings around that send."""
        self.closed_tcp: tuple[int | None, int | None] = (None, None)
        """Smoothed round-trip time, us, and retransmissions, read just before closing."""
        self.sent_rtt_us: int | None = None
        self._loop.add_reader(sock.fileno(), self._on_readable)

    # Reading

    def _on_readable(self) -> None:
        try:
            data = self._sock.recv(READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._error = error
            data = b""
        stamp = monotonic_ns()
        if data:
            self._arrived.append((stamp, data))
            self._arrived_bytes += len(data)
            if self._arrived_bytes > HELD_BYTES:
                self._is_paused = True
                self._loop.remove_reader(self._sock.fileno())
        else:
            self._arrived.append((stamp, b""))
            self._loop.remove_reader(self._sock.fileno())
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def set_time_up(self, at_ns: int, error: TimeUp | None) -> None:
        """End the wait for what comes after that moment with the error; None takes that back."""
        self._time_up = None if error is None else (at_ns, error)
        self._wake()

    async def _take(self) -> bytes:
        """Return the bytes of the next read, b"" at the end, and set its stamp."""
        while not self._arrived or self._time_up is not None:
            if self._time_up is not None and (
                not self._arrived or self._arrived[0][0] > self._time_up[0]
            ):
                raise self._time_up[1]
            if self._arrived:
                break
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        if self._turns is not None:
            await self._turns.wait()
        stamp, data = self._arrived[0]
        self.stamp_ns = stamp
        if not data:
            if self._error is not None:
                raise BrokenLink from self._error
            return b""
        self._arrived.popleft()
        self._arrived_bytes -= len(data)
        if self._is_paused and self._arrived_bytes < HELD_BYTES // 2:
            self._is_paused = False
            self._loop.add_reader(self._sock.fileno(), self._on_readable)
        return data

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """Return what the next kernel read brought, decrypted; b"" at the end."""
        if self._held:
            await self._send_held()
        data = await (self._take() if self._tls is None else self._decrypt(self._tls))
        if self._is_first:
            self._is_first = False
            if not _HTTP.startswith(data[: len(_HTTP)]):
                raise NotHttp
        self.has_ended = not data
        return data

    async def _decrypt(self, tls: ssl.SSLObject) -> bytes:
        while True:
            try:
                return tls.read(READ_BYTES)
            except ssl.SSLWantReadError:
                pass
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return b""
            except ssl.SSLError as error:
                raise BrokenLink from error
            data = await self._take()
            if data:
                self._incoming.write(data)
            else:
                self._incoming.write_eof()

    # Writing

    def hold_for(self, start: Start, on_sending: Callable[[], None]) -> None:
        """Keep what is written until the first read, and send it when `start` lets it go."""
        self._start = start
        self._turns = start.turns
        self._on_sending = on_sending

    def leave_start(self) -> None:
        """Have nobody wait for this request any more, if it has not been sent."""
        if self._start is not None:
            self._start.leave()
            self._start = None

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Hold the bytes, encrypted, until the first read."""
        if not buffer:
            return
        if self._tls is None:
            self._held += buffer
        else:
            self._tls.write(buffer)
            self._held += self._outgoing.read()

    async def _send_held(self) -> None:
        data, self._held = memoryview(bytes(self._held)), bytearray()
        left = data

        def send() -> None:
            nonlocal left
            left = self._send_some(left)

        self.sent_rtt_us, _ = tcp_state(self._sock)
        if self._start is None:
            send()
        else:
            start, self._start = self._start, None
            await start.wait(send)
        self._on_sending()
        while left and not self._arrived and self._time_up is None:
            await self._writable_or_arrival()
            send()

    def _send_some(self, data: memoryview) -> memoryview:
        """Hand bytes to the kernel until it takes no more; note the moments around the last."""
        while data:
            before = monotonic_ns()
            try:
                taken = self._sock.send(data)
            except (BlockingIOError, InterruptedError):
                return data
            except OSError:
                return data[:0]  # the answer may be there already; reading tells
            self.sent_ns = monotonic_ns()
            self.send_gap_ns = self.sent_ns - before
            data = data[taken:]
        return data

    async def _writable_or_arrival(self) -> None:
        self._waiter = self._loop.create_future()
        self._loop.add_writer(self._sock.fileno(), self._wake)
        try:
            await self._waiter
        finally:
            self._loop.remove_writer(self._sock.fileno())
            self._waiter = None

    # Setting up and closing

    async def send_now(self, data: bytes) -> None:
        """Send bytes of the setting up at once; raises BrokenLink."""
        try:
            await self._loop.sock_sendall(self._sock, data)
        except OSError as error:
            raise BrokenLink from error

    async def begin_tls(self, context: ssl.SSLContext, host: str) -> None:
        """Shake hands; raises ssl.SSLError or BrokenLink."""
        tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        while True:
            try:
                tls.do_handshake()
            except ssl.SSLWantReadError:
                await self._send_pending()
                data = await self._take()
                if data:
                    self._incoming.write(data)
                else:
                    self._incoming.write_eof()
                continue
            except ssl.SSLError:
                with_alert = self._outgoing.read()
                if with_alert:
                    await self.send_now(with_alert)
                raise
            break
        await self._send_pending()
        self._tls = tls

    async def _send_pending(self) -> None:
        if data := self._outgoing.read():
            await self.send_now(data)

    async def read_head(self, limit: int) -> bytes:
        """Return what comes up to and with the first empty line, for a proxy's answer; keeps the
        rest. Raises BrokenLink where the connection ends before, or `limit` bytes are passed.
        """
        head = bytearray()
        while b"\r\n\r\n" not in head:
            data = await self._take()
            if not data or len(head) > limit:
                raise BrokenLink
            head += data
        end = head.index(b"\r\n\r\n") + 4
        if rest := bytes(head[end:]):
            self._arrived.appendleft((self.stamp_ns, rest))
            self._arrived_bytes += len(rest)
        return bytes(head[:end])

    async def aclose(self) -> None:
        """Close the socket, noting the kernel's state of the connection first."""
        self.close()

    def close(self) -> None:
        """Close the socket, noting the kernel's state of the connection first."""
        if self._is_closed:
            return
        self._is_closed = True
        self.closed_tcp = tcp_state(self._sock)
        self._loop.remove_reader(self._sock.fileno())
        self._sock.close()
        self._arrived.clear()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> AsyncNetworkStream:
        """Return itself: TLS stands before the request is begun."""
        return self


def tcp_state(sock: socket.socket) -> tuple[int | None, int | None]:
    """Return the kernel's smoothed round-trip time, us, and the retransmissions so far; None
    where the kernel does not tell.
    """
    if sys.platform != "linux":
        return None, None
    try:
        told = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
    except OSError:
        return None, None
    if len(told) < _TCP_INFO_BYTES:
        return None, None
    (rtt_us,) = struct.unpack_from("=I", told, _RTT_AT)
    (retransmits,) = struct.unpack_from("=I", told, _RETRANSMITS_AT)
    return rtt_us, retransmits
