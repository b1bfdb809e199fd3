"""Two workers of one region carry the same run out: broker, worker, push, store and page."""

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import httpx2
from support.broker import embedded_broker
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


def test_of_two_executions_one_wins_whole_the_other_is_counted_and_no_outbox_keeps_either(
    database_url,
):
    now = datetime.now(UTC).replace(microsecond=0)
    slot = make_slot(
        now, endpoint=FAST, load=Load.PARALLEL, valid_until=now + timedelta(minutes=10)
    )
    with ExitStack() as stack:
        pool = stack.enter_context(migrated_pool(database_url))
        simulator = stack.enter_context(
            running_simulator(*simulated_endpoints(), regions=(REGION,))
        )
        folders = [stack.enter_context(short_folder()) for _ in range(2)]
        configs = [write_config(folder, simulator.address.regions[REGION]) for folder in folders]
        fleet = load_fleet(configs[0], {})
        token = planned(pool, fleet, slot)
        url = stack.enter_context(served(pool, fleet))
        workers = []
        for folder, config in zip(folders, configs, strict=True):
            broker = stack.enter_context(embedded_broker())  # so that each is sent the same task
            worker = worker_process(
                folder, broker=broker, aggregator_url=url, token=token, config=config
            )
            workers.append(stack.enter_context(worker).start(wait=False))
            send(broker, encode_task(slot))
        for worker in workers:
            worker.wait_for(lambda worker=worker: worker.events("push.taken"), 120)
        taken = [event for worker in workers for event in worker.events("push.taken")]

        # the winner's answer is lost and it pushes once more
        record = unpacked(one(pool, "select record from timeline"))
        headers = {"Authorization": f"Bearer {token}"}
        again = httpx2.post(
            f"{url}/v1/runs", json={"runs": [record]}, headers=headers, trust_env=False
        ).json()
        page = httpx2.get(f"{url}/metrics", trust_env=False).text
        asked = len(simulator.requests())
        timings = one(pool, "select array_agg(n order by n) from timing join run using (run_id)")
        beaten = one(pool, "select execution::text from duplicate")

    assert asked == 20
    assert [(event["runs"], event["refused"]) for event in taken] == [(1, 0)] * 2
    assert timings == list(range(10))
    assert record["execution"] != beaten
    assert [result["status"] for result in again["results"]] == ["held"]
    assert sum(metric(page, "pacewatch_runs_duplicate_total")) == 1
    assert metric(page, "pacewatch_requests_tried_total") == [10]
    assert metric(page, "pacewatch_window_samples") == [1]


def planned(pool, fleet, slot) -> str:
    """Put the slot into the store as the fleet asks it; return the region's token."""
    (endpoint,) = (one for one in fleet.endpoints if one.id == slot.endpoint)
    asked = endpoint_hash(endpoint, fleet.workloads[slot.workload])
    with pool.connection() as connection:
        plan(connection, slot)
        connection.execute("update endpoint_version set endpoint_hash = %s", (asked,))
        return issue_token(connection, REGION, Scope.REGION, slot.slot_at)


def one(pool, query):
    """The only value of the only row."""
    with pool.connection() as connection:
        (row,) = connection.execute(query).fetchall()
        (value,) = row.values()
        return value


def metric(page: str, name: str) -> list[float]:
    return [float(line.split()[-1]) for line in page.splitlines() if line.startswith(f"{name}{{")]
