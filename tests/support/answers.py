"""What a server of the tests answers: good answers in few words, and bad manners."""

import json
import socket
import time
from collections.abc import Iterable

from support.replay import Asked, Player

STREAM = {"content-type": "text/event-stream"}


def event(content: str = "", finish: str | None = None, **more: object) -> str:
    """One event of a chat answer."""
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice], **more})}\n\n"


GOOD = [event("Salt"), event(" air"), event(finish="stop"), "data: [DONE]\n\n"]


def good_case(texts: Iterable[str] = GOOD, every_ms: float = 20) -> dict[str, object]:
    """A case that sends those texts one after another, and ends well."""
    script = [{"after_ms": n * every_ms, "send": text} for n, text in enumerate(texts)]
    return {"response": {"headers": STREAM, "script": script}}


def head(status: int = 200, **headers: str) -> bytes:
    """The head of an answer whose body ends with the connection."""
    told = {"content-type": "text/event-stream", **headers}
    lines = [f"HTTP/1.1 {status} X", *(f"{n.replace('_', '-')}: {v}" for n, v in told.items())]
    return "\r\n".join([*lines, "connection: close", "", ""]).encode()


def raw(*parts: bytes) -> Player:
    """Sends those bytes, and closes."""

    def play(sock: socket.socket, asked: Asked) -> bool:
        for part in parts:
            sock.sendall(part)
        return False

    return play


def endless(start: bytes, again: bytes, *, every_s: float = 0) -> Player:
    """Sends the start, then the same bytes, or none, until the other side goes away."""

    def play(sock: socket.socket, asked: Asked) -> bool:
        sock.sendall(start)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if again:
                sock.sendall(again)
                time.sleep(every_s)
            elif not sock.recv(65_536):
                break
        return False

    return play
