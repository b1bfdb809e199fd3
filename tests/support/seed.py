"""Fills a migrated store with endpoints, series, runs and workers, straight into its tables.

For what is shown only: what comes in over the wire is tested with real pushes.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any
from uuid import UUID, uuid5

from psycopg.types.json import Jsonb

from aggregator.db import Connection
from pacewatch.words.figures import percentile

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SEED_NAMESPACE = UUID("6f1bb40e-0000-4000-8000-000000000000")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One run of one value a figure."""

    at: datetime
    tokens_per_s: float | None
    ttft_s: float | None
    outcome: str = "ok"
    requests: int = 1
    good: int = 1


def prepare(connection: Connection, *, simulated: bool, now: datetime) -> None:
    """Make the store's row, and one partition for all days."""
    for table in ("run", "timing", "timeline"):
        connection.execute(f"create table if not exists {table}_rest partition of {table} default")
    connection.execute(
        "insert into store (simulated, catalog_hash, ticked_at) values (%s, 'c0ffee', %s)"
        " on conflict (only_row) do update set catalog_hash = 'c0ffee', ticked_at = %s",
        (simulated, now, now),
    )


def add_endpoint(connection: Connection, endpoint: str, **facts: Any) -> None:
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
        "location": None,
        "account": None,
        "tier": None,
        "price_input_usd": None,
        "price_output_usd": None,
        "published_tokens_per_s": None,
        "own": False,
        "active": True,
        "first_seen_at": datetime.now().astimezone(),
    } | facts
    names = ", ".join(row)
    values = ", ".join(f"%({name})s" for name in row)
    connection.execute(f"insert into endpoint ({names}) values ({values})", row)


def add_series(
    connection: Connection,
    endpoint: str,
    region: str,
    *,
    workload: str = "standard",
    load: str = "single",
    simulated: bool = False,
) -> int:
    """Add a series with its statistics and counters at 0; return its id."""
    found = connection.execute(
        "insert into series (endpoint, region, workload, load, simulated)"
        " values (%s, %s, %s, %s, %s) returning series_id",
        (endpoint, region, workload, load, simulated),
    ).fetchone()
    assert found is not None
    series_id: int = found["series_id"]
    connection.execute("insert into series_stat (series_id) values (%s)", (series_id,))
    connection.execute(
        "insert into place_counter (endpoint, region, simulated) values (%s, %s, %s)"
        " on conflict do nothing",
        (endpoint, region, simulated),
    )
    return series_id


def add_runs(
    connection: Connection, series_id: int, samples: Sequence[Sample], *, flags: Sequence[str] = ()
) -> None:
    """Add runs of a series, each with one timing a request, and its statistics over all of them."""
    for place, sample in enumerate(samples):
        run_id = uuid5(SEED_NAMESPACE, f"{series_id} {sample.at.isoformat()} {place}")
        _add_run(connection, series_id, run_id, sample, list(flags))
    _refresh(connection, series_id, sorted(samples, key=lambda sample: sample.at))


def _add_run(
    connection: Connection, series_id: int, run_id: UUID, sample: Sample, flags: list[str]
) -> None:
    end = None
    if sample.tokens_per_s and sample.ttft_s:
        end = sample.ttft_s + 1000 / sample.tokens_per_s
    row = {
        "run_id": run_id,
        "slot_at": sample.at,
        "execution": run_id,
        "series_id": series_id,
        "purpose": "scheduled",
        "rolls": True,
        "endpoint_hash": "0" * 16,
        "worker": "w1",
        "worker_version": "0",
        "started_at": sample.at,
        "received_at": sample.at,
        "beside": 0,
        "flags": [],
        "requests": sample.requests,
        "good": sample.good,
        "outcome": sample.outcome,
        "definition": 1,
        "ttft_s": sample.ttft_s,
        "answer_s": sample.ttft_s,
        "output_tokens_per_s": sample.tokens_per_s,
        "end_to_end_s": end,
    }
    names, values = ", ".join(row), ", ".join(f"%({name})s" for name in row)
    connection.execute(f"insert into run ({names}) values ({values})", row)
    connection.execute(
        "insert into timing"
        " (run_id, n, slot_at, series_id, outcome, flags, tokens, left_out, rolls)"
        " values (%s, 0, %s, %s, %s, %s, 100, '{}', true)",
        (run_id, sample.at, series_id, sample.outcome, flags),
    )


