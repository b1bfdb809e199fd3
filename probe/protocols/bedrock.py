"""The converse protocol of Amazon Bedrock, streamed: binary messages, named events, bare members.

An error ends the stream as a message of its own kind, inside a 200. Usage and the provider's own
time come after the end of the answer. Padding, signatures and redacted reasoning are no text.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from pacewatch.words.endpoint import Endpoint
from pacewatch.words.timing import ANSWER, REASONING, TOOL, Identity, ProviderTokens, ServerTimings
from probe.protocols.event import event_of, fault_of_plain
from probe.protocols.foreign import count, identity, number, word
from probe.protocols.frames import Frames
from probe.protocols.interface import AllTold, Chunk, End, Finish, Frame, Piece, StreamFault, Usage

_TRUNCATED = frozenset({"max_tokens", "model_context_window_exceeded"})
_FILTERED = frozenset({"content_filtered", "guardrail_intervened", "refusal"})


class Bedrock:
    """`POST /model/<model>/converse-stream`."""

    def path(self, endpoint: Endpoint) -> str:
        """Return what comes after the endpoint's base URL; a model may be an ARN."""
        return f"/model/{quote(endpoint.provider_model, safe='')}/converse-stream"

    def headers(self, endpoint: Endpoint) -> Mapping[str, str]:
        """Return what the answer shall be."""
        return {"accept": "application/vnd.amazon.eventstream"}

    def body(self, endpoint: Endpoint, prompt: str, output_tokens: int) -> dict[str, Any]:
        """Return the request's body; an endpoint's own members win, those of `inferenceConfig`
        one by one.
        """
        own = dict(endpoint.body)
        config = own.pop("inferenceConfig", {})
        return {
            "messages": [{"role": "user", "content": [{"text": prompt}]}],
            "inferenceConfig": {"maxTokens": output_tokens, **config},
            **own,
        }

    def framing(self) -> Frames:
        """Return a fresh stream of binary messages."""
        return Frames()

    def read(self, frame: Frame) -> Sequence[Piece]:
        """Return what a message holds."""
        if frame.is_fault or frame.name.endswith("Exception"):
            return (StreamFault(code=word(frame.name)),)
        event = event_of(frame) or {}
        if frame.name == "contentBlockDelta":
            return _chunks(event.get("delta"))
        if frame.name == "contentBlockStart":
            return _begun(event.get("start"))
        if frame.name == "messageStop":
            return _ended(event)
        return _told(event) if frame.name == "metadata" else ()

    def read_whole(self, body: bytes) -> Sequence[Piece]:
        """Return the error of a plain JSON body; raises MalformedAnswer for anything else."""
        return (fault_of_plain(body),)


def _chunks(delta: object) -> Sequence[Piece]:
    if not isinstance(delta, dict):
        return ()
    told = {
        REASONING: _member(delta.get("reasoningContent"), "text"),
        ANSWER: delta.get("text"),
        TOOL: _member(delta.get("toolUse"), "input"),
    }
    return [Chunk(kind=kind, text=text) for kind, text in told.items() if _is_text(text)]


def _member(told: object, name: str) -> Any:
    return told.get(name) if isinstance(told, dict) else None


def _is_text(told: object) -> bool:
    return isinstance(told, str) and told != ""


def _begun(start: object) -> Sequence[Piece]:
    name = _member(_member(start, "toolUse"), "name")
    return (Chunk(kind=TOOL, text=name),) if _is_text(name) else ()


def _ended(event: dict[str, Any]) -> Sequence[Piece]:
    reason = word(event.get("stopReason"))
    finish = Finish(word=reason, is_truncated=reason in _TRUNCATED, is_filtered=reason in _FILTERED)
    return (finish, End())


def _told(event: dict[str, Any]) -> Sequence[Piece]:
    pieces: list[Piece] = [_tier(event)]
    usage, metrics = event.get("usage"), event.get("metrics")
    if isinstance(usage, dict):
        pieces.append(Usage(tokens=_tokens(usage)))
    told = _member(metrics, "latencyMs")
    if not isinstance(told, str) and (latency_ms := number(told)) is not None:
        pieces.append(ServerTimings(total_s=latency_ms / 1000, as_told={"latencyMs": told}))
    return (*pieces, AllTold())


def _tier(event: dict[str, Any]) -> Identity:
    """Return the tier that answered; the protocol tells no name of the model."""
    tier = _member(event.get("serviceTier"), "type")
    speed = _member(event.get("performanceConfig"), "latency")
    return identity(None, None, tier or speed, None)


def _tokens(usage: dict[str, Any]) -> ProviderTokens:
    """Return the usage in one form; cached parts of the prompt are told beside its size, unless
    the total says that they are part of it.
    """
    asked, made = count(usage.get("inputTokens")), count(usage.get("outputTokens"))
    read = _either(usage, "cacheReadInputTokens", "cacheReadInputTokenCount")
    written = _either(usage, "cacheWriteInputTokens", "cacheWriteInputTokenCount")
    cached = (read or 0) + (written or 0)
    total = count(usage.get("totalTokens"))
    if asked is not None and not (cached <= asked and total == asked + (made or 0)):
        asked += cached
    return ProviderTokens(input=asked, output=made, cached_input=read)


def _either(usage: dict[str, Any], *names: str) -> int | None:
    return next((told for name in names if (told := count(usage.get(name))) is not None), None)
