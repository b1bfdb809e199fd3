"""What judging takes: every endpoint with a state of full size, and one new run each."""

import time
from datetime import timedelta
from random import Random
from typing import Any

from psycopg.types.json import Jsonb

from aggregator.detect.evidence import Evidence
from aggregator.detect.state import state_of
from aggregator.detect.watch import Watch
from aggregator.fleet_file import Orders, orders_of
from aggregator.judge import judge_due
from aggregator.ruling import rules_of
from aggregator.schedule import slots_between
from centre.store import Store
from pacewatch.words.endpoint import Auth, Endpoint, Precision, Protocol
from pacewatch.words.fleet import Fleet, Region, Spending

QUIET_TICKS = 5


def measure(store: Store) -> dict[str, Any]:
    """Return how many runs one judge takes a second, what a tick takes that finds nothing to do,
    and how large a state is.
    """
    orders = _orders(store)
    size = _remember(store, orders)
    with store.pool.connection() as connection:
        connection.execute("update store set ticked_at = %s", (store.now,))
        connection.execute("delete from unjudged")  # what was pushed before
        connection.execute(
            "insert into unjudged (endpoint, run_id, slot_at, received_at)"
            " select distinct on (endpoint) endpoint, run_id, slot_at, received_at"
            " from run join series using (series_id) where slot_at > %s"
            " order by endpoint, slot_at desc",
            (store.now - timedelta(hours=3),),
        )
    started = time.perf_counter()
    judged = judge_due(store.pool, orders, store.now)
    took_s = time.perf_counter() - started
    started = time.perf_counter()
    for number in range(QUIET_TICKS):
        judge_due(store.pool, orders, store.now + timedelta(seconds=number))
    return {
        "judged_runs_per_s": judged.runs / took_s,
        "judge_quiet_tick_ms": 1_000 * (time.perf_counter() - started) / QUIET_TICKS,
        "judge_state_kb": size / 1_000,
    }


def _orders(store: Store) -> Orders:
    with store.pool.connection() as connection:
        rows = connection.execute("select endpoint, provider, model from endpoint").fetchall()
        regions = connection.execute("select distinct region from series").fetchall()
    endpoints = tuple(
        Endpoint(
            id=row["endpoint"],
            provider=row["provider"],
            provider_name=row["provider"],
            model=row["model"],
            provider_model=row["model"],
            precision=Precision.FP8,
            protocol=Protocol.OPENAI_CHAT,
            base_url=f"https://api.{row['provider']}.example/v1",
            auth=Auth.NONE,
        )
        for row in rows
    )
    return orders_of(
        Fleet(
            regions={row["region"]: Region(name=row["region"]) for row in regions},
            catalog={endpoint.id: endpoint for endpoint in endpoints},
            endpoints=endpoints,
            spending=Spending(usd_per_day=1e9),
        )
    )


def _remember(store: Store, orders: Orders) -> int:
    """Give every endpoint the state that three days of its schedule leave; return its bytes."""
    random = Random(7)  # noqa: S311 - the spread of a benchmark
    one = orders.fleet.endpoints[0].id
    watch = Watch(rules_of(orders, one))
    start = store.now - timedelta(days=3)
    for slot in slots_between(orders.fleet, orders.plan, start, store.now):
        if slot.endpoint == one:
            at, spread = slot.slot_at.timestamp(), random.lognormvariate(0, 0.2)
            run = Evidence(
                at=at,
                region=slot.region,
                workload=slot.workload,
                load=slot.load,
                ttft_s=0.2 * spread,
                speed=120 / spread,
                failed=False,
                limited=False,
            )
            watch.take([run], at)
    state = state_of(watch)
    with store.pool.connection() as connection:
        connection.execute(
            "insert into judgement (endpoint, state, judged_at)"
            " select endpoint, %s, %s from endpoint",
            (Jsonb(state), store.now),
        )
        row = connection.execute("select max(length(state::text)) as size from judgement")
        return int(row.fetchone()["size"])  # type: ignore[index]
