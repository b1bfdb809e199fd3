"""Two workers of one region carry out the same slot, before the real centre and its store."""

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from support.centre import migrated_pool, served
from support.records import make_slot, plan
from support.servers import short_folder
from support.simulator import running_simulator
from support.workers import FAST, REGION, send, simulated_endpoints, worker_process, write_config

from aggregator.reading import unpacked
from aggregator.regions import Scope, issue_token
from pacewatch.config import load_fleet
from pacewatch.words.endpoint import endpoint_hash
from pacewatch.words.slot import Load
from pacewatch.words.wire import encode_task

SLOWED = 0.1
LASTS_S = 5.0
"""The run's answers last longer than this, so that both workers are at it at once."""


@pytest.fixture
def pool(database_url):
    with migrated_pool(database_url) as opened:
        yield opened


def rows(pool, query, *values):
    with pool.connection() as connection:
        return connection.execute(query, values or None).fetchall()


def planned_slot(pool, fleet):
    now = datetime.now(UTC).replace(microsecond=0)
    slot = make_slot(now, endpoint=FAST, load=Load.PARALLEL, valid_until=now + timedelta(minutes=1))
    with pool.connection() as connection:
        plan(connection, slot)
        connection.execute(
            "insert into endpoint_version (endpoint_hash, endpoint, workload, first_seen_at)"
            " values (%s, %s, %s, %s)",
            (
                endpoint_hash(fleet.catalog[FAST], fleet.workloads["short"]),
                FAST,
                "short",
                now,
            ),
        )
        return slot, issue_token(connection, REGION, Scope.REGION, now)


def push_again(url, token, record):
    """Push a record once more, as where the answer was lost; the centre's word on it."""
    answer = httpx2.post(
        f"{url}/v1/runs",
        json={"runs": [unpacked(record)]},
        headers={"authorization": f"Bearer {token}"},
    )
    return answer.json()["results"][0]["status"]


def test_a_slot_that_two_workers_of_one_broker_carry_out_is_one_run_of_one_execution(pool, broker):
    with (
        running_simulator(*simulated_endpoints(), regions=(REGION,)) as simulator,
        short_folder() as first_folder,
        short_folder() as second_folder,
    ):
        simulator.switch_on("slow", FAST, factor=SLOWED)
        url = simulator.address.regions[REGION]
        fleet = load_fleet(write_config(first_folder, url), {})
        slot, token = planned_slot(pool, fleet)
        with served(pool, fleet) as aggregator_url, ExitStack() as stack:
            workers = [
                stack.enter_context(
                    worker_process(
                        folder,
                        broker=broker,
                        aggregator_url=aggregator_url,
                        token=token,
                        config=first_folder / "pacewatch.toml",
                    )
                )
                for folder in (first_folder, second_folder)
            ]
            for worker in workers:
                worker.start(wait=False)
            for worker in workers:
                worker.wait_for(lambda worker=worker: worker.events("worker.ready"))

            def both_began():
                """Send the task once more, whoever takes it, until both are at the run."""
                send(broker, encode_task(slot))
                return len(simulator.requests()) > 10

            workers[0].wait_for(both_began)
            for worker in workers:
                worker.wait_for(lambda worker=worker: worker.events("push.taken"))
            assert [worker.stop() for worker in workers] == [0, 0]

            ended = [worker.events("worker.ended")[0]["outbox_runs"] for worker in workers]
            assert ended == [0, 0]
            assert len(simulator.requests()) == 20
            assert any(worker.events("run.known") for worker in workers)
            [run] = rows(pool, "select * from run")
            [kept] = rows(pool, "select record from timeline")
            assert push_again(aggregator_url, token, kept["record"]) == "held"

    assert run["run_id"] == slot.run_id
    assert (run["requests"], run["good"]) == (10, 10)
    [shortest] = rows(pool, "select min(end_to_end_s) as s from timing")
    assert shortest["s"] > LASTS_S
    assert rows(pool, "select execution, n from timing join run using (run_id) order by n") == [
        {"execution": run["execution"], "n": n} for n in range(10)
    ]
    assert rows(pool, "select state from slot") == [{"state": "run"}]
    [duplicate] = rows(pool, "select execution from duplicate")
    assert duplicate["execution"] != run["execution"]
    assert rows(pool, "select duplicate from place_counter") == [{"duplicate": 1}]
    assert rows(pool, "select runs, tried, succeeded from series_stat") == [
        {"runs": 1, "tried": 10, "succeeded": 10}
    ]
    assert rows(pool, "select count(distinct worker) as n from worker") == [{"n": 2}]
