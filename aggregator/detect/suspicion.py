"""A suspicion orders confirming probes, a few at a time, before anyone is told. Pure.

Soft (something slow): three rounds of two, one from the suspect region and one from another.
Hard (a failure): three at once, one from the suspect region and two from others; three more only
if one of those failed. Of the last few that a day allows a failure has one, and three more at once
where that fails too: failures that stand alone may not spend what an outage needs.
"""

from dataclasses import dataclass

from aggregator.detect.rules import MOST_ORDERED

SOFT_ROUND_S = 1_200
HARD_ROUND_S = 600
ENDS_AFTER_S = 7_200

FEW = 9
"""Of so many that a day still allows, a failure has one at first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A confirming probe that should go out now: workload, load `single`."""

    region: str
    workload: str


@dataclass(slots=True)
class Suspicion:
    """One suspicion, from its start until it is confirmed, cleared or left unconfirmed."""

    since: float
    region: str
    workload: str
    hard: bool
    ordered: int = 0
    due_at: float | None = None
    """When the next round goes out; None: none is due."""
    good: int = 0
    """Confirming probes that came back good, since the last failure."""
    over: bool = False
    """It was left unconfirmed, and is kept so that it does not begin anew at once."""


def next_round(
    suspicion: Suspicion, regions: tuple[str, ...], now: float, *, gap_s: float, allowed: int
) -> list[Order]:
    """Return the round that is due, at most as many as are allowed; plans the one after it.

    Regions are those that answer; where the suspect one does not, the others are asked alone.
    """
    if suspicion.over or suspicion.due_at is None or now < suspicion.due_at:
        return []
    size = 3 if suspicion.hard else 2
    if suspicion.hard and not suspicion.ordered and allowed <= FEW:
        size = 1
    size = max(min(size, MOST_ORDERED - suspicion.ordered, allowed), 0) if regions else 0
    first = suspicion.ordered - suspicion.ordered // 3
    suspect = [region for region in regions if region == suspicion.region][:size]
    others = [region for region in regions if region != suspicion.region] or suspect
    asked = suspect + [others[(first + k) % len(others)] for k in range(size - len(suspect))]
    suspicion.ordered += size
    is_last = not size or suspicion.ordered >= MOST_ORDERED or suspicion.hard
    suspicion.due_at = None if is_last else now + gap_s
    return [Order(region=region, workload=suspicion.workload) for region in asked]
