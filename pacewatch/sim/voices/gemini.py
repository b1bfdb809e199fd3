"""Speaks gemini: whole responses in each event, usage that grows from one to the next, no end mark.

Thoughts come as parts of their own where they are asked for; else they are hidden and billed.
"""

import re
from collections.abc import Mapping
from typing import Any

from pacewatch.sim.error_forms import google_error
from pacewatch.sim.refusals import Refusal, refuse_body
from pacewatch.sim.script import Ask, Piece, hidden_of
from pacewatch.sim.sse import HOLE, EventFraming, Template, hole, to_json
from pacewatch.sim.voices.body import asked, limit_of, names, table_in, unknown_in
from pacewatch.sim.voices.interface import Account, Framing, Place, Stop
from pacewatch.words.endpoint import Endpoint

_KNOWN = names(
    """
    contents systemInstruction generationConfig safetySettings tools toolConfig cachedContent
    labels serviceTier model
    """
)
_SNAKE = re.compile("_([a-z])")
_SIGNATURE = "c2ltdWxhdGVk" * 8
_FINISH = {Stop.END: "STOP", Stop.LIMIT: "MAX_TOKENS", Stop.FILTER: "SAFETY"}
_SAFE = [
    {"category": f"HARM_CATEGORY_{name}", "probability": "NEGLIGIBLE"}
    for name in ("HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT")
]


class GeminiVoice:
    """One answer, as server-sent events or as one JSON array that grows."""

    def __init__(self, endpoint: Endpoint, ask: Ask, request_id: str) -> None:
        """Speak for the endpoint."""
        self._ask = ask
        self._is_vertex = endpoint.provider == "vertex"
        self._model = endpoint.provider_model
        self._id = request_id
        self._thought = hidden_of(ask)
        self._answered = 0
        self._is_first = True
        self._thoughts = Template(self._chunk({"text": HOLE, "thought": True}))
        self._answers = Template(self._chunk({"text": HOLE}))

    def headers(self) -> Mapping[str, str]:
        """Return the headers of the answer, which has no id there."""
        if self._ask.as_array:
            return {"content-type": "application/json; charset=UTF-8"}
        return {"content-type": "text/event-stream", "server-timing": "gfet4t7; dur=412"}

    def opening(self) -> bytes:
        """Return nothing: the first event has text."""
        return b"[" if self._ask.as_array else b""

    def piece(self, piece: Piece) -> bytes:
        """Return the event of the piece, with the usage so far."""
        if piece.is_reasoning:
            self._thought += piece.tokens
        else:
            self._answered += piece.tokens
        template = self._thoughts if piece.is_reasoning else self._answers
        total = self._ask.prompt_tokens + self._thought + self._answered
        return self._framed(template.fill(piece.text, self._answered, self._thought, total))

    def closing(self, account: Account) -> bytes:
        """Return the last event: a signature in place of text, finish reason and usage."""
        part: dict[str, Any] = {"text": ""}
        if self._ask.reasons:
            part["thoughtSignature"] = _SIGNATURE
        candidate = {
            "content": {"parts": [part], "role": "model"},
            "finishReason": _FINISH[account.stop],
            "index": 0,
        }
        if account.stop is Stop.FILTER:
            blocked = {**_SAFE[3], "probability": "HIGH", "blocked": True}
            candidate["safetyRatings"] = [*_SAFE[:3], blocked]
        usage: dict[str, Any] = {
            "promptTokenCount": account.prompt_tokens,
            "candidatesTokenCount": account.answer_tokens,
            "totalTokenCount": account.prompt_tokens + account.output_tokens,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": account.prompt_tokens}],
        }
        if account.reasoning_tokens:
            usage["thoughtsTokenCount"] = account.reasoning_tokens
        if account.cached_tokens:
            usage["cachedContentTokenCount"] = account.cached_tokens
        if self._is_vertex:
            usage["trafficType"] = "ON_DEMAND"
        said = self._framed(to_json(self._response(candidate, usage)))
        return said + b"\r\n]" if self._ask.as_array else said

    def trouble(self, refusal: Refusal) -> bytes:
        """Return an event that is an error."""
        said = self._framed(to_json(google_error(refusal)))
        return said + b"\r\n]" if self._ask.as_array else said

    def _chunk(self, part: dict[str, Any]) -> bytes:
        usage: dict[str, Any] = {
            "promptTokenCount": self._ask.prompt_tokens,
            "candidatesTokenCount": hole(1),
            "thoughtsTokenCount": hole(2),
            "totalTokenCount": hole(3),
        }
        if not self._ask.reasons:
            del usage["thoughtsTokenCount"]
        candidate = {"content": {"parts": [part], "role": "model"}, "index": 0}
        return to_json(self._response(candidate, usage))

    def _response(self, candidate: dict[str, Any], usage: dict[str, Any]) -> dict[str, Any]:
        return {
            "candidates": [candidate],
            "usageMetadata": usage,
            "modelVersion": self._model,
            "responseId": self._id,
        }

    def _framed(self, response: bytes) -> bytes:
        if not self._ask.as_array:
            return b"data: " + response + b"\r\n\r\n"
        before = b"" if self._is_first else b",\r\n"
        self._is_first = False
        return before + response


class GeminiSpeaker:
    """The protocol gemini."""

    framing: Framing = EventFraming()

    def places(self, base_path: str, provider: str) -> tuple[Place, ...]:
        """Return the path of streamed answers, which names the model."""
        return (Place(before=f"{base_path}/models/", after=":streamGenerateContent"),)

    def hear(
        self, body: Mapping[str, Any], endpoint: Endpoint, query: Mapping[str, str]
    ) -> Ask | Refusal:
        """Return what the body asks; without alt=sse in the query, as one JSON array."""
        body = _in_camel_case(dict(body))
        config = table_in(body, "generationConfig")
        if isinstance(config, Refusal):
            return config
        thinking = table_in(config, "thinkingConfig")
        if isinstance(thinking, Refusal):
            return thinking
        limit = limit_of(config, "maxOutputTokens")
        if isinstance(limit, Refusal):
            return limit
        refusal = unknown_in(body, _KNOWN) or _refuse_contents(body)
        if refusal is not None:
            return refusal
        return asked(
            endpoint,
            body.get("systemInstruction"),
            body["contents"],
            limit=limit,
            reasons=endpoint.reasons and thinking.get("thinkingBudget") != 0,
            shown=1.0 if thinking.get("includeThoughts") is True else 0.0,
            wants_usage=True,
            as_array=query.get("alt") != "sse",
        )

    def voice(self, endpoint: Endpoint, ask: Ask, *, request_id: str, created: int) -> GeminiVoice:
        """Return the voice of one answer."""
        return GeminiVoice(endpoint, ask, request_id)


def _in_camel_case(value: Any) -> Any:
    """Return the value with the names in it as they are documented; the API takes both cases."""
    if isinstance(value, list):
        return [_in_camel_case(item) for item in value]
    if isinstance(value, dict):
        return {_SNAKE.sub(_capital, name): _in_camel_case(one) for name, one in value.items()}
    return value


def _capital(match: re.Match[str]) -> str:
    return match[1].upper()


def _refuse_contents(body: Mapping[str, Any]) -> Refusal | None:
    contents = body.get("contents")
    if not isinstance(contents, list) or not contents:
        return refuse_body("contents is not specified", param="contents")
    for content in contents:
        parts = content.get("parts") if isinstance(content, dict) else None
        if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            return refuse_body("contents must hold parts.", param="contents")
    return None
