"""The chat completions protocol, as OpenAI wrote it and as its many speakers vary it.

Only the choice with index 0 is read. Reasoning goes by several names, sometimes two at once; each
delta counts once. Usage may stand beside the choices, inside one, or under `x_groq`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pacewatch.words.endpoint import Endpoint
from pacewatch.words.timing import ANSWER, REASONING, TOOL, ProviderTokens
from probe.protocols.event import event_of, fault_in, fault_of_plain, is_done
from probe.protocols.foreign import count, identity, timings, with_thoughts, word
from probe.protocols.interface import Chunk, End, Finish, Frame, Piece, StreamFault, Usage
from probe.protocols.sse import EventStream

_REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
"""A provider that mirrors its reasoning uses two of them in one delta; the first that holds text
counts.
"""

_CACHED_GROUPS = ("prompt_tokens_details", "input_tokens_details")
_CACHED_NAMES = ("prompt_cache_hit_tokens", "cache_read_input_tokens", "num_cached_tokens")
"""Where the prompt's cached part is told."""

_TRUNCATED = frozenset({"length", "max_tokens", "model_length", "max_output_tokens"})
_FILTERED = frozenset({"content_filter", "content_filtered", "safety", "moderation"})


class OpenAIChat:
    """`POST /chat/completions` with `stream: true`."""

    def path(self, endpoint: Endpoint) -> str:
        """Return what comes after the endpoint's base URL."""
        return "/chat/completions"

    def headers(self, endpoint: Endpoint) -> Mapping[str, str]:
        """Return no headers: the protocol asks for none."""
        return {}

    def body(self, endpoint: Endpoint, prompt: str, output_tokens: int) -> dict[str, Any]:
        """Return the request's body.

        An endpoint's own members win. `max_completion_tokens = true` puts the limit under that
        name, and a member set to false is left out (`stream_options`, for a server that refuses
        it).
        """
        body: dict[str, Any] = {
            "model": endpoint.provider_model,
            "messages": [{"role": "user", "content": prompt}],
            "max_tokens": output_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        own = dict(endpoint.body)
        if own.get("max_completion_tokens") is True:
            own["max_completion_tokens"] = body.pop("max_tokens")
        body |= own
        return {
            name: value
            for name, value in body.items()
            if name not in ("stream_options", "max_tokens") or value is not False
        }

    def framing(self) -> EventStream:
        """Return a fresh event stream."""
        return EventStream()

    def read(self, frame: Frame) -> Sequence[Piece]:
        """Return what an event holds."""
        if is_done(frame):
            return (End(is_last=True),)
        event = event_of(frame)
        if event is None:
            return ()
        fault = fault_in(event, frame.name)
        return _pieces(event) if fault is None else (fault,)

    def read_whole(self, body: bytes) -> Sequence[Piece]:
        """Return the error of a plain JSON body; raises MalformedAnswer for anything else."""
        return (fault_of_plain(body),)


def _pieces(event: dict[str, Any]) -> list[Piece]:
    pieces: list[Piece] = []
    choices = event.get("choices")
    choice = _choice(choices) if choices else None
    if choice is not None:
        delta = choice.get("delta", choice.get("message"))
        if isinstance(delta, dict):
            _read_delta(delta, pieces)
        if finish := choice.get("finish_reason") or (choice.get("error") and "error"):
            pieces += _end(finish, choice)
    _read_told(event, choice, pieces)
    return pieces


def _choice(choices: object) -> dict[str, Any] | None:
    if not isinstance(choices, list):
        return None
    for choice in choices:
        if isinstance(choice, dict) and choice.get("index", 0) in (0, None):
            return choice
    return None


def _end(finish: object, choice: dict[str, Any]) -> Sequence[Piece]:
    told = word(finish)
    if told == "error":
        return (fault_in(choice, "") or StreamFault(code=told),)
    why = Finish(word=told, is_truncated=told in _TRUNCATED, is_filtered=told in _FILTERED)
    return (why, End())


def _read_delta(delta: dict[str, Any], pieces: list[Piece]) -> None:
    """Add the chunks of a delta, one a kind, reasoning first."""
    answer = delta.get("content")
    reasoning = ""
    for field in _REASONING_FIELDS:
        if (told := delta.get(field)) and (reasoning := _text(told)):
            break
    if not reasoning and (details := delta.get("reasoning_details")):
        reasoning = _text(details)
    if answer and not isinstance(answer, str):
        thought, answer = _parts(answer)
        reasoning = reasoning or thought
    if not answer and isinstance(refusal := delta.get("refusal"), str):
        answer = refusal
    if reasoning:
        pieces.append(Chunk(kind=REASONING, text=reasoning))
    if answer:
        pieces.append(Chunk(kind=ANSWER, text=answer))
    if (calls := delta.get("tool_calls") or delta.get("function_call")) and (
        called := _called(calls)
    ):
        pieces.append(Chunk(kind=TOOL, text=called))


def _text(told: object) -> str:
    """Return the text of a string, of a part, or of a list of parts; no signature, no cipher."""
    if isinstance(told, str):
        return told
    if isinstance(told, list):
        return "".join(_text(part) for part in told)
    if isinstance(told, dict):
        return _text(told.get("text") or told.get("summary") or told.get("content"))
    return ""


def _parts(content: object) -> tuple[str, str]:
    """Return the reasoning and the answer of a content that is a list of parts."""
    reasoning, answer = "", ""
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            answer += part
        elif isinstance(part, dict):
            kind = part.get("type")
            if isinstance(kind, str) and ("think" in kind or "reason" in kind):
                reasoning += _text(part.get(kind) or part)
            else:
                answer += _text(part.get("text"))
    return reasoning, answer


def _called(calls: object) -> str:
    """Return the names and arguments of tool calls; their ids are not generated."""
    text = ""
    for call in calls if isinstance(calls, list) else [calls]:
        if isinstance(call, dict):
            function = call.get("function") or call.get("custom") or call
            if isinstance(function, dict):
                for field in ("name", "arguments", "input"):
                    if isinstance(told := function.get(field), str):
                        text += told
    return text


def _read_told(event: dict[str, Any], choice: dict[str, Any] | None, pieces: list[Piece]) -> None:
    """Add what the event tells of its maker, of tokens and of the provider's own times."""
    groq = event.get("x_groq")
    usage = event.get("usage") or (choice.get("usage") if choice else None)
    if not usage and isinstance(groq, dict):
        usage = groq.get("usage")
    if isinstance(usage, dict):
        pieces.append(Usage(tokens=_tokens(usage, event)))
    times = (event.get("time_info"), event.get("perf_metrics"))
    if (usage or any(times)) and (found := timings(usage, *times)):
        pieces.append(found)
    pieces.append(
        identity(
            event.get("model"),
            event.get("system_fingerprint"),
            event.get("service_tier"),
            event.get("id"),
        )
    )


def _tokens(usage: dict[str, Any], event: dict[str, Any]) -> ProviderTokens:
    """Return the usage in one form: input with cached parts, output with thoughts."""
    asked, made, total = (
        count(usage.get("prompt_tokens")),
        count(usage.get("completion_tokens")),
        count(usage.get("total_tokens")),
    )
    reasoning = _detail(usage, "completion_tokens_details", "reasoning_tokens")
    return ProviderTokens(
        input=asked,
        output=with_thoughts(asked, made, reasoning, total),
        reasoning=reasoning,
        cached_input=_cached(usage, event.get("perf_metrics")),
    )


def _cached(usage: dict[str, Any], perf: object) -> int | None:
    """Return the cached part of the prompt, by whichever name tells the most of it."""
    told = [_detail(usage, group, "cached_tokens") for group in _CACHED_GROUPS]
    told += [count(usage.get(name)) for name in _CACHED_NAMES]
    if isinstance(perf, dict):
        told.append(count(perf.get("cached-prompt-tokens")) or None)
    return max((tokens for tokens in told if tokens is not None), default=None)


def _detail(usage: dict[str, Any], group: str, name: str) -> int | None:
    details = usage.get(group)
    told = count(details.get(name)) if isinstance(details, dict) else None
    return count(usage.get(name)) if told is None else told
