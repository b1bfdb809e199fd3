"""What runs ask of a provider, and the most that may be asked of it. Pure."""

from dataclasses import dataclass

from pacewatch.words.endpoint import Endpoint
from pacewatch.words.slot import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What one run, or many of them, ask for."""

    requests: float
    tokens: float
    """In and out, room for reasoning included."""
    usd: float | None
    """None: no price is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """The most that may be asked for a day; None: no cap."""

    requests_per_day: float | None = None
    tokens_per_day: float | None = None
    usd_per_day: float | None = None

    def share(self, parts: int) -> "Caps":
        """Return the caps of one of so many equal parts."""
        return Caps(
            requests_per_day=_part(self.requests_per_day, parts),
            tokens_per_day=_part(self.tokens_per_day, parts),
            usd_per_day=_part(self.usd_per_day, parts),
        )


def demand_of(endpoint: Endpoint, workload: Workload, requests: int) -> Demand:
    """Return what a run asks for at most: its prompts, and all room for output used."""
    output = workload.output_tokens + endpoint.reasoning_tokens
    usd = None
    if (price := endpoint.price) is not None:
        millionths = workload.input_tokens * price.input_usd + output * price.output_usd
        usd = requests * millionths / 1_000_000
    return Demand(requests=requests, tokens=requests * (workload.input_tokens + output), usd=usd)


def _part(cap: float | None, parts: int) -> float | None:
    return None if cap is None else cap / max(1, parts)
