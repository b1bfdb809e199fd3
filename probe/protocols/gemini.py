"""The generateContent protocol of Google, streamed as events: Gemini, here and on Vertex.

Only the candidate with index 0 is read. A finish reason may stand on every event, so the answer has
ended only with its body. Usage is told on each event, as running totals.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from pacewatch.words.endpoint import Endpoint
from pacewatch.words.timing import ANSWER, REASONING, TOOL, ProviderTokens
from probe.protocols.event import event_of, fault_in, fault_of_plain, is_done
from probe.protocols.foreign import count, identity, word
from probe.protocols.interface import AllTold, Chunk, End, Finish, Frame, Piece, Usage
from probe.protocols.sse import EventStream

_TRUNCATED = frozenset({"MAX_TOKENS"})
_FILTERED = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "MODEL_ARMOR",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
    }
)
_NO_REASON = "_UNSPECIFIED"
"""How the words end that stand for no reason at all."""


class Gemini:
    """`POST /models/<model>:streamGenerateContent?alt=sse`."""

    def path(self, endpoint: Endpoint) -> str:
        """Return what comes after the endpoint's base URL; without the query it is no stream."""
        model = quote(endpoint.provider_model.removeprefix("models/"), safe="")
        return f"/models/{model}:streamGenerateContent?alt=sse"

    def headers(self, endpoint: Endpoint) -> Mapping[str, str]:
        """Return no headers: the protocol asks for none."""
        return {}

    def body(self, endpoint: Endpoint, prompt: str, output_tokens: int) -> dict[str, Any]:
        """Return the request's body; an endpoint's own members win, those of `generationConfig`
        one by one.
        """
        own = dict(endpoint.body)
        config = own.pop("generationConfig", {})
        return {
            "contents": [{"role": "user", "parts": [{"text": prompt}]}],
            "generationConfig": {"maxOutputTokens": output_tokens, **config},
            **own,
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
        return [*_used(event), *_answered(event.get("candidates")), *_blocked(event)]

    def read_whole(self, body: bytes) -> Sequence[Piece]:
        """Return the error of a plain JSON body; raises MalformedAnswer for anything else."""
        return (fault_of_plain(body),)


def _answered(candidates: object) -> Sequence[Piece]:
    candidate = _candidate(candidates)
    if candidate is None:
        return ()
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    return (*_chunks(parts), *_end(candidate.get("finishReason")))


def _candidate(candidates: object) -> dict[str, Any] | None:
    for candidate in candidates if isinstance(candidates, list) else ():
        if isinstance(candidate, dict) and candidate.get("index", 0) in (0, None):
            return candidate
    return None


def _end(told: object) -> Sequence[Piece]:
    reason = word(told)
    if reason is None or reason.endswith(_NO_REASON):
        return ()
    finish = Finish(word=reason, is_truncated=reason in _TRUNCATED, is_filtered=reason in _FILTERED)
    return (finish, End(needs_body=not finish.is_filtered))


def _blocked(event: dict[str, Any]) -> Sequence[Piece]:
    """Return the end of an answer to a prompt that was blocked: nothing was generated."""
    feedback = event.get("promptFeedback")
    reason = word(feedback.get("blockReason")) if isinstance(feedback, dict) else None
    if reason is None or reason.endswith(_NO_REASON):
        return ()
    return (Finish(word=reason, is_filtered=True), End())


def _chunks(parts: object) -> Sequence[Piece]:
    """Return the chunks of an event's parts, one a kind, reasoning first."""
    texts = {REASONING: "", ANSWER: "", TOOL: ""}
    for part in parts if isinstance(parts, list) else ():
        if not isinstance(part, dict):
            continue
        if isinstance(text := part.get("text"), str):
            texts[REASONING if part.get("thought") is True else ANSWER] += text
        texts[TOOL] += _called(part.get("functionCall")) + _code(part.get("executableCode"))
    return [Chunk(kind=kind, text=text) for kind, text in texts.items() if text]


def _called(call: object) -> str:
    """Return the name and the arguments of a call, whole or as far as they go."""
    if not isinstance(call, dict):
        return ""
    name, args = call.get("name"), call.get("args")
    text = name if isinstance(name, str) else ""
    if isinstance(args, dict) and args:
        with suppress(RecursionError):
            text += json.dumps(args, ensure_ascii=False, separators=(",", ":"))
    for some in _listed(call.get("partialArgs")):
        value = some.get("stringValue", some.get("numberValue", some.get("boolValue")))
        if isinstance(value, str | int | float):
            text += value if isinstance(value, str) else json.dumps(value)
    return text


def _listed(told: object) -> list[dict[str, Any]]:
    return [one for one in told if isinstance(one, dict)] if isinstance(told, list) else []


def _code(told: object) -> str:
    code = told.get("code") if isinstance(told, dict) else None
    return code if isinstance(code, str) else ""


def _used(event: dict[str, Any]) -> Sequence[Piece]:
    """Return who answers and the running totals: thoughts are billed as output."""
    usage = event.get("usageMetadata")
    tier = None
    pieces: list[Piece] = []
    if isinstance(usage, dict):
        tier = usage.get("trafficType") or usage.get("serviceTier")
        pieces.append(Usage(tokens=_tokens(usage)))
    who = identity(event.get("modelVersion"), None, tier, event.get("responseId"))
    return (who, *pieces)


def _tokens(usage: dict[str, Any]) -> ProviderTokens:
    """Return the usage in one form; thoughts stand beside what the candidates made, unless the
    total says that they are part of it.
    """
    prompt, made = count(usage.get("promptTokenCount")), count(usage.get("candidatesTokenCount"))
    thoughts = count(usage.get("thoughtsTokenCount"))
    tools = count(usage.get("toolUsePromptTokenCount")) or 0
    asked = None if prompt is None else prompt + tools
    output = thoughts if made is None else made + (thoughts or 0)
    total = count(usage.get("totalTokenCount"))
    if thoughts and made is not None and asked is not None and total == asked + made:
        output = max(made, thoughts)
    return ProviderTokens(
        input=asked,
        output=output,
        reasoning=thoughts,
        cached_input=count(usage.get("cachedContentTokenCount")),
    )
