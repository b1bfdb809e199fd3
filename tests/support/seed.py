"""Fills a migrated store as a fleet would: endpoints, workers, and runs that are pushed."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from psycopg.types.json import Jsonb

from aggregator.db import Connection, Pool
from pacewatch.words.flag import Flag
from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import Load
from pacewatch.words.timing import Chunks, Timing
from pacewatch.words.wire import MAX_RUNS
from support.records import make_slot, plan, push, record_of, timed

CATALOG = "c0ffee0000000000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One run: what a request of it would say."""

    at: datetime
    tokens_per_s: float
    ttft_s: float
    outcome: Outcome = Outcome.OK


def prepare(connection: Connection, now: datetime) -> None:
    """Say that the centre has a catalog, dispatches and judges."""
    connection.execute(
        "update store set catalog_hash = %s, ticked_at = %s, judged_at = %s", (CATALOG, now, now)
    )


def add_endpoint(connection: Connection, endpoint: str, now: datetime, **facts: Any) -> None:
    """Add an endpoint; facts left out are plain ones."""
    provider, _, rest = endpoint.partition("/")
    row = {
        "endpoint": endpoint,
        "provider": provider,
        "provider_name": provider.title(),
        "model": rest.split("@")[0].split("#")[0],
        "precision": "unknown",
        "protocol": "openai-chat",
        "importance": "notify",
        "base_host": "api.example",
        "own": False,
        "active": True,
        "first_seen_at": now,
    } | facts
    insert(connection, "endpoint", row)


def add_series(connection: Connection, endpoint: str, region: str, **fields: Any) -> None:
    """Add a series with its counters at 0, as planning does."""
    row = {
        "endpoint": endpoint,
        "region": region,
        "workload": "short",
        "load": "single",
        "simulated": True,
    } | fields
    insert(connection, "series", row)
    connection.execute(
        "insert into series_stat (series_id) select series_id from series on conflict do nothing"
    )


def add_worker(connection: Connection, region: str, last_seen_at: datetime, **said: Any) -> None:
    """Add a worker with its latest heartbeat."""
    row = {
        "region": region,
        "worker": f"{region}-1",
        "version": "0.1.0",
        "catalog": CATALOG,
        "last_seen_at": last_seen_at,
        "clock_offset_s": 0.003,
        "in_hand": [],
        "outbox_runs": 0,
        "budget_left_usd": 4.2,
        "rate_limits": Jsonb(
            [{"provider": "groq", "key": "GROQ_API_KEY", "unit": "tokens", "left_ratio": 0.5}]
        ),
        "calibration": Jsonb({"arrival_p50_s": 0.00001, "arrival_p99_s": 0.002, "over": ""}),
    } | said
    insert(connection, "worker", row)


def insert(connection: Connection, table: str, row: dict[str, Any]) -> None:
    """Insert a row of named values."""
    names, values = ", ".join(row), ", ".join(f"%({name})s" for name in row)
    connection.execute(f"insert into {table} ({names}) values ({values})", row)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The runs of a series."""

    samples: Sequence[Sample]
    endpoint: str
    region: str
    workload: str = "short"
    load: Load = Load.SINGLE
    simulated: bool = True
    flags: Sequence[Flag] = ()


def push_all(
    pool: Pool, series: Sequence[Measured], now: datetime, *, window_s: int = 72 * 3600
) -> None:
    """Plan a slot for each sample, and push all runs: one request each, or ten."""
    slots = {
        make_slot(
            sample.at,
            endpoint=one.endpoint,
            region=one.region,
            workload=one.workload,
            load=one.load,
        ): (one, sample)
        for one in series
        for sample in one.samples
    }
    with pool.connection() as connection:
        plan(connection, *slots)
    for region in sorted({slot.region for slot in slots}):
        records = [
            record_of(slot, *_timings(one, sample), simulated=one.simulated)
            for slot, (one, sample) in slots.items()
            if slot.region == region
        ]
        for start in range(0, len(records), MAX_RUNS):
            batch = records[start : start + MAX_RUNS]
            push(pool, *batch, region=region, now=now, window_s=window_s)


def _timings(one: Measured, sample: Sample) -> tuple[Timing, ...]:
    requests = 1 if one.load is Load.SINGLE else 10
    return tuple(_timing(sample, n, one.flags) for n in range(requests))


def _timing(sample: Sample, n: int, flags: Sequence[Flag]) -> Timing:
    good = timed(1000 * sample.ttft_s, sample.tokens_per_s, n=n, flags=tuple(flags))
    if sample.outcome is Outcome.OK:
        return good
    return replace(good, outcome=sample.outcome, chunks=Chunks(), finish=None)


def steady(
    *,
    tokens_per_s: float,
    ttft_s: float,
    runs: int,
    newest_at: datetime,
    every: timedelta = timedelta(hours=3),
    spread: float = 0.04,
) -> list[Sample]:
    """Runs of a provider that is as fast today as yesterday, the latest at `newest_at`."""
    dice = random.Random(f"{tokens_per_s} {ttft_s}")  # noqa: S311 - figures, not secrets
    return [
        Sample(
            at=newest_at - every * (runs - 1 - place),
            tokens_per_s=tokens_per_s * dice.lognormvariate(0, spread),
            ttft_s=ttft_s * dice.lognormvariate(0, 3 * spread),
        )
        for place in range(runs)
    ]


def failing(samples: Sequence[Sample], outcome: Outcome, *, last: int) -> list[Sample]:
    """The runs with the last ones failed."""
    kept = len(samples) - last
    return [
        sample if place < kept else replace(sample, outcome=outcome)
        for place, sample in enumerate(samples)
    ]
