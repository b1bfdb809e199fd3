"""What providers say, taken with care: bounded words, whole counts, their timings in one form."""

import math
from functools import lru_cache
from typing import Any

from pacewatch.words.timing import Identity, ServerTimings

MAX_WORD = 120
MAX_COUNT = 1_000_000_000
MAX_NUMBER = 10**12
MAX_TOLD = 24
"""Of a provider's own timings: how many are kept, with names of at most MAX_NAME characters."""
MAX_NAME = 60


def word(told: object) -> str | None:
    """Return a name or code as one line; None for none, for too much, or for a structure."""
    if isinstance(told, bool) or not isinstance(told, str | int):
        return None
    text = " ".join(str(told).split())
    return text if 0 < len(text) <= MAX_WORD and text.isprintable() else None


def code_word(told: object) -> str | None:
    """Return an error's code; None as well where it says in words that there is none."""
    text = word(told)
    return None if text is None or text.casefold() in ("none", "null") else text


def identity(model: object, fingerprint: object, tier: object, request_id: object) -> Identity:
    """Return who answers; the same words give the same value, since most events repeat them."""
    return _identity(_short(model), _short(fingerprint), _short(tier), _short(request_id))


def _short(told: object) -> str | None:
    return told if isinstance(told, str) and len(told) <= MAX_WORD else None


@lru_cache(maxsize=64)
def _identity(
    model: str | None, fingerprint: str | None, tier: str | None, request_id: str | None
) -> Identity:
    return Identity(
        model=word(model),
        fingerprint=word(fingerprint),
        tier=word(tier),
        request_id=word(request_id),
    )


def count(told: object) -> int | None:
    """Return a number of tokens; None for what is not a whole number from 0."""
    if isinstance(told, float) and told.is_integer():
        told = int(told)
    if isinstance(told, bool) or not isinstance(told, int):
        return None
    return told if 0 <= told <= MAX_COUNT else None


def with_thoughts(
    asked: int | None, made: int | None, reasoning: int | None, total: int | None
) -> int | None:
    """Return all output tokens: those made, and the reasoning where that was told beside them.

    It was where it is more than all that was made, or where only so the total is right.
    """
    if not reasoning or asked is None or made is None:
        return made
    apart = made < reasoning or total == asked + made + reasoning
    return made + reasoning if apart else made


def number(told: object) -> float | None:
    """Return a finite number that is not negative, also where it is told as text; else None."""
    if isinstance(told, str):
        try:
            told = float(told)
        except ValueError:
            return None
    if isinstance(told, bool) or not isinstance(told, int | float):
        return None
    return float(told) if math.isfinite(told) and 0 <= told <= MAX_NUMBER else None


_SECONDS: dict[str, tuple[str, ...]] = {
    "queue_s": ("queue_time", "prefill-queue-duration"),
    "prompt_s": ("prompt_time", "prefill-duration"),
    "completion_s": ("completion_time", "completion_time_s", "generation-duration"),
    "total_s": ("total_time", "total_latency", "server-processing-time"),
    "ttft_s": ("time_to_first_token", "server-time-to-first-token"),
    "tokens_per_s": ("completion_tokens_after_first_per_sec", "completion_tokens_per_sec"),
}
"""The names that providers give their own timings, all in seconds or per second; the first told
counts.
"""

_NO_TIMES = frozenset({"prompt_tokens", "completion_tokens", "total_tokens"})


def timings(usage: object, *others: object) -> ServerTimings | None:
    """Return the provider's own timings; None where it told none.

    `usage` counts as such only where one of its members is a time; the others are times by their
    place.
    """
    told: dict[str, Any] = {}
    known = {name for names in _SECONDS.values() for name in names}
    if isinstance(usage, dict) and any(number(usage.get(name)) is not None for name in known):
        told |= {name: value for name, value in usage.items() if name not in _NO_TIMES}
    for other in others:
        if isinstance(other, dict):
            told |= other
    kept = [(name, value) for name, value in told.items() if _is_kept(name, value)]
    as_told = dict(kept[:MAX_TOLD])
    if not as_told:
        return None
    first = {
        field: next((n for name in names if (n := number(told.get(name))) is not None), None)
        for field, names in _SECONDS.items()
    }
    return ServerTimings(**first, as_told=as_told)


def _is_kept(name: str, value: object) -> bool:
    if len(name) > MAX_NAME or not name.isascii():
        return False
    if isinstance(value, str):
        return value.isascii() and word(value) is not None
    return isinstance(value, bool) or (
        isinstance(value, int | float) and math.isfinite(value) and abs(value) <= MAX_NUMBER
    )
