"""The plan: how often each endpoint is probed, what that asks of it, and what it costs. Pure.

Where the fleet would cost more than its cap, whole slots are left out, evenly over the day; a cap
that is met at noon would leave the afternoons out of every median.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil

from aggregator.ring import Ring, lay_rings
from pacewatch.words.endpoint import Endpoint
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import Load, Workload

DAY_S = 86_400
MONTH_DAYS = 30
LONGEST_PAUSE_DAYS = 30
"""An endpoint that could only be probed more seldom is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often slots come, of one load of each of an endpoint's series."""

    per_day: int
    """On a day that has any."""
    every_days: int = 1
    """Of so many days, one has slots; the series take turns."""

    @property
    def mean(self) -> float:
        """Slots a day on the mean."""
        return self.per_day / self.every_days


Rates = tuple[Rate, Rate]
"""Of single and of parallel slots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What the plan asks of one endpoint, over all regions and workloads; a day has 24 hours."""

    endpoint: str
    provider: str
    single: Rate
    parallel: Rate
    requests_per_day: float
    input_tokens_per_day: float
    output_tokens_per_day: float
    """Reasoning room included."""
    usd_per_day: float | None
    """None: no price is known; it counts as nothing."""
    asked_usd_per_day: float | None
    """Of the schedule as the file sets it, before thinning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Rates, rings and sums of a fleet."""

    rows: Mapping[str, Row]
    """By endpoint."""
    rings: Mapping[str, Ring]
    """By provider."""
    cap_usd_per_day: float

    @property
    def usd_per_day(self) -> float:
        """What is expected to be spent a day."""
        return sum(row.usd_per_day or 0.0 for row in self.rows.values())

    @property
    def asked_usd_per_day(self) -> float:
        """What the schedule would cost without the cap."""
        return sum(row.asked_usd_per_day or 0.0 for row in self.rows.values())

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Endpoints without a known price."""
        return tuple(row.endpoint for row in self.rows.values() if row.usd_per_day is None)


def run_cost_usd(endpoint: Endpoint, workload: Workload, requests: int) -> float | None:
    """Return what a run is expected to cost, all room for output used; None without a price."""
    if endpoint.price is None:
        return None
    output = workload.output_tokens + endpoint.reasoning_tokens
    millionths = workload.input_tokens * endpoint.price.input_usd
    millionths += output * endpoint.price.output_usd
    return requests * millionths / 1_000_000


def make_plan(fleet: Fleet) -> Plan:
    """Return the plan of a fleet, thinned to its cap and to what its rings hold."""
    rings = lay_rings(fleet)
    asked = {e.id: _asked(fleet, rings[e.provider]) for e in fleet.endpoints}
    ladders = {
        e.id: _ladder(fleet, e, *asked[e.id]) for e in fleet.endpoints if e.price is not None
    }
    steps = _thin(ladders, fleet.spending.usd_per_day)
    rates = {key: (ladders[key][steps[key]].rates if key in steps else asked[key]) for key in asked}
    return Plan(
        rows={e.id: _row(fleet, e, asked[e.id], rates[e.id]) for e in fleet.endpoints},
        rings=rings,
        cap_usd_per_day=fleet.spending.usd_per_day,
    )


def _asked(fleet: Fleet, ring: Ring) -> Rates:
    return (
        Rate(per_day=fleet.schedule.single_per_day),
        Rate(per_day=ring.turns, every_days=ring.groups),
    )


def _slot_usd(fleet: Fleet, endpoint: Endpoint) -> tuple[float, float]:
    """Return what one slot a day of each load, of every series of an endpoint, costs a day."""
    series = len(fleet.regions) * DAY_S / fleet.schedule.day_s
    single, parallel = (
        series
        * sum(
            run_cost_usd(endpoint, fleet.workloads[name], fleet.schedule.requests(load)) or 0.0
            for name in fleet.schedule.workloads
        )
        for load in (Load.SINGLE, Load.PARALLEL)
    )
    return single, parallel


def _day_usd(rates: Rates, slot_usd: tuple[float, float]) -> float:
    return rates[0].mean * slot_usd[0] + rates[1].mean * slot_usd[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    rates: Rates
    usd: float


def _ladder(fleet: Fleet, endpoint: Endpoint, single: Rate, parallel: Rate) -> list[_Step]:
    """Return ever thinner rates: singles to half, then one parallel slot less, and so on.

    Verdicts stand on the singles, and a parallel slot costs as much as ten of them; so when the
    last parallel slot is gone the singles begin anew, down to one in LONGEST_PAUSE_DAYS.
    """
    most = single.per_day
    ladder = [
        (Rate(per_day=singles), Rate(per_day=left, every_days=parallel.every_days))
        for left in range(parallel.per_day, 0, -1)
        for singles in range(most, ceil(most / 2) - 1, -1)
    ]
    none = Rate(per_day=0)
    ladder += [(Rate(per_day=singles), none) for singles in range(most, 0, -1)]
    if most:
        ladder += [
            (Rate(per_day=1, every_days=days), none) for days in range(2, LONGEST_PAUSE_DAYS + 1)
        ]
    if not ladder or ladder[-1] != (none, none):
        ladder.append((none, none))
    slot_usd = _slot_usd(fleet, endpoint)
    steps: list[_Step] = []
    for rates in ladder:
        usd = _day_usd(rates, slot_usd)
        if not steps or usd < steps[-1].usd:
            steps.append(_Step(rates=rates, usd=usd))
    return steps


def _thin(ladders: Mapping[str, list[_Step]], cap_usd: float) -> dict[str, int]:
    """Return the step of each ladder at which all together fit the cap; the dearest are thinned
    first.
    """
    level = _level([ladder[0].usd for ladder in ladders.values()], cap_usd)
    steps = {
        key: next((n for n, step in enumerate(ladder) if step.usd <= level), len(ladder) - 1)
        for key, ladder in ladders.items()
    }
    total = sum(ladders[key][n].usd for key, n in steps.items())
    moved = True
    while moved:  # what rounding to whole slots left over is given back, in the order of the ids
        moved = False
        for key in sorted(steps):
            ladder, n = ladders[key], steps[key]
            if n and total - ladder[n].usd + ladder[n - 1].usd <= cap_usd:
                total += ladder[n - 1].usd - ladder[n].usd
                steps[key] = n - 1
                moved = True
    return steps


def _level(costs: Iterable[float], cap_usd: float) -> float:
    """Return the most that one endpoint may cost, so that all of them keep to the cap."""
    left, ordered = cap_usd, sorted(costs)
    for n, cost in enumerate(ordered):
        share = left / (len(ordered) - n)
        if cost > share:
            return share
        left -= cost
    return float("inf")


def _row(fleet: Fleet, endpoint: Endpoint, asked: Rates, rates: Rates) -> Row:
    requests, into, out = 0.0, 0.0, 0.0
    for load, rate in zip((Load.SINGLE, Load.PARALLEL), rates, strict=True):
        for name in fleet.schedule.workloads:
            workload = fleet.workloads[name]
            sent = rate.mean * fleet.schedule.requests(load) * len(fleet.regions)
            sent *= DAY_S / fleet.schedule.day_s
            requests += sent
            into += sent * workload.input_tokens
            out += sent * (workload.output_tokens + endpoint.reasoning_tokens)
    slot_usd = None if endpoint.price is None else _slot_usd(fleet, endpoint)
    return Row(
        endpoint=endpoint.id,
        provider=endpoint.provider,
        single=rates[0],
        parallel=rates[1],
        requests_per_day=requests,
        input_tokens_per_day=into,
        output_tokens_per_day=out,
        usd_per_day=None if slot_usd is None else _day_usd(rates, slot_usd),
        asked_usd_per_day=None if slot_usd is None else _day_usd(asked, slot_usd),
    )
