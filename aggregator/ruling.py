"""The rules that each endpoint of a fleet is judged by, from its file and its plan. Pure."""

from collections.abc import Mapping

from aggregator.detect.rules import Rules, make_rules
from aggregator.fleet_file import Orders
from aggregator.plan import sentinels_per_day
from pacewatch.words.judging import NO_LIMITS
from pacewatch.words.slot import SENTINEL, Load


def rules_of(orders: Orders, endpoint: str, multiplier: float = 1.0) -> Rules:
    """Return the rules of an endpoint of the fleet; the multiplier is that of its calibration."""
    fleet = orders.fleet
    return make_rules(
        tuple(sorted(fleet.regions)),
        runs_a_day=runs_a_day(orders, endpoint),
        multiplier=multiplier,
        limits=fleet.limits.get(endpoint, NO_LIMITS),
        day_s=fleet.schedule.day_s,
        window_s=fleet.schedule.window_s,
        late_s=fleet.schedule.late_s,
    )


def runs_a_day(orders: Orders, endpoint: str) -> float:
    """Return how many runs are planned of an endpoint on a day of the schedule, on the mean,
    sentinels included.
    """
    return max(1.0, _each_a_day(orders, endpoint, 1))


def spacings_of(orders: Orders, endpoint: str) -> Mapping[str, float]:
    """Return how far apart the single runs of each of an endpoint's series are, seconds, by
    workload.
    """
    fleet, row = orders.fleet, orders.plan.rows[endpoint]
    found: dict[str, float] = {}
    if row.single.mean:
        found = dict.fromkeys(fleet.schedule.workloads, fleet.schedule.day_s / row.single.mean)
    if row.sentinel_s:
        found[SENTINEL] = row.sentinel_s * len(fleet.regions)
    return found


def requests_a_day(orders: Orders, provider: str) -> float:
    """Return how many requests are planned of a provider on a day of the schedule, sentinels
    included.
    """
    requests = orders.fleet.schedule.requests(Load.PARALLEL)
    return sum(
        _each_a_day(orders, row.endpoint, requests)
        for row in orders.plan.rows.values()
        if row.provider == provider
    )


def _each_a_day(orders: Orders, endpoint: str, parallel: int) -> float:
    """Return what an endpoint is asked on a day of the schedule, a parallel run as so many."""
    schedule, row = orders.fleet.schedule, orders.plan.rows[endpoint]
    series = len(orders.fleet.regions) * len(schedule.workloads)
    sentinels = sentinels_per_day(row.sentinel_s, schedule.day_s)
    return series * (row.single.mean + row.parallel.mean * parallel) + sentinels
