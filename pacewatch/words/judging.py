"""Limits of one's own by which an endpoint is judged."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Absolute limits and floors of an endpoint; None where there is none."""

    slow_ttft_s: float | None = None
    """Slower than this is slow, whatever is usual."""
    failing_ttft_s: float | None = None
    """Slower than this is as good as failed."""
    slow_tokens_per_s: float | None = None
    """Below so many tokens/s is slow."""
    floor_ttft_s: float | None = None
    """A first token within this time is nobody's trouble."""
    floor_tokens_per_s: float | None = None
    """So many tokens/s are nobody's trouble."""


NO_LIMITS = Limits()
