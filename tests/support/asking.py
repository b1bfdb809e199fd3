"""A client of event streams on the standard library alone, which shares nothing with the probe."""

import http.client
import json
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit


@dataclass(kw_only=True)
class Heard:
    """One answer as it was heard."""

    status: int
    headers: dict[str, str]
    events: list[tuple[float, Any]] = field(default_factory=list)
    """Seconds from the request, and the JSON of the event's data."""
    body: Any = None
    """JSON of a whole answer."""
    is_ended: bool = False
    """True where the protocol's own end was heard."""
    broke: str | None = None
    """The type of the error that broke the stream off."""

    def pieces(self) -> list[tuple[float, str]]:
        """Return the pieces of text of either protocol, and when they came."""
        return [(at, text) for at, event in self.events if (text := _text(event))]

    def text(self) -> str:
        """Return the whole text."""
        return "".join(text for _, text in self.pieces())


def _text(event: Any) -> str:
    if event.get("choices"):
        delta = event["choices"][0].get("delta", {})
        told = (delta.get(n) for n in ("content", "reasoning", "reasoning_content"))
        return next((text for text in told if text), "")
    delta = event.get("delta", {})
    return delta.get("text", "") or delta.get("thinking", "")


def ask(
    url: str,
    model: str,
    *,
    max_tokens: int = 20,
    headers: dict[str, str] | None = None,
    timeout_s: float = 30,
    **more: Any,
) -> Heard:
    """Post a streaming request to the URL and hear its answer out."""
    body = {
        "model": model,
        "max_tokens": max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": "Say something."}],
        **more,
    }
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=timeout_s)
    try:
        connection.connect()
        sent = time.monotonic()
        connection.request("POST", parts.path, json.dumps(body), headers or {})
        return _hear(connection.getresponse(), sent)
    finally:
        connection.close()


def _hear(answer: http.client.HTTPResponse, sent: float) -> Heard:
    heard = Heard(status=answer.status, headers={k.lower(): v for k, v in answer.headers.items()})
    if answer.status != 200:
        heard.body = json.loads(answer.read())
        return heard
    try:
        while line := answer.readline():
            if line == b"data: [DONE]\n":
                heard.is_ended = True
            elif line.startswith(b"data: "):
                event = json.loads(line[6:])
                heard.events.append((time.monotonic() - sent, event))
                heard.is_ended = heard.is_ended or event.get("type") == "message_stop"
    except (OSError, http.client.HTTPException) as error:
        heard.broke = type(error).__name__
    return heard
