"""How providers that speak openai-chat differ: reasoning fields, usage, their own timings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pacewatch.sim.script import Ask
from pacewatch.sim.voices.interface import Account


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """One provider's habits."""

    provider: str = ""
    reasoning_fields: tuple[str, ...] = ("reasoning_content",)
    usage_with_finish: bool = False
    """True: usage stands in the chunk of the finish reason, asked for or not."""
    packs_last: bool = False
    """True: the last text, finish reason and usage come in one chunk."""
    filters: bool = False
    """True: the first chunk has no choice and tells of the prompt's filtering, and one before the
    last has a choice without a delta and tells of the answer's.
    """
    hides_reasoning: bool = False
    """True: no reasoning is streamed; it is billed."""
    null_usage: bool = False
    """True: where usage is asked for, every chunk has it, null in all but the last."""
    pads: bool = False
    """True: each chunk has noise that hides the length of its text."""
    trouble: str | None = None
    """Whose form an error inside an answer has; None: that of an event of its own."""
    comments: tuple[str, ...] = ()
    """Comment lines before the answer."""
    headers: Mapping[str, str] = field(default_factory=dict)

    def usage(self, account: Account) -> dict[str, Any]:
        """Return the usage object."""
        told: dict[str, Any] = {
            "prompt_tokens": account.prompt_tokens,
            "completion_tokens": account.output_tokens,
            "total_tokens": account.prompt_tokens + account.output_tokens,
        }
        if self.provider == "vertex":
            return told | {"extra_properties": {"google": {"traffic_type": "ON_DEMAND"}}}
        told["prompt_tokens_details"] = {"cached_tokens": account.cached_tokens}
        told["completion_tokens_details"] = {"reasoning_tokens": account.reasoning_tokens}
        more = _USAGE_EXTRAS.get(self.provider)
        return told | (more(account) if more else {})

    def timing_fields(
        self, account: Account, ask: Ask, request_id: str, usage: dict[str, Any]
    ) -> dict[str, Any]:
        """Return what the chunk of the finish reason says of the provider's own times."""
        if self.provider == "groq":
            return {"x_groq": {"id": request_id, "usage": usage}}
        if self.provider == "cerebras":
            return {"time_info": {**_queue_and_prompt(account), "created": 0}}
        if self.provider == "fireworks" and ask.wants_metrics:
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


def _hits(account: Account) -> dict[str, Any]:
    return {
        "prompt_cache_hit_tokens": account.cached_tokens,
        "prompt_cache_miss_tokens": account.prompt_tokens - account.cached_tokens,
    }


_USAGE_EXTRAS = {
    "groq": _queue_and_prompt,
    "sambanova": _speeds,
    "deepinfra": _cost,
    "deepseek": _hits,
}


def _perf_metrics(account: Account) -> dict[str, Any]:
    return {
        "prompt-tokens": account.prompt_tokens,
        "cached-prompt-tokens": account.cached_tokens,
        "server-time-to-first-token": round(account.ttft_s, 6),
        "server-processing-time": round(account.total_s, 6),
    }


_MANNERS: Mapping[str, Manner] = {
    manner.provider: manner
    for manner in (
        Manner(provider="azure", filters=True),
        Manner(provider="cerebras", reasoning_fields=("reasoning",), usage_with_finish=True),
        Manner(provider="deepinfra"),
        Manner(provider="deepseek", comments=("keep-alive",), usage_with_finish=True),
        Manner(provider="fireworks", usage_with_finish=True, packs_last=True),
        Manner(
            provider="groq",
            reasoning_fields=("reasoning",),
            trouble="groq",
            headers={
                "x-ratelimit-limit-requests": "14400",
                "x-ratelimit-remaining-requests": "14370",
                "x-ratelimit-reset-requests": "6s",
            },
        ),
        Manner(provider="openai", hides_reasoning=True, null_usage=True, pads=True),
        Manner(
            provider="openrouter",
            reasoning_fields=("reasoning",),
            comments=("OPENROUTER PROCESSING",),
            trouble="openrouter",
        ),
        Manner(provider="sambanova"),
        Manner(provider="stepfun", reasoning_fields=("reasoning", "reasoning_content")),
        Manner(provider="together", reasoning_fields=("reasoning",)),
        Manner(provider="vertex", usage_with_finish=True),
    )
}


def manner_of(provider: str) -> Manner:
    """Return the provider's habits; the ordinary ones where none are known."""
    return _MANNERS.get(provider) or Manner(provider=provider)
