"""Speaks openai-responses: numbered events from response.created to the response's end.

Reasoning stays with the provider: it is billed and takes its time, and no word of it is sent
unless a summary is asked for, or the provider always gives one.
"""

from collections.abc import Mapping
from typing import Any

from pacewatch.sim.error_forms import openai_error
from pacewatch.sim.refusals import Refusal, Why, refuse_body
from pacewatch.sim.script import Ask, Piece
from pacewatch.sim.sse import HOLE, EventFraming, Template, hole, named_event
from pacewatch.sim.voices.body import asked, limit_of, names, table_in, unknown_in
from pacewatch.sim.voices.interface import Account, Framing, Place, Stop
from pacewatch.words.endpoint import Endpoint

SUMMARY_SHARE = 1 / 3
"""Tokens of a summary, of those of the reasoning that it sums up."""
LEAST_LIMIT = 16
"""OpenAI takes no smaller max_output_tokens."""

_KNOWN = names(
    """
    background conversation include input instructions max_output_tokens max_tool_calls metadata
    model parallel_tool_calls previous_response_id prompt prompt_cache_key
    prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options
    temperature text tool_choice tools top_logprobs top_p truncation user
    """
)
_NOISE = "kTq3XvB7mZ0cLw9Rf2YpJ8sH"
"""What hides the length of a piece."""
_SEALED = "gAAAAABsaW11bGF0ZWQ="
_FAILED_CODES = {Why.RATE_LIMITED: "rate_limit_exceeded"}


class ResponsesVoice:
    """One answer: an item of reasoning where it reasons, an item of text."""

    def __init__(self, endpoint: Endpoint, ask: Ask, request_id: str, created: int) -> None:
        """Speak for the endpoint, in its provider's manner."""
        self._provider = endpoint.provider
        self._ask = ask
        self._request_id = request_id
        self._id = request_id.removeprefix("req-").replace("-", "")
        self._number = -1
        self._index = -1
        self._item: dict[str, Any] = {}
        self._said: list[str] = []
        self._output: list[dict[str, Any]] = []
        self._template = Template(b"")
        self._response = {
            "id": f"resp_{self._id}",
            "object": "response",
            "created_at": created,
            "status": "in_progress",
            "background": False,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "max_output_tokens": ask.max_tokens,
            "model": endpoint.provider_model,
            "output": [],
            "parallel_tool_calls": True,
            "previous_response_id": None,
            "reasoning": {"effort": "medium" if ask.reasons else None, "summary": None},
            "service_tier": "auto",
            "store": False,
            "temperature": 1.0,
            "text": {"format": {"type": "text"}, "verbosity": "medium"},
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": None,
            "user": None,
            "metadata": {},
        }

    def headers(self) -> Mapping[str, str]:
        """Return the headers of the answer."""
        return {"x-request-id": self._request_id, **_HEADERS.get(self._provider, {})}

    def opening(self) -> bytes:
        """Return that the response was made and is under way, and the reasoning that begins."""
        said = self._event("response.created", response=self._response)
        said += self._event("response.in_progress", response=self._response)
        return said + self._begin_reasoning() if self._ask.reasons else said

    def piece(self, piece: Piece) -> bytes:
        """Return the delta, after the start of its item where it is the first of one."""
        turn = b""
        if piece.is_reasoning and not self._said:
            turn = self._begin_summary()
        elif not piece.is_reasoning and self._item.get("type") != "message":
            turn = self._end_item("completed") + self._begin_message()
        self._said.append(piece.text)
        self._number += 1
        noise = _NOISE[: max(1, 16 - len(piece.text))]
        return turn + self._template.fill(piece.text, self._number, noise)

    def closing(self, account: Account) -> bytes:
        """Return the ends of the text and its item, and of the response with its usage."""
        whole = account.stop is Stop.END
        status = "completed" if whole else "incomplete"
        said = self._end_item(status)
        reasons = {Stop.LIMIT: "max_output_tokens", Stop.FILTER: "content_filter"}
        details = None if whole else {"reason": reasons[account.stop]}
        ended = self._ended(status, account, incomplete_details=details)
        return said + self._event(f"response.{status}", response=ended)

    def trouble(self, refusal: Refusal) -> bytes:
        """Return the error: in an event of its own, in the failed response, or in both."""
        told = openai_error(self._provider, refusal)
        flat = {"code": told["code"], "message": refusal.message, "param": None}
        if refusal.why is Why.BROKEN:
            return self._event("error", **flat)
        code = _FAILED_CODES.get(refusal.why, "server_error")
        failed = self._ended("failed", None, error={"code": code, "message": refusal.message})
        said = self._event("error", error=told) if refusal.why is Why.OVERLOADED else b""
        return said + self._event("response.failed", response=failed)

    def _event(self, kind: str, **fields: Any) -> bytes:
        self._number += 1
        return named_event({"type": kind, "sequence_number": self._number, **fields})

    def _in_item(self, kind: str, **fields: Any) -> bytes:
        """Return an event of the item that is under way."""
        return self._event(kind, item_id=self._item["id"], output_index=self._index, **fields)

    def _begin(self, item: dict[str, Any]) -> bytes:
        self._item, self._said = item, []
        self._index += 1
        return self._event("response.output_item.added", output_index=self._index, item=item)

    def _begin_reasoning(self) -> bytes:
        item: dict[str, Any] = {"id": f"rs_{self._id}", "type": "reasoning", "summary": []}
        if self._ask.wants_sealed:
            item["encrypted_content"] = _SEALED
        return self._begin(item)

    def _begin_summary(self) -> bytes:
        part = {"type": "summary_text", "text": ""}
        said = self._in_item("response.reasoning_summary_part.added", summary_index=0, part=part)
        self._set_template("response.reasoning_summary_text.delta", summary_index=0)
        return said

    def _begin_message(self) -> bytes:
        item = {
            "id": f"msg_{self._id}",
            "type": "message",
            "status": "in_progress",
            "content": [],
            "role": "assistant",
        }
        said = self._begin(item)
        said += self._in_item("response.content_part.added", content_index=0, part=_text_part(""))
        self._set_template("response.output_text.delta", content_index=0, logprobs=[])
        return said

    def _set_template(self, kind: str, **fields: Any) -> None:
        event = {
            "type": kind,
            "sequence_number": hole(1),
            "item_id": self._item["id"],
            "output_index": self._index,
            **fields,
            "delta": HOLE,
        }
        if self._provider == "openai":
            event["obfuscation"] = hole(2)
        self._template = Template(named_event(event))

    def _end_item(self, status: str) -> bytes:
        """Return the end of the item that is under way; nothing where none is."""
        item, text = self._item, "".join(self._said)
        if not item:
            return b""
        said = b""
        if item["type"] == "message":
            said += self._in_item(
                "response.output_text.done", content_index=0, text=text, logprobs=[]
            )
            part = _text_part(text)
            said += self._in_item("response.content_part.done", content_index=0, part=part)
            item = {**item, "status": status, "content": [part]}
        elif text:
            said += self._in_item(
                "response.reasoning_summary_text.done", summary_index=0, text=text
            )
            part = {"type": "summary_text", "text": text}
            said += self._in_item(
                "response.reasoning_summary_part.done", summary_index=0, part=part
            )
            item = {**item, "summary": [part]}
        said += self._event("response.output_item.done", output_index=self._index, item=item)
        self._output.append(item)
        self._item, self._said = {}, []
        return said

    def _ended(self, status: str, account: Account | None, **more: Any) -> dict[str, Any]:
        return {
            **self._response,
            "status": status,
            "output": self._output,
            "service_tier": "default",
            "usage": None if account is None else self._usage(account),
            **more,
        }

    def _usage(self, account: Account) -> dict[str, Any]:
        told: dict[str, Any] = {
            "input_tokens": account.prompt_tokens,
            "input_tokens_details": {"cached_tokens": account.cached_tokens},
            "output_tokens": account.output_tokens,
            "output_tokens_details": {"reasoning_tokens": account.reasoning_tokens},
            "total_tokens": account.prompt_tokens + account.output_tokens,
        }
        if self._provider == "xai":
            told |= {"num_sources_used": 0, "num_server_side_tools_used": 0}
        return told


