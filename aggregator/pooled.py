"""Medians over several regions, each region having one vote however many samples it sent.

A sample weighs 1 / (samples of its region). In the plain pool the regions that probe most decide,
and a median moves when they stop though nothing got slower.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from aggregator.db import Connection, queries
from pacewatch.words.slot import Load

FEWEST_RUNS = {Load.SINGLE: 6, Load.PARALLEL: 5}
"""From so many runs on a median is shown."""

POOLED_PERCENT = 95
"""How often the interval of a pooled median holds it, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Median:
    """A median over runs, with an interval where one can be given."""

    value: float
    low: float | None
    high: float | None
    runs: int


SYSTEM = "system_tokens_per_s"
"""The column of what all requests of a run get; not a figure of requests."""

Pooled = Mapping[str, Median]
"""By the column, a figure or SYSTEM: the medians of those that any run has."""


def fewest_runs(load: Load) -> int:
    """Return from how many runs on a median of that load is shown."""
    return FEWEST_RUNS[load]


def read_pooled(
    connection: Connection,
    pools: Sequence[Sequence[int]],
    *,
    now: datetime,
    window: timedelta,
    also: str = "",
) -> list[Pooled]:
    """Return the medians of each pool of series, one of them for each region, in their order.

    Runs enter that enter the rolling statistics, and those of the purpose `also`.
    """
    found: list[dict[str, Median]] = [{} for _ in pools]
    if not pools:
        return []
    rows = connection.execute(
        queries("pooled")["select_pooled"],
        {
            "pools": [place for place, series in enumerate(pools) for _ in series],
            "series": [series_id for series in pools for series_id in series],
            "since": now - window,
            "now": now,
            "also": also,
        },
    )
    for row in rows:
        found[row["pool"]][row["figure"]] = Median(
            value=row["median"], low=row["low"], high=row["high"], runs=row["runs"]
        )
    return list(found)
