"""Fills a migrated store as a fleet would: endpoints, workers, and runs that are pushed."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from aggregator.db import Connection, Pool
from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import Load
from pacewatch.words.timing import Chunks, Timing
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
    """Say that the centre has a catalog and dispatches."""
    connection.execute("update store set catalog_hash = %s, ticked_at = %s", (CATALOG, now))


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
    } | said
    insert(connection, "worker", row)


def insert(connection: Connection, table: str, row: dict[str, Any]) -> None:
    """Insert a row of named values."""
    names, values = ", ".join(row), ", ".join(f"%({name})s" for name in row)
    connection.execute(f"insert into {table} ({names}) values ({values})", row)


def push_samples(
    pool: Pool,
    samples: Sequence[Sample],
    now: datetime,
    *,
    window_s: int = 72 * 3600,
    simulated: bool = True,
    flags: Sequence[Any] = (),
    **series: Any,
) -> None:
    """Plan a slot for each sample of a series, and push its run: one request, or ten."""
    load = series.get("load", Load.SINGLE)
    slots = [make_slot(sample.at, **series) for sample in samples]
    with pool.connection() as connection:
        plan(connection, *slots)
    records = [
        record_of(
            slot,
            *(_timing(sample, n, flags) for n in range(1 if load is Load.SINGLE else 10)),
            simulated=simulated,
        )
        for slot, sample in zip(slots, samples, strict=True)
    ]
    for start in range(0, len(records), 100):
        region = slots[0].region
        push(pool, *records[start : start + 100], region=region, now=now, window_s=window_s)


def _timing(sample: Sample, n: int, flags: Sequence[Any]) -> Timing:
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
