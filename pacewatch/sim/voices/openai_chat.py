"""Speaks openai-chat, each provider in its own manner."""

from collections.abc import Mapping
from typing import Any

from pacewatch.sim.refusals import Refusal, refuse_body
from pacewatch.sim.script import Ask, Piece, count_prompt_tokens
from pacewatch.sim.sse import HOLE, Template, comment, data_event
from pacewatch.sim.voices.body import limit_of, texts_in
from pacewatch.sim.voices.interface import Account
from pacewatch.sim.voices.manners import Manner, manner_of
from pacewatch.words.endpoint import Endpoint

_DONE = b"data: [DONE]\n\n"
_FILTERED = {"hate": {"filtered": False, "severity": "safe"}}


class OpenAIChatVoice:
    """One answer of chat.completion.chunk events."""

    def __init__(self, endpoint: Endpoint, ask: Ask, request_id: str, created: int) -> None:
        """Speak for the endpoint, in its provider's manner."""
        self._manner: Manner = manner_of(endpoint.provider)
        self._ask = ask
        self._request_id = request_id
        self._head = {
            "id": f"chatcmpl-{request_id}",
            "object": "chat.completion.chunk",
            "created": created,
            "model": endpoint.provider_model,
            "system_fingerprint": "fp_simulated",
        }
        self._held: dict[str, Any] | None = None
        self._answer = self._template("content")
        self._reasoning = self._template(*self._manner.reasoning_fields)

    def headers(self) -> Mapping[str, str]:
        """Return the headers of the answer."""
        return {"x-request-id": self._request_id, **self._manner.headers}

    def opening(self) -> bytes:
        """Return what comes before any text: comments, filter results, the role."""
        manner = self._manner
        said = b"".join(comment(text) for text in manner.comments)
        if manner.filters_prompt:
            results = [{"prompt_index": 0, "content_filter_results": _FILTERED}]
            empty = {"id": "", "object": "", "created": 0, "model": "", "choices": []}
            said += data_event({**empty, "prompt_filter_results": results})
        role = self._choice({"role": "assistant", "content": ""})
        if manner.timings == "groq":
            role["x_groq"] = {"id": self._request_id}
        return said + data_event(role)

    def piece(self, piece: Piece) -> bytes:
        """Return the chunk; nothing where it goes out with the end."""
        if piece.is_last and self._manner.packs_last:
            fields = self._manner.reasoning_fields if piece.is_reasoning else ("content",)
            self._held = dict.fromkeys(fields, piece.text)
            return b""
        return (self._reasoning if piece.is_reasoning else self._answer).fill(piece.text)

    def closing(self, account: Account) -> bytes:
        """Return the finish reason, usage where it was asked for, and [DONE]."""
        finish = self._choice(self._held or {}, finish="length" if account.is_cut else "stop")
        usage = self._manner.usage(account)
        timings = self._manner.timing_fields(account, self._ask, self._request_id, usage)
        if self._manner.usage_with_finish:
            return data_event({**finish, "usage": usage, **timings}) + _DONE
        said = data_event({**finish, **timings})
        if self._ask.wants_usage:
            said += data_event({**self._head, "choices": [], "usage": usage})
        return said + _DONE

    def _template(self, *fields: str) -> Template:
        return Template(data_event(self._choice(dict.fromkeys(fields, HOLE))))

    def _choice(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**self._head, "choices": [choice]}


class OpenAIChatSpeaker:
    """The protocol openai-chat."""

    def path(self, base_path: str) -> str:
        """Return the path of chat completions under the base path."""
        tail = "/chat/completions"
        return base_path if base_path.endswith(tail) else base_path + tail

    def hear(self, body: Mapping[str, Any], endpoint: Endpoint) -> Ask | Refusal:
        """Return what the body asks; stream must be true."""
        limit = limit_of(body, "max_completion_tokens", "max_tokens")
        if isinstance(limit, Refusal):
            return limit
        if not isinstance(body.get("messages"), list) or not body["messages"]:
            return refuse_body("messages must be a list of at least one message.")
        if body.get("stream") is not True:
            return refuse_body("stream must be true: this simulated endpoint only streams.")
        options = body.get("stream_options")
        return Ask(
            model=endpoint.provider_model,
            prompt_tokens=count_prompt_tokens("".join(texts_in(body["messages"]))),
            max_tokens=limit,
            reasons=endpoint.reasons,
            room_tokens=endpoint.reasoning_tokens,
            wants_usage=isinstance(options, dict) and options.get("include_usage") is True,
            wants_metrics=body.get("perf_metrics_in_response") is True,
        )

    def voice(
        self, endpoint: Endpoint, ask: Ask, *, request_id: str, created: int
    ) -> OpenAIChatVoice:
        """Return the voice of one answer."""
        return OpenAIChatVoice(endpoint, ask, request_id, created)
