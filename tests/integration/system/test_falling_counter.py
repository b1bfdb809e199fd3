"""Counters of a series whose runs leave the window and the store, as a real Prometheus has them.

A scrape comes each second in place of each 15 s, and some days of the store's clock pass between
two: what Prometheus makes of a counter depends on its samples alone.
"""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Any

import httpx2
import pytest
from support.centre import make_fleet, migrated_pool, served
from support.prometheus import Prometheus, running_prometheus
from support.records import ENDPOINT, NOON, REGION, make_slot, plan, record_of
from support.seed import add_series
from support.servers import short_folder
from support.stack import until
from support.timings import make_timing

from aggregator import db
from aggregator.regions import Scope, issue_token
from aggregator.upkeep import keep_up
from pacewatch.words.fleet import Schedule
from pacewatch.words.metrics import METRICS
from pacewatch.words.outcome import Outcome
from pacewatch.words.retention import Retention
from pacewatch.words.timing import Chunks

SLOTS = [make_slot(NOON + timedelta(hours=2.4 * n)) for n in range(30)]
"""The runs of 72 hours; every fifth fails."""
FLEET = make_fleet(schedule=Schedule(), retention=Retention(timelines_days=4, timings_days=5))
TRIED, SUCCEEDED = "pacewatch_requests_tried_total", "pacewatch_requests_succeeded_total"
LEAST_SAMPLES = 14
"""From which on the extrapolation, a sample's distance at most, is under 10 %."""


@pytest.fixture
def pool(database_url: str) -> Iterator[db.Pool]:
    with migrated_pool(database_url) as pool:
        with pool.connection() as connection:
            add_series(connection, ENDPOINT, REGION)
            plan(connection, *SLOTS)
        yield pool


def record(number: int, **fields: Any) -> dict[str, Any]:
    failed = {"chunks": Chunks(), "outcome": Outcome.SERVER_ERROR, "finish": None}
    timing = make_timing(**(failed if number % 5 == 4 else {}))
    return record_of(SLOTS[number], timing, cost_usd=0.001, **fields)


@pytest.fixture
def statuses(pool: db.Pool) -> Callable[..., list[str]]:
    """Push records to an aggregator's address; what it answers of each."""
    with pool.connection() as connection:
        token = issue_token(connection, REGION, Scope.REGION, NOON)

    def push(address: str, *records: dict[str, Any]) -> list[str]:
        answer = httpx2.post(
            f"{address}/v1/runs",
            json={"runs": records},
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
            trust_env=False,
        )
        return [one["status"] for one in answer.json()["results"]]

    return push


def series(prometheus: Prometheus, query: str) -> dict[str, list[float]]:
    """All that was scraped, by the labels it has."""
    return {
        json.dumps(row["metric"], sort_keys=True): [float(value) for _, value in row["values"]]
        for row in prometheus.rows(f"{query}[30m]")
    }


def value(prometheus: Prometheus, query: str) -> float | None:
    rows = prometheus.rows(query)
    return float(rows[0]["value"][1]) if rows else None


def test_no_counter_falls_and_its_increase_is_the_number_of_new_runs(pool, statuses):
    clock = [NOON]
    with (
        served(pool, FLEET, clock=lambda: clock[0]) as address,
        short_folder() as folder,
        running_prometheus(folder, address.removeprefix("http://")) as prometheus,
    ):
        until(lambda: value(prometheus, TRIED) == 0)
        assert statuses(address, record(0)) == ["stored"]
        until(lambda: value(prometheus, TRIED) == 1)
        assert value(prometheus, f"increase({TRIED}[30m])") >= 1, "the first run is counted too"
        for first in range(1, 30, 4):
            numbers = range(first, min(first + 4, 30))
            clock[0] = SLOTS[numbers[-1]].slot_at
            keep_up(pool, FLEET, clock[0])
            assert set(statuses(address, *map(record, numbers))) == {"stored"}
            until(lambda pushed=numbers[-1] + 1: value(prometheus, TRIED) == pushed)
        until(lambda: value(prometheus, "pacewatch_window_samples") == 30)
        assert statuses(address, record(3, name="second")) == ["duplicate"]
        until(lambda: value(prometheus, "pacewatch_runs_duplicate_total") == 1)
        for days in range(1, 11):
            clock[0] = SLOTS[-1].slot_at + timedelta(days=days)
            keep_up(pool, FLEET, clock[0])
            if days % 2:
                samples = value(prometheus, f"count_over_time({TRIED}[30m])")
                until(
                    lambda held=samples: value(prometheus, f"count_over_time({TRIED}[30m])") > held
                )
        assert value(prometheus, "pacewatch_window_samples") is None, "all have left the window"
        until(lambda: value(prometheus, f"count_over_time({TRIED}[30m])") >= LEAST_SAMPLES)
        rises = [value(prometheus, f"increase({name}[30m])") for name in (TRIED, SUCCEEDED)]
        scraped = series(prometheus, '{__name__=~"pacewatch_.+"}')

    with pool.connection() as connection:
        assert connection.execute("select count(*) as n from run").fetchone() == {"n": 0}
    assert rises == [pytest.approx(30, rel=0.1), pytest.approx(24, rel=0.1)]
    counted = {}
    for labels, values in scraped.items():
        name = json.loads(labels)["__name__"]
        if METRICS[name].kind == "counter":
            assert all(later >= earlier for earlier, later in pairwise(values)), labels
            counted[name] = values
    assert (counted[TRIED][0], counted[TRIED][-1]) == (0, 30)
    assert (counted[SUCCEEDED][0], counted[SUCCEEDED][-1]) == (0, 24)
    assert counted["pacewatch_runs_duplicate_total"][-1] == 1
    assert counted["pacewatch_probe_cost_usd_total"][-1] == pytest.approx(0.031)
