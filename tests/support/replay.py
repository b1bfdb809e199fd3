"""Plays scripted answers over real sockets, and notes when each piece went out.

A case is one JSON file: what a server answers (`response`) and what a probe must make of it
(`expect`). In a response: `status`, `reason`, `headers` (a value "@http-date+30" is the HTTP date
30 s from now), `http` "1.1" or "1.0", `framing` "chunked", "length" or "close", `headers_after_ms`,
`script` and `end` ("close": body ended, then closed; "keep-alive"; "cut": closed without the body's
end; "reset"; "hang": never another byte) with `end_after_ms`. An item of the script is sent at
`after_ms` in one write, times counting from the whole request; with `cut_at` the bytes from there
on go at `rest_after_ms`. With content-encoding gzip every item is compressed and, unless its
`flush` is false, flushed. What an item sends is text (`send`), base64 (`bytes`), or one or several
binary messages of AWS (`event`, `events`): headers by their names, which begin with a colon, and a
`payload`; `corrupt` spoils the last checksum.
"""

import base64
import json
import socket
import ssl
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from typing import Any

from support.listening import listening

GOLDEN = Path(__file__).parents[1] / "golden" / "protocols"


def cases_of(protocol: str) -> list[dict[str, Any]]:
    """The cases of a protocol, by id."""
    return [json.loads(file.read_text("utf-8")) for file in sorted((GOLDEN / protocol).glob("*"))]


def body_of(case: dict[str, Any]) -> bytes:
    """All bytes of a case's answer, before any compression."""
    return b"".join(_item(item) for item in case["response"].get("script", []))


@dataclass(slots=True)
class Asked:
    """One request as it came, and what happened to it."""

    line: str
    headers: dict[str, str]
    body: bytes
    got_ns: int
    sends: list[tuple[float, int]] = field(default_factory=list)
    """What was planned, ms, and when it was done, ns of the monotonic clock."""

    def lateness_ms(self) -> float:
        """The most that a piece went out later than planned."""
        return max(
            ((done - self.got_ns) / 1e6 - planned for planned, done in self.sends), default=0.0
        )


Player = Callable[[socket.socket, Asked], bool]
"""Answers one request; true where the connection may carry another."""


@dataclass(slots=True)
class Replay:
    """A served player."""

    port: int
    asked: list[Asked]
    scheme: str = "http"
    accepted_ns: list[int] = field(default_factory=list)
    """When each connection was there."""

    @property
    def url(self) -> str:
        """Its address."""
        return f"{self.scheme}://localhost:{self.port}"


@contextmanager
def replay(case: dict[str, Any] | Player, *, tls: ssl.SSLContext | None = None) -> Iterator[Replay]:
    """Serve one case, or a player of the test's own, to whoever comes."""
    player: Player = (
        case if callable(case) else lambda sock, asked: _play(case["response"], sock, asked)
    )
    served = Replay(port=0, asked=[], scheme="https" if tls else "http")

    def serve(sock: socket.socket, accepted_ns: int) -> None:
        served.accepted_ns.append(accepted_ns)
        _serve(sock, player, served, tls)

    with listening(serve) as served.port:
        yield served


def _serve(sock: socket.socket, player: Player, served: Replay, tls: ssl.SSLContext | None) -> None:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.settimeout(20)
    with suppress(OSError, ValueError):
        if tls is not None:
            sock = tls.wrap_socket(sock, server_side=True)
        while (asked := read_request(sock)) is not None:
            served.asked.append(asked)
            if not player(sock, asked):
                break
    with suppress(OSError):
        sock.close()


