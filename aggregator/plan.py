"""The plan: how often each endpoint is probed, what that asks of it, and what it costs. Pure.

Where the fleet would ask for more than its caps, whole slots are left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from aggregator.ring import Ring, lay_rings
from aggregator.thin import Cap, Ladder, MetCap, Rate, Rates, Unit, steps_of, thin
from pacewatch.words.endpoint import Endpoint
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import Load
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
    asked = {e.id: _asked(fleet, rings[e.provider]) for e in fleet.endpoints}
    ladders = {e.id: _ladder(fleet, e, asked[e.id]) for e in fleet.endpoints}
    steps, met = thin(ladders, _caps(fleet))
    return Plan(
        rows={e.id: _row(fleet, e, asked[e.id], steps[e.id].rates) for e in fleet.endpoints},
        rings=rings,
        cap_usd_per_day=fleet.spending.usd_per_day,
        met=met,
    )


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


def _asked(fleet: Fleet, ring: Ring) -> Rates:
    return (
        Rate(per_day=fleet.schedule.single_per_day),
        Rate(per_day=ring.turns, every_days=ring.groups),
    )


def _slot_requests(fleet: Fleet) -> tuple[float, float]:
    """Return the requests a day of one slot a day of each load, of every series of an endpoint."""
    series = len(fleet.regions) * len(fleet.schedule.workloads) * DAY_S / fleet.schedule.day_s
    single, parallel = (
        series * fleet.schedule.requests(load) for load in (Load.SINGLE, Load.PARALLEL)
    )
    return single, parallel


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


def _ladder(fleet: Fleet, endpoint: Endpoint, asked: Rates) -> Ladder:
    mean = _mean_request(fleet, endpoint)
    return Ladder(
        provider=endpoint.provider,
        steps=steps_of(asked, _slot_requests(fleet)),
        weights={"requests": 1.0, "tokens": mean.tokens, "usd": mean.usd or 0.0},
    )


def _requests(fleet: Fleet, rates: Rates) -> float:
    slots = zip(rates, _slot_requests(fleet), strict=True)
    return sum(rate.mean * requests for rate, requests in slots)


def _row(fleet: Fleet, endpoint: Endpoint, asked: Rates, rates: Rates) -> Row:
    requests, asked_requests = _requests(fleet, rates), _requests(fleet, asked)
    names = fleet.schedule.workloads
    into = sum(fleet.workloads[name].input_tokens for name in names) / len(names)
    mean = _mean_request(fleet, endpoint)
    return Row(
        endpoint=endpoint.id,
        provider=endpoint.provider,
        single=rates[0],
        parallel=rates[1],
        requests_per_day=requests,
        asked_requests_per_day=asked_requests,
        input_tokens_per_day=requests * into,
        output_tokens_per_day=requests * (mean.tokens - into),
        usd_per_day=None if mean.usd is None else requests * mean.usd,
        asked_usd_per_day=None if mean.usd is None else asked_requests * mean.usd,
    )
