"""The plan: how often each endpoint is probed, what that asks of it, and what it costs. Pure.

Where the fleet would ask for more than its caps, whole slots are left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from aggregator.ring import Ring, lay_rings
from aggregator.thin import Amounts, Cap, Ladder, MetCap, Rate, Rates, Unit, steps_of, thin
from pacewatch.words.endpoint import Endpoint
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import SENTINEL, Load
from pacewatch.words.spending import Caps, Demand, demand_of

DAY_S = 86_400
MONTH_DAYS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What the plan asks of one endpoint, over all regions and workloads; a day has 24 hours."""

    endpoint: str
    provider: str
    single: Rate
    parallel: Rate
    sentinel_s: int = 0
    """Between two sentinels, from one region after another, seconds; 0: none."""
    asked_sentinel_s: int = 0
    """Before thinning."""
    requests_per_day: float
    asked_requests_per_day: float
    """Of the schedule as the file sets it, before thinning."""
    input_tokens_per_day: float
    output_tokens_per_day: float
    """Reasoning room included."""
    usd_per_day: float | None
    """None: no price is known; it counts as nothing."""
    asked_usd_per_day: float | None
    """Before thinning."""
    sentinel_usd_per_day: float | None = None
    """Of its sentinels alone."""

    @property
    def sentinels_per_day(self) -> float:
        """Return how many sentinels come in 24 hours."""
        return sentinels_per_day(self.sentinel_s)

    @property
    def is_thinned(self) -> bool:
        """Tell whether a cap took slots from the endpoint."""
        return self.requests_per_day < self.asked_requests_per_day


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Rates, rings and sums of a fleet."""

    rows: Mapping[str, Row]
    """By endpoint."""
    rings: Mapping[str, Ring]
    """By provider."""
    cap_usd_per_day: float
    met: tuple[MetCap, ...]
    """The caps for which slots were left out."""

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


def make_plan(fleet: Fleet) -> Plan:
    """Return the plan of a fleet, thinned to its caps and to what its rings hold."""
    rings = lay_rings(fleet)
    asked = {e.id: _asked(fleet, e, rings[e.provider]) for e in fleet.endpoints}
    ladders = {
        e.id: Ladder(provider=e.provider, steps=steps_of(asked[e.id], _Asking(fleet, e).amounts))
        for e in fleet.endpoints
    }
    steps, met = thin(ladders, _caps(fleet))
    return Plan(
        rows={
            e.id: _row(_Asking(fleet, e), asked[e.id], steps[e.id].rates) for e in fleet.endpoints
        },
        rings=rings,
        cap_usd_per_day=fleet.spending.usd_per_day,
        met=met,
    )


def sentinels_per_day(sentinel_s: int, day_s: int = DAY_S) -> float:
    """Return how many sentinels so far apart come in a day."""
    return day_s / sentinel_s if sentinel_s else 0.0


def _caps(fleet: Fleet) -> list[Cap]:
    """Return the caps that the plan keeps to, those of single providers first."""
    sets: list[tuple[str | None, Caps]] = [*sorted(fleet.spending.providers.items())]
    sets.append((None, fleet.spending.caps))
    units: tuple[Unit, ...] = ("requests", "tokens", "usd")
    found = [
        (provider, unit, most)
        for provider, caps in sets
        for unit, most in zip(
            units, (caps.requests_per_day, caps.tokens_per_day, caps.usd_per_day), strict=True
        )
    ]
    return [
        Cap(provider=provider, unit=unit, most=most)
        for provider, unit, most in found
        if most is not None
    ]


def _asked(fleet: Fleet, endpoint: Endpoint, ring: Ring) -> Rates:
    return Rates(
        single=Rate(per_day=fleet.schedule.single_per_day),
        parallel=Rate(per_day=ring.turns, every_days=ring.groups),
        sentinel_s=fleet.sentinel_s(endpoint),
    )


class _Asking:
    """What rates of an endpoint ask for in 24 hours, over all its series."""

    def __init__(self, fleet: Fleet, endpoint: Endpoint) -> None:
        """Reckon what one slot a day of each load asks for, and one sentinel."""
        names = fleet.schedule.workloads
        self.endpoint = endpoint
        series = len(fleet.regions) * len(names) * DAY_S / fleet.schedule.day_s
        self.single = series * fleet.schedule.requests(Load.SINGLE)
        self.parallel = series * fleet.schedule.requests(Load.PARALLEL)
        self.input_tokens = sum(fleet.workloads[name].input_tokens for name in names) / len(names)
        self.sentinel_input_tokens = fleet.workloads[SENTINEL].input_tokens
        self.mean = _mean_request(fleet, endpoint)
        self.sentinel = demand_of(endpoint, fleet.workloads[SENTINEL], 1)

    def scheduled(self, rates: Rates) -> float:
        """Return the requests of the schedule."""
        return rates.single.mean * self.single + rates.parallel.mean * self.parallel

    def amounts(self, rates: Rates) -> Amounts:
        """Return what is asked for in each unit; an unknown price counts as nothing."""
        often, seldom = self.scheduled(rates), sentinels_per_day(rates.sentinel_s)
        return {
            "requests": often + seldom,
            "tokens": often * self.mean.tokens + seldom * self.sentinel.tokens,
            "usd": often * (self.mean.usd or 0.0) + seldom * (self.sentinel.usd or 0.0),
        }


def _mean_request(fleet: Fleet, endpoint: Endpoint) -> Demand:
    """Return what a request asks for on the mean over the workloads, which come equally often."""
    names = fleet.schedule.workloads
    each = [demand_of(endpoint, fleet.workloads[name], 1) for name in names]
    known = [one.usd for one in each if one.usd is not None]
    return Demand(
        requests=1,
        tokens=sum(one.tokens for one in each) / len(names),
        usd=sum(known) / len(names) if known else None,
    )


def _row(asking: _Asking, asked: Rates, rates: Rates) -> Row:
    now, before = asking.amounts(rates), asking.amounts(asked)
    sentinels = sentinels_per_day(rates.sentinel_s)
    into = asking.scheduled(rates) * asking.input_tokens + sentinels * asking.sentinel_input_tokens
    is_priced = asking.mean.usd is not None
    return Row(
        endpoint=asking.endpoint.id,
        provider=asking.endpoint.provider,
        single=rates.single,
        parallel=rates.parallel,
        sentinel_s=rates.sentinel_s,
        asked_sentinel_s=asked.sentinel_s,
        requests_per_day=now["requests"],
        asked_requests_per_day=before["requests"],
        input_tokens_per_day=into,
        output_tokens_per_day=now["tokens"] - into,
        usd_per_day=now["usd"] if is_priced else None,
        asked_usd_per_day=before["usd"] if is_priced else None,
        sentinel_usd_per_day=sentinels * (asking.sentinel.usd or 0.0) if is_priced else None,
    )
