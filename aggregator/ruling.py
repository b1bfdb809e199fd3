"""The rules that each endpoint of a fleet is judged by, from its file and its plan. Pure."""

from collections.abc import Mapping

from aggregator.detect.rules import Rules, make_rules
from aggregator.fleet_file import Orders
from pacewatch.words.slot import Load


def rules_of(orders: Orders, endpoint: str) -> Rules:
    """Return the rules of an endpoint of the fleet."""
    schedule = orders.fleet.schedule
    return make_rules(
        tuple(sorted(orders.fleet.regions)),
        runs_a_day=runs_a_day(orders, endpoint),
        day_s=schedule.day_s,
        window_s=schedule.window_s,
        late_s=schedule.late_s,
    )


def runs_a_day(orders: Orders, endpoint: str) -> float:
    """Return how many runs are planned of an endpoint on a day of the schedule, on the mean."""
    fleet, row = orders.fleet, orders.plan.rows[endpoint]
    series = len(fleet.regions) * len(fleet.schedule.workloads)
    return max(1.0, series * (row.single.mean + row.parallel.mean))


def spacings_of(orders: Orders, endpoint: str) -> Mapping[str, float]:
    """Return how far apart the single runs of each of an endpoint's series are, seconds, by
    workload.
    """
    mean = orders.plan.rows[endpoint].single.mean
    if not mean:
        return {}
    return dict.fromkeys(orders.fleet.schedule.workloads, orders.fleet.schedule.day_s / mean)


def requests_a_day(orders: Orders, provider: str) -> float:
    """Return how many requests are planned of a provider on a day of the schedule."""
    schedule = orders.fleet.schedule
    series = len(orders.fleet.regions) * len(schedule.workloads)
    return sum(
        series * (row.single.mean + row.parallel.mean * schedule.requests(Load.PARALLEL))
        for row in orders.plan.rows.values()
        if row.provider == provider
    )
