"""Framing of Amazon's binary event streams: lengths, headers and checksums around each message."""

import struct
import zlib

from pacewatch.sim.sse import Template, to_json

_TEXT = 7
"""The type of a header whose value is text."""
_AROUND = 16
"""Bytes of a message beside headers and payload: two lengths, two checksums."""
_HUGE_BYTES = 300_000_000


def message(headers: dict[str, str], payload: bytes) -> bytes:
    """Return one message with the headers and the payload."""
    return _framed(_packed(headers), payload)


def event_message(kind: str, payload: bytes) -> bytes:
    """Return a message that is an event of that kind, with JSON."""
    return message(_event_headers(kind), payload)


def exception_message(kind: str, payload: bytes) -> bytes:
    """Return a message that is an exception of that kind, with JSON."""
    headers = {
        ":exception-type": kind,
        ":content-type": "application/json",
        ":message-type": "exception",
    }
    return message(headers, payload)


class EventTemplate:
    """An event that is sent again and again with other values."""

    __slots__ = ("_headers", "_payload")

    def __init__(self, kind: str, payload: bytes) -> None:
        """Take the kind of the event, and its payload with holes."""
        self._headers = _packed(_event_headers(kind))
        self._payload = Template(payload)

    def fill(self, *values: str | int) -> bytes:
        """Return the message with the values in its holes."""
        return _framed(self._headers, self._payload.fill(*values))


def _event_headers(kind: str) -> dict[str, str]:
    return {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}


def _packed(headers: dict[str, str]) -> bytes:
    packed = b""
    for name, value in headers.items():
        told, said = name.encode(), value.encode()
        packed += struct.pack(f"!B{len(told)}sBH", len(told), told, _TEXT, len(said)) + said
    return packed


def _framed(headers: bytes, payload: bytes) -> bytes:
    lengths = struct.pack("!II", _AROUND + len(headers) + len(payload), len(headers))
    body = lengths + struct.pack("!I", zlib.crc32(lengths)) + headers + payload
    return body + struct.pack("!I", zlib.crc32(body))


class MessageFraming:
    """What goes over the wire beside an answer, where that is binary messages."""

    def nothing(self, padding: int) -> bytes:
        """Return a delta without text, with that many bytes of padding."""
        told = {"contentBlockIndex": 0, "delta": {"text": ""}, "p": "." * padding}
        return event_message("contentBlockDelta", to_json(told))

    def unending(self) -> bytes:
        """Return how a message begins that says of itself that it is huge."""
        lengths = struct.pack("!II", _HUGE_BYTES, 0)
        return lengths + struct.pack("!I", zlib.crc32(lengths))

    def garbage(self) -> bytes:
        """Return a message whose checksum is wrong."""
        sound = event_message("contentBlockStop", b"{}")
        return sound[:-1] + bytes([sound[-1] ^ 1])
