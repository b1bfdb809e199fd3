"""Framing of server-sent event streams."""

import json
import re
from typing import Any

_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


def to_json(value: Any) -> bytes:
    """Return compact JSON, as providers send it."""
    return _ENCODER.encode(value).encode(errors="replace")  # half a surrogate that was asked with


def data_event(value: Any) -> bytes:
    """Return an event that has data alone."""
    return b"data: " + to_json(value) + b"\n\n"


def named_event(value: dict[str, Any]) -> bytes:
    """Return an event whose name is its data's type."""
    name = str(value["type"])
    return b"event: " + name.encode() + b"\ndata: " + to_json(value) + b"\n\n"


HOLE = "\x00"
"""Where a template's text goes."""

_HOLES = re.compile(rb'"\\u0000(\d?)"')


def hole(number: int) -> str:
    """Return where a template's value of that number goes; that of 0 is HOLE."""
    return f"{HOLE}{number or ''}"


class Template:
    """An event that is sent again and again with other values: encoded once, filled each time."""

    __slots__ = ("_after", "_before")

    def __init__(self, event: bytes) -> None:
        """Take the event with holes as its values; a hole may stand in several places."""
        self._before, *rest = _HOLES.split(event)
        numbers = (int(number or 0) for number in rest[::2])
        self._after = tuple(zip(numbers, rest[1::2], strict=True))

    def fill(self, *values: str | int) -> bytes:
        """Return the event with the values in its holes."""
        said = [to_json(value) for value in values]
        return self._before + b"".join(said[number] + after for number, after in self._after)


def comment(text: str) -> bytes:
    """Return a comment line, which keeps a connection alive and says nothing."""
    return f": {text}\n\n".encode()


class EventFraming:
    """What goes over the wire beside an answer, where that is server-sent events."""

    def nothing(self, padding: int) -> bytes:
        """Return a comment line with that many bytes of padding."""
        return comment("keep-alive" + "." * padding)

    def unending(self) -> bytes:
        """Return how an event begins that has no end."""
        return b'data: {"choices": [{"delta": {"content": "'

    def garbage(self) -> bytes:
        """Return an event that cannot be read."""
        return b'data: {"choices": [{"delta": \n\n'
