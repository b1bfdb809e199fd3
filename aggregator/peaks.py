"""Where the schedule would meet a rate limit: the fullest minute of each, by plan. Pure.

A request counts at the moment of its slot, with its prompt and all its room for output, as most
providers count it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from aggregator.plan import Plan
from aggregator.schedule import slots_between
from pacewatch.words.endpoint import RateLimit
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import Slot
from pacewatch.words.spending import demand_of

MINUTE = timedelta(seconds=60)
LONGEST_LOOK_DAYS = 7
"""Rings that take longer to come round are looked at so far, days."""

_REFERENCE_DAY = datetime(2026, 1, 5, tzinfo=UTC)
"""Any day: the slots of a plan come again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """The fullest minute of one limit."""

    whose: str
    """A provider, for all its models together, or an endpoint."""
    unit: str
    """`requests` or `tokens`."""
    allowed: int
    """A minute."""
    source: str
    planned: int
    """In the fullest minute."""
    at: datetime
    """When that minute begins, on a day like any other."""

    @property
    def is_met(self) -> bool:
        """Tell whether more is planned than allowed."""
        return self.planned > self.allowed


def peaks_of(fleet: Fleet, plan: Plan) -> list[Peak]:
    """Return the fullest minute of each known rate limit, the tightest first."""
    limits = list(_limits(fleet))
    if fleet.simulated or not limits:
        return []
    rotation = max((ring.groups for ring in plan.rings.values()), default=1)
    span = timedelta(seconds=fleet.schedule.day_s * min(rotation, LONGEST_LOOK_DAYS))
    slots = slots_between(fleet, plan, _REFERENCE_DAY, _REFERENCE_DAY + span)
    found = [
        peak
        for whose, endpoints, limit in limits
        for peak in _peaks(fleet, whose, limit, [s for s in slots if s.endpoint in endpoints])
    ]
    return sorted(found, key=lambda peak: (-peak.planned / peak.allowed, peak.whose, peak.unit))


def _limits(fleet: Fleet) -> Iterator[tuple[str, frozenset[str], RateLimit]]:
    """Yield whose a limit is, the endpoints it is of, and the limit."""
    for provider, limit in fleet.rate_limits.items():
        members = frozenset(e.id for e in fleet.endpoints if e.provider == provider)
        if members:
            yield provider, members, limit
    for endpoint in fleet.endpoints:
        if endpoint.rate_limit is not None:
            yield endpoint.id, frozenset({endpoint.id}), endpoint.rate_limit


def _peaks(fleet: Fleet, whose: str, limit: RateLimit, slots: list[Slot]) -> Iterator[Peak]:
    asked = [
        (
            slot.slot_at,
            demand_of(
                fleet.catalog[slot.endpoint],
                fleet.workloads[slot.workload],
                fleet.schedule.requests(slot.load),
            ),
        )
        for slot in slots
    ]
    for unit, allowed, amounts in (
        ("requests", limit.requests_per_minute, [(at, one.requests) for at, one in asked]),
        ("tokens", limit.tokens_per_minute, [(at, one.tokens) for at, one in asked]),
    ):
        if allowed is not None and amounts:
            at, planned = fullest_minute(amounts)
            yield Peak(
                whose=whose,
                unit=unit,
                allowed=allowed,
                source=limit.source,
                planned=round(planned),
                at=at,
            )


def fullest_minute(amounts: Iterable[tuple[datetime, float]]) -> tuple[datetime, float]:
    """Return when the fullest minute begins, the first of several, and what lies in it.

    The amounts are in the order of their moments, at least one.
    """
    ordered = list(amounts)
    start, held = 0, 0.0
    best_at, best = ordered[0][0], 0.0
    for at, amount in ordered:
        held += amount
        while at - ordered[start][0] >= MINUTE:
            held -= ordered[start][1]
            start += 1
        if held > best:
            best_at, best = ordered[start][0], held
    return best_at, best
