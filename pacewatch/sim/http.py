"""The little of HTTP/1.1 that the simulator needs: requests in, whole answers and streams out."""

import asyncio
import logging
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qsl, unquote, urlsplit

from pacewatch.sim.door import HOST

MAX_HEAD_BYTES = 32 * 1024
MAX_BODY_BYTES = 4 * 1024 * 1024
"""A prompt of 100,000 tokens is about half a megabyte."""
MAX_CONNECTIONS = 600
"""Of all listeners together: the loop can wait for 1,024 descriptors."""
_BACKLOG = 100
IDLE_S = 75.0
"""A connection that asks nothing for this long is closed, seconds."""

logger = logging.getLogger(__name__)

_DISCARDED_BYTES = 64 * MAX_BODY_BYTES
_JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, read whole."""

    method: str
    path: str
    """Decoded, without the query."""
    query: Mapping[str, str]
    """Of a repeated name the last."""
    headers: Mapping[str, str]
    """Names in small letters; of a repeated one the last."""
    body: bytes
    received_s: float
    """When its last byte was here, on the loop's clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BadRequest:
    """A request that cannot be read; the connection ends with it."""

    status: int
    message: str


class Reply:
    """The answer to one request, on its connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer on the connection."""
        self._reader = reader
        self._writer = writer

    @property
    def connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return both halves of the connection."""
        return self._reader, self._writer

    async def whole(
        self, status: int, body: bytes, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send a whole answer; JSON unless a header says otherwise."""
        told = {"content-type": _JSON, "content-length": str(len(body)), **(headers or {})}
        self._writer.write(_head(status, told) + body)
        await self._writer.drain()

    async def start(self, headers: Mapping[str, str]) -> None:
        """Send the head of a stream."""
        told = {
            "content-type": "text/event-stream; charset=utf-8",
            "cache-control": "no-cache",
            "transfer-encoding": "chunked",
            **headers,
        }
        self._writer.write(_head(200, told))
        await self._writer.drain()

    async def send(self, piece: bytes) -> None:
        """Send a piece of a stream at once; raises ConnectionError where nobody is there."""
        self._writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        await self._writer.drain()

    async def end(self, piece: bytes) -> None:
        """Send the last piece of a stream and its end."""
        self._writer.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(piece), piece))
        await self._writer.drain()

    async def raw(self, data: bytes) -> None:
        """Send bytes as they are; raises ConnectionError where nobody is there."""
        self._writer.write(data)
        await self._writer.drain()

    def cut(self) -> None:
        """Break the connection off."""
        self._writer.transport.abort()

    def reset(self) -> None:
        """Break the connection off in a way that the other side sees as a reset."""
        at_once = struct.pack("ii", 1, 0)
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        self._writer.transport.abort()

    def is_gone(self) -> bool:
        """Tell whether the other side closed, or the connection is lost."""
        return self._writer.transport.is_closing() or self._reader.at_eof()


Answer = Callable[[Request, Reply], Awaitable[None]]
"""Answers one request; raises ConnectionError where the connection broke."""


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Unknown"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{n}: {v}" for n, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


class Listener:
    """One address; every request on it goes to `answer`."""

    def __init__(self, answer: Answer, *, most: int = MAX_CONNECTIONS) -> None:
        """Listen later, see `open`; connections beyond `most` are broken off."""
        self._answer = answer
        self._most = most
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def open(self, port: int, tls: ssl.SSLContext | None = None) -> str:
        """Listen on loopback (0: any free port) and return the URL; raises OSError."""
        self._server = await asyncio.start_server(
            self._serve, HOST, port, limit=MAX_HEAD_BYTES, backlog=_BACKLOG, ssl=tls
        )
        taken = self._server.sockets[0].getsockname()[1]
        return f"http://{HOST}:{taken}" if tls is None else f"https://localhost:{taken}"

    async def close(self) -> None:
        """Stop listening and break off what is open."""
        if self._server is not None:
            self._server.close()
        for task in tuple(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._open) >= self._most:
            writer.transport.abort()
            return
        self._open.add(task)
        try:
            await self._converse(reader, writer)
        except (ConnectionError, TimeoutError, asyncio.CancelledError):
            return
        except Exception:
            logger.exception("simulator.request_failed")
        finally:
            self._open.discard(task)
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            request = await read_request(reader)
            if request is None:
                return
            if isinstance(request, BadRequest):
                message = b'{"error":{"message":"%b"}}' % request.message.encode()
                await Reply(reader, writer).whole(request.status, message, {"connection": "close"})
                await _discard(reader, writer)
                return
            await self._answer(request, Reply(reader, writer))
            if request.headers.get("connection", "").lower() == "close":
                return


async def _discard(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read away what still comes, so that the other side sees the answer and no reset."""
    writer.write_eof()
    for _ in range(_DISCARDED_BYTES // MAX_HEAD_BYTES):
        if not await asyncio.wait_for(reader.read(MAX_HEAD_BYTES), IDLE_S):
            return


async def read_request(reader: asyncio.StreamReader) -> Request | BadRequest | None:
    """Return the next request; None where the other side closed."""
    try:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), IDLE_S)
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError:
        return BadRequest(status=431, message=f"over {MAX_HEAD_BYTES} bytes of headers")
    line, _, rest = head.decode("latin-1").partition("\r\n")
    words = line.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        return BadRequest(status=400, message="this is no HTTP/1.1 request")
    headers = _headers(rest)
    length = _length(headers)
    if isinstance(length, BadRequest):
        return length
    try:
        body = await asyncio.wait_for(reader.readexactly(length), IDLE_S)
    except asyncio.IncompleteReadError:
        return None
    target = urlsplit(words[1])
    return Request(
        method=words[0],
        path=unquote(target.path),
        query=dict(parse_qsl(target.query, keep_blank_values=True)),
        headers=headers,
        body=body,
        received_s=asyncio.get_running_loop().time(),
    )


def _headers(text: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in text.split("\r\n") if line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _length(headers: Mapping[str, str]) -> int | BadRequest:
    if "transfer-encoding" in headers:
        return BadRequest(status=411, message="a body needs a content-length")
    told = headers.get("content-length", "0")
    if not told.isascii() or not told.isdigit():
        return BadRequest(status=400, message="content-length is no number")
    if len(told) > 10 or int(told) > MAX_BODY_BYTES:
        return BadRequest(status=413, message=f"over {MAX_BODY_BYTES} bytes of body")
    return int(told)
