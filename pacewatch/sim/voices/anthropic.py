"""Speaks anthropic-messages: named events from message_start to message_stop."""

from collections.abc import Mapping
from typing import Any

from pacewatch.sim.error_forms import anthropic_error
from pacewatch.sim.refusals import Refusal, refuse_body
from pacewatch.sim.script import Ask, Piece
from pacewatch.sim.sse import HOLE, EventFraming, Template, named_event
from pacewatch.sim.voices.body import asked, limit_of
from pacewatch.sim.voices.interface import Account, Framing, Place, Stop
from pacewatch.words.endpoint import Endpoint

_PING = named_event({"type": "ping"})
_STOPS = {Stop.END: "end_turn", Stop.LIMIT: "max_tokens", Stop.FILTER: "refusal"}
_SIGNATURE = {"type": "signature_delta", "signature": "c2ltdWxhdGVk"}


class AnthropicVoice:
    """One answer: a block of thinking where it thinks, a block of text."""

    def __init__(self, endpoint: Endpoint, ask: Ask, request_id: str) -> None:
        """Speak for the endpoint."""
        self._model = endpoint.provider_model
        self._ask = ask
        self._id = request_id
        self._block: str | None = None
        self._index = -1
        self._template = Template(b"")

    def headers(self) -> Mapping[str, str]:
        """Return the headers of the answer."""
        return {
            "request-id": self._id,
            "anthropic-ratelimit-requests-limit": "4000",
            "anthropic-ratelimit-requests-remaining": "3999",
        }

    def opening(self) -> bytes:
        """Return message_start, the start of the first block, and a ping."""
        message: dict[str, Any] = {
            "id": f"msg_{self._id}",
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {**self._input_usage(), "output_tokens": 1},
        }
        start = named_event({"type": "message_start", "message": message})
        return start + self._turn_to("thinking" if self._ask.reasons else "text") + _PING

    def piece(self, piece: Piece) -> bytes:
        """Return the delta, after the start of its block where it is the first of one."""
        block = "thinking" if piece.is_reasoning else "text"
        turn = b"" if block == self._block else self._turn_to(block)
        return turn + self._template.fill(piece.text)

    def closing(self, account: Account) -> bytes:
        """Return the end of the block, the totals, and message_stop."""
        totals = {
            "type": "message_delta",
            "delta": {"stop_reason": _STOPS[account.stop], "stop_sequence": None},
            "usage": {**self._input_usage(), "output_tokens": account.output_tokens},
        }
        return self._stop_block() + named_event(totals) + named_event({"type": "message_stop"})

    def trouble(self, refusal: Refusal) -> bytes:
        """Return an event that is an error."""
        return named_event(anthropic_error(refusal, self._id))

    def _input_usage(self) -> dict[str, Any]:
        cached = self._ask.cached_tokens
        return {
            "input_tokens": self._ask.prompt_tokens - cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": cached,
            "service_tier": "standard",
        }

    def _delta(self, delta: dict[str, Any]) -> bytes:
        return named_event({"type": "content_block_delta", "index": self._index, "delta": delta})

    def _turn_to(self, block: str) -> bytes:
        ended = self._stop_block()
        self._block = block
        self._index += 1
        self._template = Template(self._delta({"type": f"{block}_delta", block: HOLE}))
        empty = {"type": block, block: ""} | ({"signature": ""} if block == "thinking" else {})
        start = {"type": "content_block_start", "index": self._index, "content_block": empty}
        return ended + named_event(start)

    def _stop_block(self) -> bytes:
        if self._block is None:
            return b""
        signed = self._delta(_SIGNATURE) if self._block == "thinking" else b""
        return signed + named_event({"type": "content_block_stop", "index": self._index})


class AnthropicSpeaker:
    """The protocol anthropic-messages."""

    framing: Framing = EventFraming()

    def places(self, base_path: str, provider: str) -> tuple[Place, ...]:
        """Return the path of messages under a base path that may end in /v1 or /messages."""
        if base_path.endswith("/messages"):
            return (Place(before=base_path),)
        tail = "/messages" if base_path.endswith("/v1") else "/v1/messages"
        return (Place(before=base_path + tail),)

    def hear(
        self, body: Mapping[str, Any], endpoint: Endpoint, query: Mapping[str, str]
    ) -> Ask | Refusal:
        """Return what the body asks; max_tokens must be there, and stream be true."""
        limit = limit_of(body, "max_tokens")
        if isinstance(limit, Refusal):
            return limit
        if limit is None:
            return refuse_body("max_tokens: Field required")
        if not isinstance(body.get("messages"), list) or not body["messages"]:
            return refuse_body("messages: at least one message is required")
        if body.get("stream") is not True:
            return refuse_body("stream: this simulated endpoint only streams")
        thinking = body.get("thinking")
        kind = thinking.get("type") if isinstance(thinking, dict) else None
        return asked(
            endpoint,
            body.get("system"),
            body["messages"],
            limit=limit,
            reasons=kind in ("enabled", "adaptive"),
            wants_usage=True,
        )

    def voice(
        self, endpoint: Endpoint, ask: Ask, *, request_id: str, created: int
    ) -> AnthropicVoice:
        """Return the voice of one answer."""
        return AnthropicVoice(endpoint, ask, request_id)
