"""One request's connection: a network stream for httpcore2 that knows when bytes went and came.

`read` hands on one read of the socket at a time and `portion` is that read, with its stamp: what is
parsed out of it, through TLS, chunked coding and compression, came then. Writes are held until the
first read and go out together, so that several requests can leave at once.
"""

import asyncio
import socket
import ssl
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from time import monotonic_ns

from httpcore2 import AsyncNetworkStream

from probe import sending
from probe.arrivals import READ_BYTES, Arrivals, BrokenLink
from probe.channel import Channel
from probe.kernel import SO_TIMESTAMPNS
from probe.stamps import Portion
from probe.together import Start

_TCP_INFO_BYTES, _RTT_AT, _RETRANSMITS_AT = 104, 68, 100
"""Where Linux's struct tcp_info holds tcpi_rtt and tcpi_total_retrans."""

_HTTP = b"HTTP/1."
"""How every answer begins."""


class NotHttp(Exception):  # noqa: N818 - what the other side speaks
    """The first bytes that came are not HTTP/1's."""


class Wire(AsyncNetworkStream):
    """One connected socket, with TLS on it or not."""

    def __init__(self, sock: socket.socket) -> None:
        """Take over a connected, non-blocking socket; its loop is the running one."""
        self._sock = sock
        self._arrivals = Arrivals(sock)
        self._tls: ssl.SSLObject | None = None
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._held = bytearray()
        self._start: Start | None = None
        self._on_sending: Callable[[], None] = lambda: None
        self._is_first = True
        self._is_read_here = True
        self._is_closed = False
        self.has_ended = False
        """True: the other side's end has been handed on."""
        self.sent_ns: int | None = None
        """When the last byte of the request was handed to the kernel: the clock's reading before
        that send. It is the truer of the two: who is made to wait, waits after it as a rule.
        """
        self.send_gap_ns = 0
        """From there to the clock's reading after it."""
        self.sent_rtt_us: int | None = None
        """Smoothed round-trip time just before the send."""
        self.closed_tcp: tuple[int | None, int | None] = (None, None)
        """Smoothed round-trip time, us, and retransmissions, just before closing."""

    @property
    def portion(self) -> Portion:
        """The read that was handed on last."""
        return self._arrivals.portion

    @property
    def stamp_ns(self) -> int:
        """When what was handed on last came."""
        return self._arrivals.portion.stamp_ns

    def limit(self, due_ns: Callable[[], int]) -> None:
        """Hand nothing on that came after the moment which this returns whenever it is asked."""
        self._arrivals.limit(due_ns)

    def wake(self) -> None:
        """Have whoever waits look at the limit again."""
        self._arrivals.wake()

    async def read_by(self, channel: Channel) -> None:
        """Have the reader process empty the socket from now on; raises ReaderLost."""
        channel.watch(self._sock, self._arrivals)
        self._is_read_here = False
        await channel.catch_up()

    # Reading

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """Return what the next read of the socket brought, decrypted; b"" at the end."""
        if self._held:
            await self._send_held()
        if self._tls is None:
            data = await self._arrivals.take()
        else:
            data = await self._decrypt(self._tls)
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
            self._encrypted(await self._arrivals.take())

    def _encrypted(self, data: bytes) -> None:
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()

    # Writing

    def hold_for(self, start: Start, on_sending: Callable[[], None]) -> None:
        """Keep what is written until the first read, and send it when `start` lets it go."""
        self._start = start
        self._on_sending = on_sending
        if self._is_read_here:
            self._arrivals.turns = start.turns

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
        left, self._held = memoryview(self._held), bytearray()

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
        while left and not len(self._arrivals) and not self._arrivals.is_due():
            await self._arrivals.wait_to_write()
            send()

    def _send_some(self, data: memoryview) -> memoryview:
        """Hand bytes to the kernel until it takes no more; note the moments around the last."""
        while data:
            before = monotonic_ns()
            try:
                taken = sending.send(self._sock, data)
            except (BlockingIOError, InterruptedError):
                return data
            except OSError:
                return data[:0]  # the answer may be there already; reading tells
            self.sent_ns, self.send_gap_ns = before, monotonic_ns() - before
            data = data[taken:]
        return data

    # Setting up and closing

    async def send_now(self, data: bytes) -> None:
        """Send bytes of the setting up at once; raises BrokenLink."""
        try:
            await asyncio.get_running_loop().sock_sendall(self._sock, data)
        except OSError as error:
            raise BrokenLink from error

    async def read_head(self, limit: int) -> bytes:
        """Return what comes up to and with the first empty line, for a proxy's answer.

        What came after it is kept. Raises BrokenLink where the connection ends before, or `limit`
        bytes are passed.
        """
        head = bytearray()
        while b"\r\n\r\n" not in head:
            data = await self._arrivals.take()
            if not data or len(head) > limit:
                raise BrokenLink
            head += data
        end = head.index(b"\r\n\r\n") + 4
        if rest := bytes(head[end:]):
            self._arrivals.put_back(rest)
        return bytes(head[:end])

    async def begin_tls(self, context: ssl.SSLContext, host: str) -> None:
        """Shake hands; raises ssl.SSLError or BrokenLink."""
        tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        while True:
            try:
                tls.do_handshake()
            except ssl.SSLWantReadError:
                await self._send_outgoing()
                self._encrypted(await self._arrivals.take())
                continue
            except ssl.SSLError:
                with suppress(BrokenLink):
                    await self._send_outgoing()  # the alert
                raise
            break
        await self._send_outgoing()
        self._tls = tls

    async def _send_outgoing(self) -> None:
        if data := self._outgoing.read():
            await self.send_now(data)

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> AsyncNetworkStream:
        """Return itself: TLS stands before the request is begun."""
        return self

    async def aclose(self) -> None:
        """Close the socket, noting the kernel's state of the connection first."""
        self.close()

    def close(self) -> None:
        """Close the socket, noting the kernel's state of the connection first."""
        if not self._is_closed:
            self._is_closed = True
            self.closed_tcp = tcp_state(self._sock)
            self._arrivals.stop()
            with suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)  # the reader holds it too
            self._sock.close()


def stamp_arrivals(sock: socket.socket) -> None:
    """Have the kernel note when packets come, where it can."""
    if sys.platform == "linux":
        with suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)


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
