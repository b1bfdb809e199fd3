"""A worker whose clock is two hours ahead, before the real centre: it is placed by its slots, what
is refused is set aside, and nobody else's figures change.
"""

from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from support.broker import embedded_broker
from support.centre import migrated_pool, served
from support.records import make_slot, plan, push, record_of, statuses
from support.servers import short_folder
from support.simulator import running_simulator
from support.workers import FAST, REGION, send, simulated_endpoints, worker_process, write_config

from aggregator.reading import unpacked
from aggregator.regions import Scope, issue_token
from pacewatch.config import load_fleet
from pacewatch.words.endpoint import endpoint_hash
from pacewatch.words.wire import encode_task
from probe.disk import Disk
from probe.outbox import Outbox

AHEAD_S = 7_200
OTHERS = ("us-east", "ap-south")
RAN = "select from slot where state = 'run' and run_id = %s"
BESIDE = "select * from series_stat join series using (series_id) where region <> %s order by 1"


@pytest.fixture
def pool(database_url):
    with migrated_pool(database_url) as pool:
        yield pool


def rows(pool, query, *values):
    with pool.connection() as connection:
        return connection.execute(query, values or None).fetchall()


def planned(pool, fleet, *slots):
    """Put the slots into the store as the fleet asks them; return the region's token."""
    (endpoint,) = (one for one in fleet.endpoints if one.id == FAST)
    asked = endpoint_hash(endpoint, fleet.workloads["short"])
    with pool.connection() as connection:
        plan(connection, *slots)
        connection.execute(
            "insert into endpoint_version (endpoint_hash, endpoint, workload, first_seen_at)"
            " values (%s, %s, 'short', now())",
            (asked, FAST),
        )
        return issue_token(connection, REGION, Scope.REGION, slots[0].slot_at)


def test_a_clock_that_is_ahead_moves_no_run_and_no_other_region_and_blocks_nothing(pool):
    now = datetime.now(UTC).replace(microsecond=0)
    for region in OTHERS:
        slot = make_slot(now - timedelta(minutes=1), endpoint=FAST, region=region)
        with pool.connection() as connection:
            plan(connection, slot)
        assert statuses(push(pool, record_of(slot), region=region, now=now)) == ["stored"]
    before = rows(pool, BESIDE, REGION)
    valid_until = now + timedelta(minutes=10)
    slots = [
        make_slot(now - timedelta(seconds=n), endpoint=FAST, workload=name, valid_until=valid_until)
        for n, name in ((2, "long"), (1, "short"))
    ]
    with ExitStack() as stack:
        simulator = stack.enter_context(
            running_simulator(*simulated_endpoints(), regions=(REGION,))
        )
        folder, broker = (stack.enter_context(made()) for made in (short_folder, embedded_broker))
        config = write_config(folder, simulator.address.regions[REGION])
        fleet = load_fleet(config, {})
        token = planned(pool, fleet, *slots)
        url = stack.enter_context(served(pool, fleet))
        worker = stack.enter_context(
            worker_process(
                folder,
                broker=broker,
                aggregator_url=url,
                token=token,
                config=config,
                ahead_s=AHEAD_S,
            )
        ).start()
        for slot in slots:  # the first is asked as another workload than its slot's
            send(broker, encode_task(replace(slot, workload="short")))
        worker.wait_for(lambda: rows(pool, RAN, slots[1].run_id), 120)
        page = httpx2.get(f"{url}/metrics", trust_env=False).text
        assert worker.stop() == 0
        seen = simulator.settled_answers()[-1]
        with Disk(folder / "state" / f"worker-{REGION}", simulated=True) as disk:
            outbox = Outbox(disk)
            left, refused = outbox.runs(), outbox.refused()

    assert (left, refused) == (
        0,
        [(slots[0].run_id, 'workload: "short" is not the slot\'s ("long")')],
    )
    (run,) = rows(
        pool, "select run.* from run join series using (series_id) where region = %s", REGION
    )
    assert (run["run_id"], run["slot_at"], run["outcome"]) == (
        slots[1].run_id,
        slots[1].slot_at,
        "ok",
    )
    assert run["started_at"] - slots[1].slot_at > timedelta(seconds=AHEAD_S - 60)
    (kept,) = rows(pool, "select record from timeline where run_id = %s", run["run_id"])
    (request,) = unpacked(kept["record"])["requests"]
    came_us = request["chunks"]["at_us"]
    assert came_us == sorted(came_us)
    assert run["ttft_s"] == pytest.approx(seen["ttft_s"], abs=1.0)
    (stat,) = rows(
        pool,
        "select st.* from series_stat st join series using (series_id) where region = %s",
        REGION,
    )
    assert (stat["runs"], stat["latest_at"]) == (1, slots[1].slot_at)
    assert rows(pool, BESIDE, REGION) == before
    assert skew_told(page) == pytest.approx(AHEAD_S, abs=60)


def skew_told(page: str) -> float:
    """What a scrape tells of the worker's clock."""
    name = "pacewatch_worker_clock_offset_seconds{"
    (line,) = [line for line in page.splitlines() if line.startswith(name)]
    return float(line.split()[-1])
