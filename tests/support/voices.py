"""Whole answers of the simulator's voices, without a socket."""

import json
from typing import Any

from botocore.eventstream import EventStreamBuffer

from pacewatch.sim.refusals import Refusal
from pacewatch.sim.script import Ask, Nature, make_script, pieces_of
from pacewatch.sim.voices.interface import Account, Stop, Voice
from pacewatch.sim.voices.table import SPEAKERS
from pacewatch.words.endpoint import Endpoint

NATURE = Nature(tokens_per_s=100.0, ttft_s=0.3, block_tokens=1)
PROMPT = "x" * 440
"""A hundred tokens and the frame's eight, as the simulator counts them."""


def account(*, stop: Stop = Stop.LIMIT, **fields: Any) -> Account:
    """Return the account of an answer of eight tokens, two of them of reasoning."""
    values: dict[str, Any] = {
        "prompt_tokens": 100,
        "reasoning_tokens": 2,
        "answer_tokens": 6,
        "queue_s": 0.1,
        "prompt_s": 0.2,
        "completion_s": 0.7,
        **fields,
    }
    return Account(stop=stop, **values)


def hear(
    endpoint: Endpoint, body: dict[str, Any], query: dict[str, str] | None = None
) -> Ask | Refusal:
    """Return what the endpoint's protocol makes of a body."""
    return SPEAKERS[endpoint.protocol].hear(body, endpoint, query or {})


def voice_of(
    endpoint: Endpoint, body: dict[str, Any], query: dict[str, str] | None = None
) -> tuple[Voice, Ask]:
    """Return the voice of an answer to the body, and what it is asked."""
    ask = hear(endpoint, body, query)
    assert isinstance(ask, Ask), ask
    speaker = SPEAKERS[endpoint.protocol]
    return speaker.voice(endpoint, ask, request_id="r1", created=1_790_000_000), ask


def answer(
    endpoint: Endpoint,
    body: dict[str, Any],
    query: dict[str, str] | None = None,
    ended: Account | None = None,
) -> bytes:
    """Return all bytes of an answer to the body."""
    voice, ask = voice_of(endpoint, body, query)
    script = make_script(NATURE, ask, way=0.0, seed="s", exact=True)
    said = voice.opening()
    said += b"".join(voice.piece(piece) for piece in pieces_of(script))
    return said + voice.closing(ended or account())


def events_of(stream: bytes, end: str = "\n\n") -> list[Any]:
    """Return the events of a stream: JSON of data, text of comments, [DONE]."""
    return [_event(block) for block in stream.decode().removesuffix(end).split(end)]


def _event(block: str) -> Any:
    if block.startswith(":"):
        return block
    name, _, rest = block.partition("\n") if block.startswith("event: ") else ("", "", block)
    data = rest.removeprefix("data: ")
    event = data if data == "[DONE]" else json.loads(data)
    assert not name or name == f"event: {event['type']}"
    return event


def messages_of(stream: bytes) -> list[tuple[str, Any]]:
    """Return kind and content of each binary message, as botocore reads them."""
    buffer = EventStreamBuffer()
    buffer.add_data(stream)
    return [
        (
            read.headers.get(":event-type") or read.headers[":exception-type"],
            json.loads(read.payload),
        )
        for read in buffer
    ]
