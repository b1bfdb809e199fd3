"""Event-stream framing of AWS: binary messages, each with two checksums; bytes in any portions.

A message is its length, the length of its headers and a checksum over both; then headers, payload
and a checksum over all. Where one of them fails, neither it nor what follows can be trusted; the
messages before it stay good.
"""

import struct
import zlib
from collections.abc import Iterator, Mapping

from probe.protocols.interface import Frame, MalformedAnswer

MAX_MESSAGE_BYTES = 1024 * 1024
"""Of one message, headers and checksums included."""

MAX_HEADERS_BYTES = 128 * 1024

MAX_PLAIN_BYTES = 64 * 1024
"""Of a body that is no stream of messages, kept to see whether it tells an error."""

_NO_STREAM = frozenset(b"{[< \t\r\n\xef")
"""First bytes of JSON, of HTML and of the white space before them; no message within the bound
begins with one.
"""

_PRELUDE = struct.Struct(">III")
_CHECKSUM = struct.Struct(">I")
_LEAST_BYTES = _PRELUDE.size + _CHECKSUM.size

_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of a header's value by its type, where that decides them."""

_STRING, _LAST_KIND = 7, 9
"""Strings and byte arrays (6) tell their own size."""

_SIZE = struct.Struct(">H")

_FAULTS = {"exception": ":exception-type", "error": ":error-code"}
"""Kinds of messages that are errors, and the headers that name them."""


class Frames:
    """The framing of one answer."""

    def __init__(self) -> None:
        """Begin before the first byte."""
        self._rest = bytearray()
        self._plain: bytearray | None = None
        self._has_begun = False

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the messages that these bytes complete; raises MalformedAnswer at the first that
        is spoilt.
        """
        if not self._has_begun and data:
            self._has_begun = True
            self._plain = bytearray() if data[0] in _NO_STREAM else None
        if self._plain is not None:
            self._plain += data[: MAX_PLAIN_BYTES - len(self._plain)]
            return
        self._rest += data
        while (size := self._size()) is not None and len(self._rest) >= size:
            message = bytes(self._rest[:size])
            del self._rest[:size]
            yield _read(message)

    def finish(self) -> list[Frame]:
        """Return nothing: a message that the end of the body tore is none."""
        return []

    def plain(self) -> bytes | None:
        """Return the start of the body where it is no stream of messages; None where it is one, or
        nothing came.
        """
        return None if self._plain is None else bytes(self._plain)

    def _size(self) -> int | None:
        """Return the size of the next message, once its prelude has come."""
        if len(self._rest) < _PRELUDE.size:
            return None
        size, headers, checksum = _PRELUDE.unpack_from(self._rest)
        if zlib.crc32(self._rest[: _PRELUDE.size - _CHECKSUM.size]) != checksum:
            raise MalformedAnswer("bad_checksum")
        if size > MAX_MESSAGE_BYTES or headers > MAX_HEADERS_BYTES:
            raise MalformedAnswer("message_too_long")
        if size < _LEAST_BYTES + headers:
            raise MalformedAnswer("bad_message")
        return int(size)


def _read(message: bytes) -> Frame:
    """Return a whole message as a frame; raises MalformedAnswer."""
    body = memoryview(message)[: -_CHECKSUM.size]
    if zlib.crc32(body) != _CHECKSUM.unpack_from(message, len(body))[0]:
        raise MalformedAnswer("bad_checksum")
    _, size, _ = _PRELUDE.unpack_from(message)
    payload_at = _PRELUDE.size + size
    headers = _headers(message[_PRELUDE.size : payload_at])
    data = message[payload_at : -_CHECKSUM.size].decode("utf-8", "replace")
    for kind, header in _FAULTS.items():
        if headers.get(":message-type") == kind or header in headers:
            return Frame(name=headers.get(header, ""), data=data, is_fault=True)
    return Frame(name=headers.get(":event-type", ""), data=data)


def _headers(block: bytes) -> Mapping[str, str]:
    """Return the headers whose values are strings; raises MalformedAnswer where the block is not
    made of whole headers.
    """
    headers: dict[str, str] = {}
    at = 0
    try:
        while at < len(block):
            name_at, at = at + 1, at + 1 + block[at]
            name, kind, at = block[name_at:at], block[at], at + 1
            if (size := _SIZES.get(kind)) is None:
                (size,), at = _SIZE.unpack_from(block, at), at + _SIZE.size
            value, at = block[at : at + size], at + size
            if kind == _STRING:
                headers[name.decode("utf-8", "replace")] = value.decode("utf-8", "replace")
            elif kind > _LAST_KIND:
                raise MalformedAnswer("bad_headers")
    except (IndexError, struct.error):
        raise MalformedAnswer("bad_headers") from None
    if at != len(block):
        raise MalformedAnswer("bad_headers")
    return headers
