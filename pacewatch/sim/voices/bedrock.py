"""Speaks bedrock-converse: binary messages from messageStart to metadata."""

from collections.abc import Mapping
from typing import Any

from pacewatch.sim.error_forms import aws_exception
from pacewatch.sim.eventstream import (
    EventTemplate,
    MessageFraming,
    event_message,
    exception_message,
)
from pacewatch.sim.refusals import Refusal, refuse_body
from pacewatch.sim.script import Ask, Piece
from pacewatch.sim.sse import HOLE, hole, to_json
from pacewatch.sim.voices.body import asked, limit_of, names, table_in, unknown_in
from pacewatch.sim.voices.interface import Account, Framing, Place, Stop
from pacewatch.words.endpoint import Endpoint

_KNOWN = names(
    """
    messages system inferenceConfig toolConfig guardrailConfig projectIdentifier
    additionalModelRequestFields promptVariables additionalModelResponseFieldPaths
    requestMetadata performanceConfig serviceTier outputConfig
    """
)
_STOPS = {Stop.END: "end_turn", Stop.LIMIT: "max_tokens", Stop.FILTER: "content_filtered"}
_PADDING = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""What hides the length of a piece."""


class BedrockVoice:
    """One answer: a block of reasoning where it reasons, a block of text."""

    def __init__(self, ask: Ask, request_id: str) -> None:
        """Speak for an endpoint."""
        self._ask = ask
        self._request_id = request_id
        self._block: str | None = None
        self._index = -1
        self._template = EventTemplate("", b"")

    def headers(self) -> Mapping[str, str]:
        """Return the headers of the answer."""
        return {
            "content-type": "application/vnd.amazon.eventstream",
            "x-amzn-requestid": self._request_id,
        }

    def opening(self) -> bytes:
        """Return messageStart."""
        return _event("messageStart", {"role": "assistant"}, 7)

    def piece(self, piece: Piece) -> bytes:
        """Return the delta, after the end of the block before where it is the first of one."""
        block = "reasoning" if piece.is_reasoning else "text"
        turn = b"" if block == self._block else self._turn_to(block)
        return turn + self._template.fill(piece.text, _PADDING[: 12 + len(piece.text) % 24])

    def closing(self, account: Account) -> bytes:
        """Return the end of the block, messageStop, and metadata with usage and time."""
        usage = {
            "inputTokens": account.prompt_tokens - account.cached_tokens,
            "outputTokens": account.output_tokens,
            "totalTokens": account.prompt_tokens + account.output_tokens,
        }
        if account.cached_tokens:
            usage |= {"cacheReadInputTokens": account.cached_tokens, "cacheWriteInputTokens": 0}
        told = {"metrics": {"latencyMs": round(account.total_s * 1000)}, "usage": usage}
        stop = {"stopReason": _STOPS[account.stop]}
        return self._stop_block() + _event("messageStop", stop, 21) + _event("metadata", told, 13)

    def trouble(self, refusal: Refusal) -> bytes:
        """Return an exception."""
        _, name = aws_exception(refusal)
        kind = name[0].lower() + name[1:]
        return exception_message(kind, to_json({"message": refusal.message}))

    def _turn_to(self, block: str) -> bytes:
        ended = self._stop_block()
        self._block = block
        self._index += 1
        text = {"text": HOLE}
        delta = {"reasoningContent": text} if block == "reasoning" else text
        told = {"contentBlockIndex": self._index, "delta": delta, "p": hole(1)}
        self._template = EventTemplate("contentBlockDelta", to_json(told))
        return ended

    def _stop_block(self) -> bytes:
        if self._block is None:
            return b""
        signed = b""
        if self._block == "reasoning":
            delta = {"reasoningContent": {"signature": "c2ltdWxhdGVk"}}
            told = {"contentBlockIndex": self._index, "delta": delta}
            signed = _event("contentBlockDelta", told, 17)
        return signed + _event("contentBlockStop", {"contentBlockIndex": self._index}, 30)


def _event(kind: str, told: dict[str, Any], padding: int) -> bytes:
    return event_message(kind, to_json({**told, "p": _PADDING[:padding]}))


class BedrockSpeaker:
    """The protocol bedrock-converse."""

    framing: Framing = MessageFraming()

    def places(self, base_path: str, provider: str) -> tuple[Place, ...]:
        """Return the path of streamed conversations, which names the model."""
        return (Place(before=f"{base_path}/model/", after="/converse-stream"),)

    def hear(
        self, body: Mapping[str, Any], endpoint: Endpoint, query: Mapping[str, str]
    ) -> Ask | Refusal:
        """Return what the body asks."""
        config = table_in(body, "inferenceConfig")
        if isinstance(config, Refusal):
            return config
        limit = limit_of(config, "maxTokens")
        if isinstance(limit, Refusal):
            return limit
        refusal = unknown_in(body, _KNOWN) or _refuse_messages(body)
        if refusal is not None:
            return refusal
        return asked(
            endpoint,
            body.get("system"),
            body["messages"],
            limit=limit,
            reasons=endpoint.reasons,
            wants_usage=True,
        )

    def voice(self, endpoint: Endpoint, ask: Ask, *, request_id: str, created: int) -> BedrockVoice:
        """Return the voice of one answer."""
        return BedrockVoice(ask, request_id)


def _refuse_messages(body: Mapping[str, Any]) -> Refusal | None:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return refuse_body("messages: at least one is needed.", param="messages")
    for told in messages:
        content = told.get("content") if isinstance(told, dict) else None
        if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
            return refuse_body("messages: content must be a list of blocks.", param="messages")
    return None
