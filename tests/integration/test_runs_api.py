"""`GET /api/runs/{id}`: one run whole, over a real store."""

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from support.centre import make_fleet, migrated_pool
from support.records import NOON, make_slot, plan, push, record_of
from support.servers import fresh_database
from support.timings import make_timing

from aggregator.api.app import create_app
from aggregator.partitions import drop_old_days
from pacewatch.words.flag import Flag
from pacewatch.words.outcome import Decline, Outcome
from pacewatch.words.retention import Retention
from pacewatch.words.slot import Load
from pacewatch.words.timing import Connection, Fault, Identity, ProviderTokens


@pytest.fixture(scope="module")
def pool(postgres_url):
    with fresh_database(postgres_url) as url, migrated_pool(url) as pool:
        yield pool


@pytest.fixture
def client(pool):
    return TestClient(create_app(pool, make_fleet(), clock=lambda: NOON))


@pytest.fixture(scope="module")
def slots(pool):
    """Slots that no test has answered yet."""
    made = (n for n in range(100))

    def take(**fields):
        slot = make_slot(NOON - timedelta(minutes=next(made)), **fields)
        with pool.connection() as connection:
            plan(connection, slot)
        return slot

    return take


def told(client, slot):
    answer = client.get(f"/api/runs/{slot.run_id}")
    assert answer.status_code == 200
    return answer.json()


def record_time(slot):
    return slot.slot_at.isoformat().replace("+00:00", "Z")


def test_a_run_is_the_record_with_figures_and_the_slots_facts_beside(client, pool, slots):
    slot = slots()
    timing = make_timing(
        connection=Connection(connect_us=1800, tls_us=2500, http="1.1"),
        identity=Identity(model="tide-1", fingerprint="fp_1", request_id="req_7"),
        provider_tokens=ProviderTokens(input=100, output=3),
        flags=(Flag.TRUNCATED,),
    )
    record = record_of(slot, timing, cost_usd=0.02)
    push(pool, record)

    document = told(client, slot)

    (request,) = document["requests"]
    assert {name: document[name] for name in record.keys() - {"requests", "declined"}} == {
        name: value for name, value in record.items() if name not in ("requests", "declined")
    }
    assert {name: request[name] for name in record["requests"][0]} == record["requests"][0]
    assert request["figures"] == {
        "ttft_s": 0.2,
        "answer_s": 0.2,
        "output_tokens_per_s": 10.0,
        "end_to_end_s": 0.4,
        "stall_s": 0.1,
    }
    assert document["figures"] == request["figures"]
    assert (document["state"], document["purpose"]) == ("run", "scheduled")
    assert (document["slot_at"], document["outcome"]) == (record_time(slot), "ok")


def test_each_request_of_a_parallel_run_is_told_with_what_the_centre_makes_of_the_run(
    client, pool, slots
):
    slot = slots(load=Load.PARALLEL)
    good = [make_timing(n=n) for n in range(9)]
    limited = make_timing(
        n=9,
        outcome=Outcome.RATE_LIMITED,
        fault=Fault(status=429, type="rate_limit_exceeded", retry_after_s=7),
    )
    push(pool, record_of(slot, *good, limited))

    document = told(client, slot)

    assert [request["n"] for request in document["requests"]] == list(range(10))
    assert document["flags"] == ["throttled"]
    assert document["outcome"] == "rate_limited"
    assert document["requests"][9]["error"]["retry_after_s"] == 7
    assert document["requests"][0]["left_out"] == sorted(document["figures"])
    assert document["system_tokens_per_s"] == pytest.approx(30 / 0.4)


def test_after_the_timeline_is_dropped_figures_and_faults_stay(client, pool, slots):
    old = make_slot(NOON - timedelta(days=20))
    with pool.connection() as connection:
        plan(connection, old)
    fault = Fault(status=503, type="overloaded", retry_after_s=3.0)
    failed = make_timing(outcome=Outcome.OVERLOADED, fault=fault)
    push(pool, record_of(old, failed), now=old.slot_at)
    whole = told(client, old)
    with pool.connection() as connection:
        connection.autocommit = True
        drop_old_days(connection, Retention(), NOON)
        connection.autocommit = False

    document = told(client, old)

    assert whole["requests"][0]["chunks"] is not None
    assert document["requests"][0]["chunks"] is None
    assert document["requests"][0]["error"]["type"] == "overloaded"
    assert document.keys() == whole.keys()
    assert document["requests"][0].keys() == whole["requests"][0].keys()


def test_a_slot_that_nobody_ran_says_how_it_stands(client, pool, slots):
    waiting, declined = slots(), slots()
    push(pool, record_of(declined, declined=Decline.NO_KEY))

    document = told(client, declined)

    assert (told(client, waiting)["state"], told(client, waiting)["execution"]) == ("sent", None)
    assert (document["state"], document["reason"]) == ("missed", "declined:no_key")
    assert [one["declined"] for one in document["unrun"]] == ["no_key"]
    assert document["requests"] == []


def test_executions_that_do_not_count_are_named_beside_the_one_that_does(client, pool, slots):
    slot = slots()
    ours = replace(make_timing(), outcome=Outcome.INTERNAL)
    push(pool, record_of(slot, ours, name="ours"), record_of(slot))
    push(pool, record_of(slot, name="late", cost_usd=0.3))

    document = told(client, slot)

    assert document["execution"] == record_of(slot)["execution"]
    assert [one["execution"] for one in document["unrun"]] == [
        record_of(slot, name="ours")["execution"]
    ]
    assert [one["cost_usd"] for one in document["duplicates"]] == [0.3]


def test_an_unchanged_run_is_not_sent_again(client, pool, slots):
    slot = slots()
    push(pool, record_of(slot))
    tag = client.get(f"/api/runs/{slot.run_id}").headers["etag"]

    again = client.get(f"/api/runs/{slot.run_id}", headers={"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")
    push(pool, record_of(slot, name="late"))
    assert client.get(f"/api/runs/{slot.run_id}", headers={"if-none-match": tag}).json() == told(
        client, slot
    )


@pytest.mark.parametrize(("id", "status"), [(uuid4(), 404), ("run-7", 422)])
def test_a_run_that_is_none_is_a_problem(client, id, status):
    answer = client.get(f"/api/runs/{id}")

    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
