"""A suspicion orders confirming probes, a few at a time, before anyone is told. Pure.

Soft (something slow): three rounds of two, one from the suspect region and one from another.
Hard (a failure): at most three at once, one from the suspect region and two from others; three more
if one of those failed. The less a day still allows the fewer there are at first, two and at last
one: failures that stand alone may not spend what an outage needs.

However many go out, from two on a third to two thirds of them are from the suspect region. One
alone goes there: where it fails the trouble stands, and where it is well there is none known
anywhere. From another region it would be well too where the trouble is of one region, and would
clear it. What is slow is not asked about by one alone.
"""

from dataclasses import dataclass
from itertools import cycle

from aggregator.detect.rules import MOST_ORDERED

SOFT_ROUND_S = 1_200
HARD_ROUND_S = 600
ENDS_AFTER_S = 7_200

SHARE = 12
"""A failure has one at first, and one more for each so many that a day still allows."""

_OWN = (0, 3, 5)
"""Which of the six are from the suspect region: any first two or more of them are so by a third to
two thirds.
"""


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
    size = _size(suspicion, allowed) if regions else 0
    asked = _asked(suspicion, regions)[suspicion.ordered :][:size]
    suspicion.ordered += size
    is_last = not size or suspicion.ordered >= MOST_ORDERED or suspicion.hard
    suspicion.due_at = None if is_last else now + gap_s
    return [Order(region=region, workload=suspicion.workload) for region in asked]


def _size(suspicion: Suspicion, allowed: int) -> int:
    """Return how many go out in a round."""
    left = max(min(MOST_ORDERED - suspicion.ordered, allowed), 0)
    if not suspicion.hard:
        return 2 if left > 1 else 0
    return min(3 if suspicion.ordered else 1 + allowed // SHARE, 3, left)


def _asked(suspicion: Suspicion, regions: tuple[str, ...]) -> list[str]:
    """Return the regions of all six."""
    own = suspicion.region
    others = cycle([region for region in regions if region != own] or [own])
    return [
        own if place in _OWN and own in regions else next(others) for place in range(MOST_ORDERED)
    ]