def _refresh(connection: Connection, series_id: int, samples: Sequence[Sample]) -> None:
    speeds = [s.tokens_per_s for s in samples if s.tokens_per_s is not None]
    waits = [s.ttft_s for s in samples if s.ttft_s is not None]
    last = samples[-1]
    good = [s for s in samples if s.good]
    latest_run = connection.execute(
        "select run_id from run where series_id = %s order by slot_at desc limit 1", (series_id,)
    ).fetchone()
    assert latest_run is not None
    row = {
        "runs": len(samples),
        "requests": sum(s.requests for s in samples),
        "good": sum(s.good for s in samples),
        "ttft_s": [percentile(waits, q) for q in QUANTILES],
        "ttft_runs": len(waits),
        "ttft_low": percentile(waits, 0.3),
        "ttft_high": percentile(waits, 0.7),
        "answer_s": [percentile(waits, q) for q in QUANTILES],
        "answer_runs": len(waits),
        "output_tokens_per_s": [percentile(speeds, q) for q in QUANTILES],
        "speed_runs": len(speeds),
        "speed_low": percentile(speeds, 0.3),
        "speed_high": percentile(speeds, 0.7),
        "oldest_at": samples[0].at,
        "newest_at": last.at,
        "latest_at": last.at,
        "latest_run_id": latest_run["run_id"],
        "latest_outcome": last.outcome,
        "latest_ttft_s": last.ttft_s,
        "latest_output_tokens_per_s": last.tokens_per_s,
        "last_success_at": good[-1].at if good else None,
        "tried": sum(s.requests for s in samples),
        "succeeded": sum(s.good for s in samples),
        "series_id": series_id,
    }
    changes = ", ".join(f"{name} = %({name})s" for name in row if name != "series_id")
    connection.execute(f"update series_stat set {changes} where series_id = %(series_id)s", row)


def add_worker(connection: Connection, region: str, last_seen_at: datetime, **changes: Any) -> None:
    """Add a worker with its latest heartbeat."""
    row = {
        "region": region,
        "worker": f"{region}-1",
        "version": "0.1.0",
        "catalog": "c0ffee",
        "last_seen_at": last_seen_at,
        "clock_offset_s": 0.003,
        "in_hand": [],
        "outbox_runs": 0,
        "budget_left_usd": 4.2,
        "calibration": Jsonb(None),
    } | changes
    names, values = ", ".join(row), ", ".join(f"%({name})s" for name in row)
    connection.execute(f"insert into worker ({names}) values ({values})", row)


def steady(
    *,
    tokens_per_s: float,
    ttft_s: float,
    runs: int,
    newest_at: datetime,
    every: timedelta = timedelta(hours=3),
    seed: int = 0,
    spread: float = 0.05,
) -> list[Sample]:
    """Runs of a provider that is as fast today as yesterday, the latest at `newest_at`."""
    dice = random.Random(f"{seed} {tokens_per_s}")  # noqa: S311 - figures, not secrets
    return [
        Sample(
            at=newest_at - every * (runs - 1 - place),
            tokens_per_s=tokens_per_s * dice.lognormvariate(0, spread),
            ttft_s=ttft_s * dice.lognormvariate(0, 4 * spread),
        )
        for place in range(runs)
    ]


def middle(samples: Sequence[Sample]) -> float:
    """The median speed of runs."""
    return median(s.tokens_per_s for s in samples if s.tokens_per_s is not None)


def failing(samples: Sequence[Sample], outcome: str, *, last: int) -> list[Sample]:
    """The runs with the last ones failed."""
    kept = list(samples[: len(samples) - last])
    return kept + [
        Sample(at=s.at, tokens_per_s=None, ttft_s=None, outcome=outcome, good=0)
        for s in samples[len(samples) - last :]
    ]
