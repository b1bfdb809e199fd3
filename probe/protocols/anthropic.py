"""The messages protocol of Anthropic: named events, blocks of content, usage as running totals."""

from collections.abc import Mapping, Sequence
from typing import Any

from pacewatch.words.endpoint import Endpoint
from pacewatch.words.timing import ANSWER, REASONING, TOOL, ProviderTokens
from probe.protocols.event import event_of, fault_in, fault_of_plain, is_done, named
from probe.protocols.foreign import count, identity, word
from probe.protocols.interface import AllTold, Chunk, End, Finish, Frame, Piece, Usage
from probe.protocols.sse import EventStream

VERSION = "2023-06-01"

_DELTAS = {
    "text_delta": (ANSWER, "text"),
    "thinking_delta": (REASONING, "thinking"),
    "input_json_delta": (TOOL, "partial_json"),
}
"""Deltas that hold generated text; signatures and citations are not among them."""

_BLOCKS = {
    "text": (ANSWER, "text"),
    "thinking": (REASONING, "thinking"),
    "tool_use": (TOOL, "name"),
    "mcp_tool_use": (TOOL, "name"),
    "server_tool_use": (TOOL, "name"),
}
"""What a block may begin with; a redacted one begins with nothing that can be read."""

_TRUNCATED = frozenset({"max_tokens", "model_context_window_exceeded"})


class Anthropic:
    """`POST /messages` with `stream: true`."""

    def path(self, endpoint: Endpoint) -> str:
        """Return what comes after the endpoint's base URL."""
        return "/messages"

    def headers(self, endpoint: Endpoint) -> Mapping[str, str]:
        """Return the version of the protocol."""
        return {"anthropic-version": VERSION}

    def body(self, endpoint: Endpoint, prompt: str, output_tokens: int) -> dict[str, Any]:
        """Return the request's body; an endpoint's own members win."""
        return {
            "model": endpoint.provider_model,
            "max_tokens": output_tokens,
            "messages": [{"role": "user", "content": prompt}],
            "stream": True,
            **endpoint.body,
        }

    def framing(self) -> EventStream:
        """Return a fresh event stream."""
        return EventStream()

    def read(self, frame: Frame) -> Sequence[Piece]:
        """Return what an event holds; a `[DONE]` that a speaker of its own adds is no end."""
        if is_done(frame):
            return (AllTold(),)
        event = event_of(frame)
        if event is None:
            return ()
        fault = fault_in(event, frame.name)
        if fault is not None:
            return (fault,)
        kind = named(event.get("type")) or frame.name
        if kind == "content_block_delta":
            return _text(event.get("delta"), _DELTAS)
        if kind == "content_block_start":
            return _text(event.get("content_block"), _BLOCKS)
        if kind == "message_start":
            return _begun(event.get("message"))
        if kind == "message_delta":
            return _going_on(event)
        return (End(is_last=True),) if kind == "message_stop" else ()

    def read_whole(self, body: bytes) -> Sequence[Piece]:
        """Return the error of a plain JSON body; raises MalformedAnswer for anything else."""
        return (fault_of_plain(body),)


def _text(told: object, kinds: Mapping[str, tuple[str, str]]) -> Sequence[Piece]:
    if not isinstance(told, dict):
        return ()
    kind, field = kinds.get(named(told.get("type")), (ANSWER, ""))
    text = told.get(field)
    return (Chunk(kind=kind, text=text),) if isinstance(text, str) and text else ()


def _begun(message: object) -> Sequence[Piece]:
    if not isinstance(message, dict):
        return ()
    usage = message.get("usage")
    tier = usage.get("service_tier") if isinstance(usage, dict) else None
    return (identity(message.get("model"), None, tier, message.get("id")), *_used(usage))


def _going_on(event: dict[str, Any]) -> Sequence[Piece]:
    pieces = list(_used(event.get("usage")))
    delta = event.get("delta")
    if isinstance(delta, dict) and (why := word(delta.get("stop_reason"))) is not None:
        pieces.append(
            Finish(word=why, is_truncated=why in _TRUNCATED, is_filtered=why == "refusal")
        )
    return pieces


def _used(usage: object) -> Sequence[Piece]:
    """Return the usage; cached parts of the prompt, told apart here, belong to its size."""
    if not isinstance(usage, dict):
        return ()
    fresh, read = count(usage.get("input_tokens")), count(usage.get("cache_read_input_tokens"))
    parts = (fresh, read, count(usage.get("cache_creation_input_tokens")))
    details = usage.get("output_tokens_details")
    return (
        Usage(
            tokens=ProviderTokens(
                input=None if fresh is None else sum(part or 0 for part in parts),
                output=count(usage.get("output_tokens")),
                reasoning=count(details.get("thinking_tokens"))
                if isinstance(details, dict)
                else None,
                cached_input=read,
            )
        ),
    )
