"""Speaks openai-chat, each provider in its own manner."""

from collections.abc import Mapping
from typing import Any

from pacewatch.sim.error_forms import openai_error
from pacewatch.sim.refusals import Refusal, refuse_body
from pacewatch.sim.script import Ask, Piece
from pacewatch.sim.sse import HOLE, EventFraming, Template, comment, data_event, hole
from pacewatch.sim.voices.body import asked, limit_of
from pacewatch.sim.voices.interface import Account, Framing, Place, Stop
from pacewatch.sim.voices.manners import Manner, manner_of
from pacewatch.words.endpoint import Endpoint

_DONE = b"data: [DONE]\n\n"
_STOPS = {Stop.END: "stop", Stop.LIMIT: "length", Stop.FILTER: "content_filter"}
_FILTERED = {"hate": {"filtered": False, "severity": "safe"}}
_NAMELESS = {"id": "", "object": "", "created": 0, "model": ""}
_NOISE = "8sHkTq3XvB7mZ0cLw9Rf2YpJ"
"""What hides the length of a piece."""


class OpenAIChatVoice:
    """One answer of chat.completion.chunk events."""

    def __init__(self, endpoint: Endpoint, ask: Ask, request_id: str, created: int) -> None:
        """Speak for the endpoint, in its provider's manner."""
        self._manner: Manner = manner_of(endpoint.provider)
        self._ask = ask
        self._request_id = request_id
        self._head: dict[str, Any] = {
            "id": f"chatcmpl-{request_id}",
            "object": "chat.completion.chunk",
            "created": created,
            "model": endpoint.provider_model,
            "system_fingerprint": "fp_simulated",
        }
        if self._manner.null_usage and ask.wants_usage:
            self._head["usage"] = None
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
        if manner.filters:
            results = [{"prompt_index": 0, "content_filter_results": _FILTERED}]
            said += data_event({**_NAMELESS, "choices": [], "prompt_filter_results": results})
        role = self._choice({"role": "assistant", "content": ""})
        if manner.provider == "groq":
            role["x_groq"] = {"id": self._request_id}
        return said + data_event(role)

    def piece(self, piece: Piece) -> bytes:
        """Return the chunk; nothing where it goes out with the end."""
        if piece.is_last and self._manner.packs_last:
            fields = self._manner.reasoning_fields if piece.is_reasoning else ("content",)
            self._held = dict.fromkeys(fields, piece.text)
            return b""
        template = self._reasoning if piece.is_reasoning else self._answer
        if not self._manner.pads:
            return template.fill(piece.text)
        return template.fill(piece.text, _NOISE[: max(1, 16 - len(piece.text))])

    def closing(self, account: Account) -> bytes:
        """Return the finish reason, usage where it was asked for, and [DONE]."""
        finish = self._choice(self._held or {}, finish=_STOPS[account.stop])
        usage = self._manner.usage(account)
        timings = self._manner.timing_fields(account, self._ask, self._request_id, usage)
        if self._manner.usage_with_finish:
            return data_event({**finish, "usage": usage, **timings}) + _DONE
        said = self._looked_at() + data_event({**finish, **timings})
        if self._ask.wants_usage:
            said += data_event({**self._head, "choices": [], "usage": usage})
        return said + _DONE

    def trouble(self, refusal: Refusal) -> bytes:
        """Return the error: in place of a chunk, or in one in the manner of the provider."""
        error = openai_error(self._manner.provider, refusal)
        if self._manner.trouble == "groq":
            told = {"id": self._request_id, "error": refusal.message}
            return data_event({**self._choice({}), "x_groq": told})
        if self._manner.trouble == "openrouter":
            return data_event({**self._choice({"content": ""}, finish="error"), "error": error})
        return data_event({"error": error})

    def _looked_at(self) -> bytes:
        """Return what a filter that looks at the answer as it goes tells of its last part."""
        if not self._manner.filters:
            return b""
        choice = {
            "index": 0,
            "finish_reason": None,
            "content_filter_results": _FILTERED,
            "content_filter_offsets": {"check_offset": 0, "start_offset": 0, "end_offset": 0},
        }
        return data_event({**_NAMELESS, "choices": [choice]})

    def _template(self, *fields: str) -> Template:
        chunk = self._choice(dict.fromkeys(fields, HOLE))
        if self._manner.pads:
            chunk["obfuscation"] = hole(1)
        return Template(data_event(chunk))

    def _choice(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**self._head, "choices": [choice]}


class OpenAIChatSpeaker:
    """The protocol openai-chat."""

    framing: Framing = EventFraming()

    def places(self, base_path: str, provider: str) -> tuple[Place, ...]:
        """Return the path of chat completions; Azure has a second one that names the deployment."""
        tail = "/chat/completions"
        here = Place(before=base_path if base_path.endswith(tail) else base_path + tail)
        if provider != "azure" or not base_path.endswith("/openai/v1"):
            return (here,)
        before = base_path.removesuffix("v1") + "deployments/"
        return (here, Place(before=before, after=tail, needs="api-version"))

    def hear(
        self, body: Mapping[str, Any], endpoint: Endpoint, query: Mapping[str, str]
    ) -> Ask | Refusal:
        """Return what the body asks; stream must be true."""
        limit = limit_of(body, "max_completion_tokens", "max_tokens")
        if isinstance(limit, Refusal):
            return limit
        if not isinstance(body.get("messages"), list) or not body["messages"]:
            return refuse_body("messages must be a list of at least one message.")
        if body.get("stream") is not True:
            return refuse_body("stream must be true: this simulated endpoint only streams.")
        options = body.get("stream_options")
        return asked(
            endpoint,
            body["messages"],
            limit=limit,
            reasons=endpoint.reasons,
            shown=0.0 if manner_of(endpoint.provider).hides_reasoning else 1.0,
            wants_usage=isinstance(options, dict) and options.get("include_usage") is True,
            wants_metrics=body.get("perf_metrics_in_response") is True,
        )

    def voice(
        self, endpoint: Endpoint, ask: Ask, *, request_id: str, created: int
    ) -> OpenAIChatVoice:
        """Return the voice of one answer."""
        return OpenAIChatVoice(endpoint, ask, request_id, created)