_HEADERS: Mapping[str, Mapping[str, str]] = {
    "openai": {
        "openai-version": "2020-10-01",
        "x-ratelimit-limit-requests": "10000",
        "x-ratelimit-limit-tokens": "2000000",
        "x-ratelimit-remaining-requests": "9999",
        "x-ratelimit-remaining-tokens": "1998500",
        "x-ratelimit-reset-requests": "6ms",
        "x-ratelimit-reset-tokens": "45ms",
    }
}
_SUMS_UP = frozenset({"xai"})
"""Providers that give a summary unasked."""


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}


class ResponsesSpeaker:
    """The protocol openai-responses."""

    framing: Framing = EventFraming()

    def places(self, base_path: str, provider: str) -> tuple[Place, ...]:
        """Return the path of responses under the base path."""
        tail = "/responses"
        return (Place(before=base_path if base_path.endswith(tail) else base_path + tail),)

    def hear(
        self, body: Mapping[str, Any], endpoint: Endpoint, query: Mapping[str, str]
    ) -> Ask | Refusal:
        """Return what the body asks; members of another protocol are refused."""
        limit = limit_of(body, "max_output_tokens")
        if isinstance(limit, Refusal):
            return limit
        reasoning = table_in(body, "reasoning")
        if isinstance(reasoning, Refusal):
            return reasoning
        refusal = unknown_in(body, _KNOWN) or _refuse(body, endpoint, limit)
        if refusal is not None:
            return refusal
        has_summary = reasoning.get("summary") is not None or endpoint.provider in _SUMS_UP
        include = body.get("include")
        return asked(
            endpoint,
            body.get("instructions"),
            body["input"],
            limit=limit,
            reasons=endpoint.reasons and reasoning.get("effort") != "none",
            shown=SUMMARY_SHARE if has_summary else 0.0,
            wants_usage=True,
            wants_sealed=isinstance(include, list) and "reasoning.encrypted_content" in include,
        )

    def voice(
        self, endpoint: Endpoint, ask: Ask, *, request_id: str, created: int
    ) -> ResponsesVoice:
        """Return the voice of one answer."""
        return ResponsesVoice(endpoint, ask, request_id, created)


def _refuse(body: Mapping[str, Any], endpoint: Endpoint, limit: int | None) -> Refusal | None:
    if not body.get("input") or not isinstance(body["input"], str | list):
        return refuse_body("input must be a text or a list of items.", param="input")
    if body.get("stream") is not True:
        return refuse_body("stream must be true: this simulated endpoint only streams.")
    if endpoint.provider != "openai":
        return None
    if limit is not None and limit < LEAST_LIMIT:
        return refuse_body(
            f"Invalid 'max_output_tokens': integer below minimum value of {LEAST_LIMIT}.",
            param="max_output_tokens",
            code="integer_below_min_value",
        )
    if endpoint.reasons and body.get("temperature") not in (None, 1):
        return refuse_body(
            "Unsupported parameter: 'temperature' is not supported with this model.",
            param="temperature",
            code="unsupported_parameter",
        )
    return None
