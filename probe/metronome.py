"""The metronome process: a loopback server that streams on a known schedule, and logs each send.

What it logs is the truth that a host's arrival times are compared with: its own lateness is in it.
It speaks just enough of `openai-chat` to be measured like any provider, in clear and over TLS. It
is started as a process of its own and says its ports in a line. To each byte of its standard input
it answers with a line, the log of the answers that have ended since; when that ends, it ends.
"""

import heapq
import json
import os
import select
import socket
import ssl
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic_ns, time_ns
from typing import Any

from probe.kernel import SO_TIMESTAMPNS, STAMP

FIRST_NS = 100_000_000
"""From the request to its first token."""

MOST_BYTES = 1024 * 1024
"""Of a request."""

_READ_BYTES = 65_536
_SEND_LIMIT_S = 10.0
_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    b"transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
)


@dataclass(slots=True, kw_only=True)
class Guest:
    """One connection, and its request and answer once it has come."""

    sock: socket.socket
    tls: ssl.SSLObject | None
    incoming: ssl.MemoryBIO = field(default_factory=ssl.MemoryBIO)
    outgoing: ssl.MemoryBIO = field(default_factory=ssl.MemoryBIO)
    is_ready: bool = False
    """True once the handshake is over, or where there is none."""
    came: bytearray = field(default_factory=bytearray)
    stamp_ns: int = 0
    """When the last packet of the request reached this host."""
    id: str = ""
    tokens: int = 0
    every_ns: float = 0.0
    sends_ns: list[int] = field(default_factory=list)

    def due_ns(self) -> int:
        """Return when the next token is due."""
        return self.stamp_ns + FIRST_NS + round(len(self.sends_ns) * self.every_ns)

    def send(self, data: bytes) -> int:
        """Send the bytes; return the clock's reading just before."""
        if self.tls is not None:
            self.tls.write(data)
            data = self.outgoing.read()
        before_ns = monotonic_ns()
        self.sock.sendall(data)
        return before_ns


class Metronome:
    """Both listeners, all connections, and the one loop over them."""

    def __init__(self, listeners: dict[socket.socket, ssl.SSLContext | None]) -> None:
        """Serve whoever comes to them."""
        self._listeners = listeners
        self._guests: dict[socket.socket, Guest] = {}
        self._due: list[tuple[int, int, Guest]] = []
        self._plans = 0
        self._log: list[dict[str, Any]] = []

    def run(self) -> None:
        """Serve until the standard input ends."""
        while True:
            wait_s = None
            if self._due:
                wait_s = max(0.0, (self._due[0][0] - monotonic_ns()) / 1e9)
            readable, _, _ = select.select(
                [sys.stdin.fileno(), *self._listeners, *self._guests], [], [], wait_s
            )
            for one in readable:
                if isinstance(one, int):
                    if not os.read(one, 1):
                        return
                    say(self._log)
                    self._log.clear()
                elif one in self._listeners:
                    self._let_in(one)
                else:
                    self._hear(self._guests[one])
            while self._due and self._due[0][0] <= monotonic_ns():
                self._beat(heapq.heappop(self._due)[2])

    def _let_in(self, listener: socket.socket) -> None:
        sock, _ = listener.accept()
        sock.settimeout(_SEND_LIMIT_S)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stamp_arrivals(sock)
        context = self._listeners[listener]
        guest = Guest(sock=sock, tls=None, is_ready=context is None)
        if context is not None:
            guest.tls = context.wrap_bio(guest.incoming, guest.outgoing, server_side=True)
        self._guests[sock] = guest

    def _hear(self, guest: Guest) -> None:
        try:
            data, stamp_ns = receive(guest.sock)
            if data and not guest.tokens:
                guest.stamp_ns = stamp_ns
                self._take(guest, data)
                return
        except (OSError, ssl.SSLError, ValueError, KeyError):
            pass
        if not guest.tokens:
            self._let_go(guest)  # else its answer ends it

    def _take(self, guest: Guest, data: bytes) -> None:
        if guest.tls is None:
            guest.came += data
        else:
            guest.incoming.write(data)
            with suppress(ssl.SSLWantReadError):
                if not guest.is_ready:
                    guest.tls.do_handshake()
                    guest.is_ready = True
                while True:
                    guest.came += guest.tls.read(_READ_BYTES)
            if told := guest.outgoing.read():
                guest.sock.sendall(told)
        if len(guest.came) > MOST_BYTES:
            raise ValueError("the request is too long")
        if (asked := read_request(bytes(guest.came))) is not None:
            guest.id, tokens_per_s, guest.tokens = asked
            guest.every_ns = 1e9 / tokens_per_s
            guest.send(_HEAD)
            self._plan(guest)

    def _plan(self, guest: Guest) -> None:
        self._plans += 1
        heapq.heappush(self._due, (guest.due_ns(), self._plans, guest))

    def _beat(self, guest: Guest) -> None:
        """Send the next token, or the end."""
        with suppress(OSError, ssl.SSLError):
            if len(guest.sends_ns) < guest.tokens:
                guest.sends_ns.append(guest.send(framed(f" w{len(guest.sends_ns)}")))
                self._plan(guest)
                return
            self._log.append(
                {"id": guest.id, "asked_ns": guest.stamp_ns, "sends_ns": guest.sends_ns}
            )
            guest.send(framed(None) + chunked(b"data: [DONE]\n\n") + b"0\r\n\r\n")
        self._let_go(guest)

    def _let_go(self, guest: Guest) -> None:
        del self._guests[guest.sock]
        guest.sock.close()


