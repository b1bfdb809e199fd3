"""How regions and endpoints stand right now, by the newest facts. Pure.

No judgement: a region is silent by its heartbeats, a series fails by its latest two runs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from aggregator.rows import LastRun, SeriesRow, WorkerRow

SILENT_AFTER = timedelta(minutes=10)
"""A region without a heartbeat for longer is silent."""


class Exactness(StrEnum):
    """What a worker's latest own calibration says of its timings."""

    EXACT = "exact"
    SUSPECT = "suspect"
    UNKNOWN = "unknown"


def exactness_of(worker: WorkerRow) -> Exactness:
    """Return how exact a worker's timings are: unknown until it has calibrated itself."""
    if worker.calibration is None:
        return Exactness.UNKNOWN
    return Exactness.SUSPECT if worker.calibration.get("over") else Exactness.EXACT


class RegionState(StrEnum):
    """What a region's heartbeats say."""

    SEEN = "seen"
    SILENT = "silent"
    UNSEEN = "unseen"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionStanding:
    """A region and its workers."""

    region: str
    state: RegionState
    last_seen_at: datetime | None
    workers: tuple[WorkerRow, ...]
    """Those seen within a day, the latest first; of a silent region at least the last one."""


def region_standings(
    regions: Iterable[str], workers: Sequence[WorkerRow], now: datetime
) -> tuple[RegionStanding, ...]:
    """Return how each region stands, in the order of their names."""
    shown: dict[str, list[WorkerRow]] = {}
    for row in sorted(shown_workers(workers, now), key=lambda row: row.last_seen_at, reverse=True):
        shown.setdefault(row.region, []).append(row)
    return tuple(_standing(region, shown.get(region, []), now) for region in sorted(set(regions)))


def _standing(region: str, workers: Sequence[WorkerRow], now: datetime) -> RegionStanding:
    last = workers[0].last_seen_at if workers else None
    state = RegionState.UNSEEN
    if last is not None:
        state = RegionState.SILENT if now - last > SILENT_AFTER else RegionState.SEEN
    return RegionStanding(region=region, state=state, last_seen_at=last, workers=tuple(workers))


WORKER_SHOWN = timedelta(days=1)
"""A worker unseen for longer is not told of, unless it is the last one its region had."""


def shown_workers(workers: Sequence[WorkerRow], now: datetime) -> list[WorkerRow]:
    """Return the workers that are told of: those seen within WORKER_SHOWN and the last one of each
    region, so that a region that fell silent does not vanish.
    """
    last = {row.region: row for row in sorted(workers, key=lambda row: row.last_seen_at)}
    return [
        row for row in workers if now - row.last_seen_at <= WORKER_SHOWN or last[row.region] is row
    ]


def suspects(series: Iterable[SeriesRow]) -> list[int]:
    """Return the ids of the series whose latest run has a request that ended badly."""
    return [row.series_id for row in series if row.latest_outcome not in {None, "ok"}]


def failing_series(last_runs: Iterable[LastRun]) -> frozenset[int]:
    """Return the ids of the series whose latest two runs failed, or the only one they have.

    One lone failure is no state of affairs: one request in a hundred fails by itself.
    """
    failed: dict[int, list[bool]] = {}
    for run in last_runs:
        failed.setdefault(run.series_id, []).append(run.has_failed)
    return frozenset(series_id for series_id, runs in failed.items() if all(runs))


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingSeries:
    """A series whose latest runs failed."""

    region: str
    workload: str
    load: str
    outcome: str
    latest_at: datetime
    last_success_at: datetime | None


def failing_endpoints(
    series: Iterable[SeriesRow], failing: frozenset[int]
) -> Mapping[str, tuple[FailingSeries, ...]]:
    """Return the failing series of each endpoint that has any, by endpoint."""
    found: dict[str, list[FailingSeries]] = {}
    for row in series:
        if row.series_id in failing and row.latest_at is not None:
            found.setdefault(row.endpoint, []).append(
                FailingSeries(
                    region=row.region,
                    workload=row.workload,
                    load=row.load,
                    outcome=row.latest_outcome or "ok",
                    latest_at=row.latest_at,
                    last_success_at=row.last_success_at,
                )
            )
    return {endpoint: tuple(rows) for endpoint, rows in sorted(found.items())}
