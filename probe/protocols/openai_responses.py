"""The responses protocol of OpenAI: named events, deltas by the kind of their item, no `[DONE]`.

What is done repeats what came in deltas, and counts only where nothing came in them. A summary of
the reasoning is reasoning; encrypted reasoning and the padding of deltas are nothing. All items of
the answer count.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pacewatch.words.endpoint import Endpoint
from pacewatch.words.timing import ANSWER, REASONING, TOOL, ProviderTokens
from probe.protocols.event import code_of, event_of, fault_in, fault_of_plain, is_done, named
from probe.protocols.foreign import count, identity, with_thoughts, word
from probe.protocols.interface import (
    AllTold,
    Chunk,
    End,
    Finish,
    Frame,
    Piece,
    StreamFault,
    Usage,
    Whole,
)
from probe.protocols.sse import EventStream

_DELTAS = {
    "response.output_text.delta": ANSWER,
    "response.refusal.delta": ANSWER,
    "response.audio.transcript.delta": ANSWER,
    "response.reasoning_text.delta": REASONING,
    "response.reasoning.delta": REASONING,
    "response.reasoning_content.delta": REASONING,
    "response.reasoning_summary_text.delta": REASONING,
    "response.reasoning_summary.delta": REASONING,
    "response.function_call_arguments.delta": TOOL,
    "response.custom_tool_call_input.delta": TOOL,
    "response.mcp_call_arguments.delta": TOOL,
    "response.mcp_call.arguments.delta": TOOL,
    "response.mcp_call.arguments_delta": TOOL,
    "response.code_interpreter_call_code.delta": TOOL,
    "response.code_interpreter_call.code.delta": TOOL,
}
"""Events that hold generated text."""

_DONE = {
    "response.output_text.done": (ANSWER, "text"),
    "response.refusal.done": (ANSWER, "refusal"),
    "response.reasoning_text.done": (REASONING, "text"),
    "response.reasoning_summary_text.done": (REASONING, "text"),
}
"""Events that tell a text whole, and where."""

_BEGINNINGS = frozenset({"response.created", "response.queued", "response.in_progress"})

_ENDS = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}
"""Events that end the answer, with the state of the answer that each tells."""

_FAILED = frozenset({"failed", "cancelled"})
_TRUNCATED = frozenset({"max_output_tokens", "max_tokens", "length"})
_FILTERED = frozenset({"content_filter", "safety"})


class OpenAIResponses:
    """`POST /responses` with `stream: true`."""

    def path(self, endpoint: Endpoint) -> str:
        """Return what comes after the endpoint's base URL."""
        return "/responses"

    def headers(self, endpoint: Endpoint) -> Mapping[str, str]:
        """Return no headers: the protocol asks for none."""
        return {}

    def body(self, endpoint: Endpoint, prompt: str, output_tokens: int) -> dict[str, Any]:
        """Return the request's body; an endpoint's own members win.

        Nothing is stored at the provider.
        """
        return {
            "model": endpoint.provider_model,
            "input": prompt,
            "max_output_tokens": output_tokens,
            "stream": True,
            "store": False,
            **endpoint.body,
        }

    def framing(self) -> EventStream:
        """Return a fresh event stream."""
        return EventStream()

    def read(self, frame: Frame) -> Sequence[Piece]:
        """Return what an event holds."""
        if is_done(frame):
            return (AllTold(),)
        event = event_of(frame)
        if event is None:
            return ()
        if (fault := fault_in(event, frame.name)) is not None:
            return (fault,)
        kind = named(event.get("type")) or frame.name
        if (letter := _DELTAS.get(kind)) is not None:
            return _chunk(letter, _text(event.get("delta")))
        if (done := _DONE.get(kind)) is not None:
            return _whole(done[0], event.get(done[1]))
        if kind == "response.output_item.added":
            return _begun(event.get("item"))
        if kind == "response.output_item.done":
            return _items([event.get("item")])
        if kind in _BEGINNINGS:
            return _who(event.get("response"))
        return _ended(_ENDS[kind], event.get("response")) if kind in _ENDS else ()

    def read_whole(self, body: bytes) -> Sequence[Piece]:
        """Return the error of a plain JSON body; raises MalformedAnswer for anything else."""
        return (fault_of_plain(body),)


def _text(delta: object) -> str:
    if isinstance(delta, dict):
        delta = delta.get("text")
    return delta if isinstance(delta, str) else ""


def _chunk(kind: str, text: str) -> Sequence[Piece]:
    return (Chunk(kind=kind, text=text),) if text else ()


def _whole(kind: str, *told: object) -> list[Whole]:
    text = "".join(one for one in told if isinstance(one, str))
    return [Whole(kind=kind, text=text)] if text else []


def _items(items: object) -> Sequence[Piece]:
    """Return the texts of items that are done, reasoning first."""
    found: list[Whole] = []
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, dict):
            continue
        kind = named(item.get("type"))
        if kind.endswith("_call"):
            found += _whole(TOOL, item.get("name"), item.get("arguments"), item.get("input"))
        parts = item.get("content") or item.get("summary")
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict):
                found += _whole(
                    REASONING if kind == "reasoning" else ANSWER,
                    part.get("text") or part.get("refusal"),
                )
    return sorted(found, key=lambda whole: whole.kind != REASONING)


def _begun(item: object) -> Sequence[Piece]:
    """Return the name of a tool that is called; the ids and messages that items begin with are
    not generated.
    """
    if not isinstance(item, dict) or not named(item.get("type")).endswith("_call"):
        return ()
    told = (item.get(field) for field in ("name", "arguments", "input"))
    return _chunk(TOOL, "".join(text for text in told if isinstance(text, str)))


def _who(response: object) -> Sequence[Piece]:
    if not isinstance(response, dict):
        return ()
    return (
        identity(
            response.get("model"),
            response.get("system_fingerprint"),
            response.get("service_tier"),
            response.get("id"),
        ),
    )


def _ended(state: str, response: object) -> Sequence[Piece]:
    """Return how the answer ended; its own word for its state goes before the event's."""
    if not isinstance(response, dict):
        response = {}
    told = named(response.get("status"))
    state = told if told in _ENDS.values() else state
    pieces = [*_who(response), *_used(response.get("usage"))]
    if state in _FAILED:
        error = response.get("error")
        code = code_of(error) if isinstance(error, dict) else None
        return (*pieces, StreamFault(code=code or state))
    details = response.get("incomplete_details")
    reason = word(details.get("reason")) if isinstance(details, dict) else None
    finish = Finish(
        word=reason or state, is_truncated=reason in _TRUNCATED, is_filtered=reason in _FILTERED
    )
    return (*_items(response.get("output")), *pieces, finish, End(is_last=True))


def _used(usage: object) -> Sequence[Piece]:
    """Return the usage; cached parts of the prompt belong to its size already."""
    if not isinstance(usage, dict):
        return ()
    asked, made = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    reasoning = _detail(usage.get("output_tokens_details"), "reasoning_tokens")
    total = count(usage.get("total_tokens"))
    return (
        Usage(
            tokens=ProviderTokens(
                input=asked,
                output=with_thoughts(asked, made, reasoning, total),
                reasoning=reasoning,
                cached_input=_detail(usage.get("input_tokens_details"), "cached_tokens"),
            )
        ),
    )


def _detail(details: object, name: str) -> int | None:
    return count(details.get(name)) if isinstance(details, dict) else None
