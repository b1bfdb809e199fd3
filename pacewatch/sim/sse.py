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


def comment(text: str) -> bytes:
    """Return a comment line, which keeps a connection alive and says nothing."""
    return f": {text}\n\n".encode()
