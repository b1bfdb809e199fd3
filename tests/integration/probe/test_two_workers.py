"""Two workers of one region carry out the same slot, before the real centre and its store."""

from datetime import UTC, datetime, timedelta

import pytest
from support.broker import embedded_broker
from support.centre import migrated_pool, served
from support.records import make_slot, plan
from support.servers import short_folder
from support.simulator import running_simulator
from support.workers import FAST, REGION, send, simulated_endpoints, worker_process, write_config

from aggregator.regions import Scope, issue_token
from pacewatch.config import load_fleet
from pacewatch.words.endpoint import endpoint_hash
from pacewatch.words.slot import Load
from pacewatch.words.wire import encode_task


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


def test_a_slot_that_two_workers_carry_out_is_one_run_of_one_execution(pool):
    with (
        running_simulator(*simulated_endpoints(), regions=(REGION,)) as simulator,
        embedded_broker() as first_broker,
        embedded_broker() as second_broker,
        short_folder() as first_folder,
        short_folder() as second_folder,
    ):
        url = simulator.address.regions[REGION]
        fleet = load_fleet(write_config(first_folder, url), {})
        write_config(second_folder, url)
        slot, token = planned_slot(pool, fleet)
        with (
            served(pool, fleet) as aggregator_url,
            worker_process(
                first_folder,
                broker=first_broker,
                aggregator_url=aggregator_url,
                token=token,
                config=first_folder / "pacewatch.toml",
            ) as first,
            worker_process(
                second_folder,
                broker=second_broker,
                aggregator_url=aggregator_url,
                token=token,
                config=second_folder / "pacewatch.toml",
            ) as second,
        ):
            first.start(wait=False)
            second.start()
            first.wait_for(lambda: first.events("worker.ready"))
            send(first_broker, encode_task(slot))
            send(second_broker, encode_task(slot))
            for worker in (first, second):
                worker.wait_for(lambda worker=worker: worker.events("push.taken"))
            assert [first.stop(), second.stop()] == [0, 0]
            ended = [worker.events("worker.ended")[0]["outbox_runs"] for worker in (first, second)]
            assert ended == [0, 0]
            assert len(simulator.requests()) == 20

    [run] = rows(pool, "select * from run")
    assert run["run_id"] == slot.run_id
    assert (run["requests"], run["good"]) == (10, 10)
    assert rows(pool, "select count(*) as n from timing") == [{"n": 10}]
    assert rows(pool, "select state from slot") == [{"state": "run"}]
    [duplicate] = rows(pool, "select execution from duplicate")
    assert duplicate["execution"] != run["execution"]
    assert rows(pool, "select duplicate from place_counter") == [{"duplicate": 1}]
    assert rows(pool, "select tried, succeeded from series_stat") == [
        {"tried": 10, "succeeded": 10}
    ]
    assert rows(pool, "select count(distinct worker) as n from worker") == [{"n": 2}]
