"""Framing of event streams."""

import json
from typing import Any


def to_json(value: Any) -> bytes:
    """Return compact JSON, as providers send it."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def data_event(value: Any) -> bytes:
    """Return an event that has data alone."""
    return b"data: " + to_json(value) + b"\n\n"


def named_event(value: dict[str, Any]) -> bytes:
    """Return an event whose name is its data's type."""
    name = str(value["type"])
    return b"event: " + name.encode() + b"\ndata: " + to_json(value) + b"\n\n"


HOLE = "\x00"
"""Where a template's text goes."""


class Template:
    """An event that is sent again and again with another text: encoded once, filled each time."""

    __slots__ = ("_after", "_before")

    def __init__(self, event: bytes) -> None:
        """Take the event with HOLE as its text, which may stand in several places."""
        self._before, *self._after = event.split(to_json(HOLE))

    def fill(self, text: str) -> bytes:
        """Return the event with the text in it."""
        said = to_json(text)
        return self._before + b"".join(said + after for after in self._after)


def comment(text: str) -> bytes:
    """Return a comment line, which keeps a connection alive and says nothing."""
    return f": {text}\n\n".encode()
