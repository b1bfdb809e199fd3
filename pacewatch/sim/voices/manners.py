"""How providers that speak openai-chat differ: reasoning fields, usage, their own timings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pacewatch.sim.script import Ask
from pacewatch.sim.voices.interface import Account


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """One provider's habits."""

    reasoning_fields: tuple[str, ...] = ("reasoning_content",)
    timings: str | None = None
    """Whose form the provider's own timings have; None: it sends none."""
    usage_with_finish: bool = False
    """True: usage stands in the chunk of the finish reason, asked for or not."""
    packs_last: bool = False
    """True: the last text, finish reason and usage come in one chunk."""
    filters_prompt: bool = False
    """True: the first chunk has no choice and tells of the prompt's filtering."""
    comments: tuple[str, ...] = ()
    """Comment lines before the answer."""
    headers: Mapping[str, str] = field(default_factory=dict)

    def usage(self, account: Account) -> dict[str, Any]:
        """Return the usage object."""
        told: dict[str, Any] = {
            "prompt_tokens": account.prompt_tokens,
            "completion_tokens": account.output_tokens,
            "total_tokens": account.prompt_tokens + account.output_tokens,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": account.reasoning_tokens},
        }
        more = _USAGE_EXTRAS.get(self.timings or "")
        return told | (more(account) if more else {})

    def timing_fields(
        self, account: Account, ask: Ask, request_id: str, usage: dict[str, Any]
    ) -> dict[str, Any]:
        """Return what the chunk of the finish reason says of the provider's own times."""
        if self.timings == "groq":
            return {"x_groq": {"id": request_id, "usage": usage}}
        if self.timings == "cerebras":
            return {"time_info": {**_queue_and_prompt(account), "created": 0}}
        if self.timings == "fireworks" and ask.wants_metrics:
            return {"perf_metrics": _perf_metrics(account)}
        return {}


def _queue_and_prompt(account: Account) -> dict[str, Any]:
    return {
        "queue_time": round(account.queue_s, 6),
        "prompt_time": round(account.prompt_s, 6),
        "completion_time": round(account.completion_s, 6),
        "total_time": round(account.total_s, 6),
    }


def _speeds(account: Account) -> dict[str, Any]:
    after_first = max(account.output_tokens - 1, 0)
    return {
        "is_last_response": True,
        "time_to_first_token": round(account.ttft_s, 6),
        "total_latency": round(account.total_s, 6),
        "completion_tokens_per_sec": round(account.output_tokens / account.total_s, 3),
        "completion_tokens_after_first_per_sec": (
            round(after_first / account.completion_s, 3) if account.completion_s else None
        ),
        "total_tokens_per_sec": round(
            (account.prompt_tokens + account.output_tokens) / account.total_s, 3
        ),
    }


def _cost(account: Account) -> dict[str, Any]:
    micro = account.prompt_tokens * 0.04 + account.output_tokens * 0.17
    return {"estimated_cost": round(micro / 1e6, 9)}


_USAGE_EXTRAS = {"groq": _queue_and_prompt, "sambanova": _speeds, "deepinfra": _cost}


def _perf_metrics(account: Account) -> dict[str, Any]:
    return {
        "prompt-tokens": account.prompt_tokens,
        "cached-prompt-tokens": 0,
        "server-time-to-first-token": round(account.ttft_s, 6),
        "server-processing-time": round(account.total_s, 6),
    }


_ORDINARY = Manner()
_MANNERS: Mapping[str, Manner] = {
    "azure": Manner(filters_prompt=True),
    "cerebras": Manner(reasoning_fields=("reasoning",), timings="cerebras", usage_with_finish=True),
    "deepinfra": Manner(timings="deepinfra"),
    "deepseek": Manner(comments=("keep-alive",), usage_with_finish=True),
    "fireworks": Manner(timings="fireworks", usage_with_finish=True, packs_last=True),
    "groq": Manner(
        reasoning_fields=("reasoning",),
        timings="groq",
        headers={
            "x-ratelimit-limit-requests": "14400",
            "x-ratelimit-remaining-requests": "14370",
            "x-ratelimit-reset-requests": "6s",
        },
    ),
    "openrouter": Manner(reasoning_fields=("reasoning",), comments=("OPENROUTER PROCESSING",)),
    "sambanova": Manner(timings="sambanova"),
    "stepfun": Manner(reasoning_fields=("reasoning", "reasoning_content")),
    "together": Manner(reasoning_fields=("reasoning",)),
}


def manner_of(provider: str) -> Manner:
    """Return the provider's habits; the ordinary ones where none are known."""
    return _MANNERS.get(provider, _ORDINARY)