def read_request(sock: socket.socket) -> Asked | None:
    """The next request of a connection; None where it has ended."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = sock.recv(65_536)
        if not more:
            return None
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(":") for line in rest)
    }
    while len(body) < int(headers.get("content-length", 0)):
        body += sock.recv(65_536)
    return Asked(line=first, headers=headers, body=body, got_ns=time.monotonic_ns())


def _play(response: dict[str, Any], sock: socket.socket, asked: Asked) -> bool:
    def at(ms: float, data: bytes) -> None:
        time.sleep(max(0.0, ms / 1000 - (time.monotonic_ns() - asked.got_ns) / 1e9))
        if data:
            sock.sendall(data)
        asked.sends.append((ms, time.monotonic_ns()))

    http = response.get("http", "1.1")
    framing = response.get("framing", "chunked" if http == "1.1" else "close")
    end = response.get("end", "close")
    pieces, tail = _pieces(response)

    def framed(data: bytes) -> bytes:
        return b"%x\r\n%b\r\n" % (len(data), data) if data and framing == "chunked" else data

    at(
        response.get("headers_after_ms", 0),
        _head(response, http, framing, sum(len(data) for _, data in pieces) + len(tail)),
    )
    for ms, data in pieces:
        at(ms, framed(data))
    at(response.get("end_after_ms", 0), b"")
    if end == "hang":
        while sock.recv(65_536):
            pass
        return False
    if end == "reset":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False
    if end != "cut":
        sock.sendall(framed(tail) + (b"0\r\n\r\n" if framing == "chunked" else b""))
    return end == "keep-alive" and framing != "close"


def _head(response: dict[str, Any], http: str, framing: str, size: int) -> bytes:
    headers = {
        name: formatdate(time.time() + int(value[11:]), usegmt=True)
        if value.startswith("@http-date+")
        else value
        for name, value in response.get("headers", {}).items()
    }
    if framing == "chunked":
        headers["transfer-encoding"] = "chunked"
    elif framing == "length":
        headers["content-length"] = str(size)
    lines = [f"HTTP/{http} {response.get('status', 200)} {response.get('reason', 'Scripted')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _item(item: dict[str, Any]) -> bytes:
    if "send" in item:
        return item["send"].encode()
    if "bytes" in item:
        return base64.b64decode(item["bytes"])
    messages = [message(one) for one in item.get("events", [item.get("event")])]
    if item.get("corrupt"):
        messages[-1] = messages[-1][:-1] + bytes([messages[-1][-1] ^ 1])
    return b"".join(messages)


def message(told: dict[str, Any]) -> bytes:
    """One binary message: string headers, and a JSON payload where it has one.

    Its kind follows from its headers: `:exception-type`, `:error-code`, else an event.
    """
    kind = {":exception-type": "exception", ":error-code": "error"}
    headers = {":message-type": next((kind[name] for name in kind if name in told), "event")}
    headers |= {name: text for name, text in told.items() if name.startswith(":")}
    payload = b""
    if "payload" in told:
        headers.setdefault(":content-type", "application/json")
        payload = json.dumps(told["payload"], ensure_ascii=False).encode()
    return sealed(b"".join(string_header(*one) for one in headers.items()), payload)


def string_header(name: str, text: str) -> bytes:
    """One header whose value is a string."""
    value = text.encode()
    return bytes([len(name)]) + name.encode() + b"\x07" + len(value).to_bytes(2) + value


def sealed(headers: bytes, payload: bytes) -> bytes:
    """Headers and payload as a message with its lengths and checksums."""
    prelude = (16 + len(headers) + len(payload)).to_bytes(4) + len(headers).to_bytes(4)
    whole = prelude + zlib.crc32(prelude).to_bytes(4) + headers + payload
    return whole + zlib.crc32(whole).to_bytes(4)


def _pieces(response: dict[str, Any]) -> tuple[list[tuple[float, bytes]], bytes]:
    """What is sent when, and what the compression still holds at the end."""
    is_packed = response.get("headers", {}).get("content-encoding") == "gzip"
    packer = zlib.compressobj(6, zlib.DEFLATED, zlib.MAX_WBITS | 16) if is_packed else None
    pieces: list[tuple[float, bytes]] = []
    for item in response.get("script", []):
        data = _item(item)
        if packer is not None:
            data = packer.compress(data)
            if item.get("flush", True):
                data += packer.flush(zlib.Z_SYNC_FLUSH)
        if "cut_at" in item:
            pieces.append((item["after_ms"], data[: item["cut_at"]]))
            pieces.append((item["rest_after_ms"], data[item["cut_at"] :]))
        else:
            pieces.append((item["after_ms"], data))
    return pieces, packer.flush() if packer is not None else b""