def stamp_arrivals(sock: socket.socket) -> None:
    """Have the kernel note when packets come, where it can."""
    if sys.platform == "linux":
        sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)


def receive(sock: socket.socket) -> tuple[bytes, int]:
    """Return what one read brings, and when it came, monotonic clock."""
    if sys.platform != "linux":
        return sock.recv(_READ_BYTES), monotonic_ns()
    data, ancillary, _, _ = sock.recvmsg(_READ_BYTES, socket.CMSG_SPACE(STAMP.size))
    offset_ns = wall_less_monotonic()
    for level, kind, told in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
            seconds, ns = STAMP.unpack(told)
            return data, seconds * 1_000_000_000 + ns - offset_ns
    return data, monotonic_ns()


def wall_less_monotonic() -> int:
    """Return how far the wall clock is ahead of the monotonic one, ns: the tightest of three
    readings, since this process may be made to wait in the middle of one.
    """
    readings = [(monotonic_ns(), time_ns(), monotonic_ns()) for _ in range(3)]
    before_ns, wall_ns, after_ns = min(readings, key=lambda one: one[2] - one[0])
    return wall_ns - (before_ns + after_ns) // 2


def read_request(came: bytes) -> tuple[str, float, int] | None:
    """Return a whole request's id, tokens/s and tokens; None for one that is not whole.

    The model's name says them: `beat-80-40` are 40 tokens at 80 tokens/s. Raises ValueError or
    KeyError for what is no such request.
    """
    head, end, body = came.partition(b"\r\n\r\n")
    if not end:
        return None
    told = {
        name.strip().lower(): value.strip()
        for name, _, value in (
            line.partition(":") for line in head.decode("latin-1").split("\r\n")[1:]
        )
    }
    if len(body) < int(told["content-length"]):
        return None
    _, tokens_per_s, tokens = json.loads(body)["model"].split("-")
    return told["x-request-id"], float(tokens_per_s), int(tokens)


def framed(text: str | None) -> bytes:
    """Return the event of a text, or that of the end, as a chunk of the body."""
    choice = {
        "index": 0,
        "delta": {} if text is None else {"content": text},
        "finish_reason": "stop" if text is None else None,
    }
    event = {"id": "beat", "object": "chat.completion.chunk", "created": 0, "choices": [choice]}
    return chunked(b"data: " + json.dumps(event).encode() + b"\n\n")


def chunked(data: bytes) -> bytes:
    """Return the bytes as a chunk of the body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def say(told: list[Any]) -> None:
    """Write one line of JSON."""
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Serve in clear and, where a certificate and a key are named, over TLS."""
    listeners: dict[socket.socket, ssl.SSLContext | None] = {}
    contexts: list[ssl.SSLContext | None] = [None]
    if len(sys.argv) > 2:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        contexts.append(context)
    for one in contexts:
        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        stamp_arrivals(listener)  # from the start: the kernel begins to stamp some time after
        listeners[listener] = one
    say([sock.getsockname()[1] for sock in listeners])
    Metronome(listeners).run()
