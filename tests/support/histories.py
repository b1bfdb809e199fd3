"""Generated histories of a fleet, put into a store as ingest would have left them."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from random import Random
from uuid import uuid4

from aggregator import db
from aggregator.backtest.noise import NOISE, Noise, World
from aggregator.backtest.play import Rate, schedule
from aggregator.backtest.trouble import Injected, evidence_of
from aggregator.detect.evidence import Evidence
from aggregator.fleet_sync import sync, wanted_rows
from aggregator.partitions import make_days
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import Load

DAY_H = 24.0


def fill(
    pool: db.Pool,
    fleet: Fleet,
    *,
    start: datetime,
    days: int,
    troubles: Mapping[str, tuple[float, Injected]] | None = None,
    seed: int = 0,
    noise: Noise = NOISE,
) -> None:
    """Put so many days of the schedule into the store; troubles by endpoint, from a day on."""
    ends = start + timedelta(seconds=days * fleet.schedule.day_s)
    with pool.connection() as connection:
        make_days(connection, [start.date(), ends.date()])
    with pool.connection() as connection, connection.transaction():
        sync(connection, wanted_rows(fleet), start)
        for number, endpoint in enumerate(fleet.endpoints):
            world = World(Random(seed + number), len(fleet.regions), noise)  # noqa: S311
            runs = _runs(fleet, world, days, (troubles or {}).get(endpoint.id))
            _insert(connection, endpoint.id, runs, start)


def _runs(
    fleet: Fleet, world: World, days: int, trouble: tuple[float, Injected] | None
) -> Iterator[Evidence]:
    """Yield runs at seconds of the schedule from its start."""
    rate = Rate(
        regions=len(fleet.regions),
        single_a_day=fleet.schedule.single_per_day,
        parallel_a_day=fleet.schedule.parallel_per_day,
    )
    regions = sorted(fleet.regions)
    for hour, place, _, load, purpose in schedule(rate, 0, days * DAY_H):
        is_on = trouble is not None and 0 <= hour - trouble[0] * DAY_H < trouble[1].hours
        yield evidence_of(
            world.sample(hour, place, parallel=load is Load.PARALLEL),
            trouble[1] if trouble is not None and is_on else None,
            random=world.random,
            at=hour / DAY_H * fleet.schedule.day_s,
            region=regions[place],
            workload=fleet.schedule.workloads[0],
            load=load,
            purpose=purpose,
        )


def _insert(
    connection: db.Connection, endpoint: str, runs: Iterable[Evidence], start: datetime
) -> None:
    series = {
        (row["region"], row["workload"], row["load"]): row["series_id"]
        for row in connection.execute("select * from series where endpoint = %s", (endpoint,))
    }
    rows = [
        (
            uuid4(),
            start + timedelta(seconds=run.at),
            series[run.region, run.workload, run.load],
            run,
        )
        for run in runs
    ]
    with connection.cursor() as cursor:
        with cursor.copy(
            "copy run (run_id, slot_at, execution, series_id, purpose, rolls, endpoint_hash,"
            " worker, worker_version, started_at, received_at, beside, flags, requests, good,"
            " outcome, definition, ttft_s, output_tokens_per_s) from stdin"
        ) as copy:
            for run_id, at, series_id, run in rows:
                good = 0 if run.failed else 1
                copy.write_row(
                    (
                        *(run_id, at, uuid4(), series_id, str(run.purpose), True, "h", "w", "1"),
                        *(at, at, 0, [], 1, good, _outcome(run), 1, run.ttft_s, run.speed),
                    )
                )
        with cursor.copy(
            "copy timing (run_id, n, slot_at, series_id, outcome, flags, tokens, left_out, rolls)"
            " from stdin"
        ) as copy:
            for run_id, at, series_id, run in rows:
                copy.write_row((run_id, 0, at, series_id, _outcome(run), [], 300, [], True))


def _outcome(run: Evidence) -> str:
    if run.limited:
        return "rate_limited"
    return "server_error" if run.failed else "ok"


def now() -> datetime:
    """Return a moment of whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)
