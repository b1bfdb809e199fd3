"""Two versions of the run record in one fleet: workers and centres are upgraded one by one."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from support.centre import make_fleet, migrated_pool
from support.records import ENDPOINT, NOON, make_slot, plan, push, record_of
from support.seed import add_endpoint
from support.servers import fresh_database
from support.tomorrow import tomorrow

from aggregator.api.app import create_app
from pacewatch.words.wire import VERSION

RECORDS = Path(__file__).parents[1] / "golden" / "records"
"""A run as a released worker of each version pushes it, and the figures that it must keep."""


@pytest.fixture(scope="module")
def url(postgres_url):
    with fresh_database(postgres_url) as url:
        yield url


@pytest.fixture(scope="module")
def pool(url):
    with migrated_pool(url) as pool:
        with pool.connection() as connection:
            add_endpoint(connection, ENDPOINT, NOON)
        yield pool


@pytest.fixture
def client(pool):
    return TestClient(create_app(pool, make_fleet(), clock=lambda: NOON))


@pytest.fixture(scope="module")
def slots(pool):
    def take(minutes):
        slot = make_slot(NOON - timedelta(minutes=minutes))
        with pool.connection() as connection:
            plan(connection, slot)
        return slot

    return take


def told(client, slot):
    answer = client.get(f"/api/runs/{slot.run_id}")
    assert answer.status_code == 200
    return answer.json()


@pytest.mark.parametrize("version", range(1, VERSION + 1))
def test_a_run_of_a_worker_of_every_released_version_is_taken_with_the_same_figures(
    pool, client, slots, version
):
    kept = json.loads((RECORDS / f"v{version}.json").read_text())
    slot = slots(30 + version)
    fresh = record_of(slot)
    place = {name: fresh[name] for name in ("run", "execution", "region", "endpoint_hash")}
    place |= {name: fresh[name] for name in ("endpoint", "workload", "load", "simulated")}

    (result,) = push(pool, kept["record"] | place)

    assert result.status == "stored"
    assert told(client, slot)["figures"] == kept["figures"]


def test_a_newer_centre_takes_the_runs_of_older_workers_and_newer_ones_alike(url, client, slots):
    old, new = slots(1), slots(2)

    said = tomorrow(url, record_of(old), record_of(new) | {"v": VERSION + 1})

    assert said == {"pushed": ["stored", "stored"], "taken_up": 0}
    assert told(client, old)["figures"] == told(client, new)["figures"]


def test_what_an_older_centre_put_aside_is_taken_up_by_the_newer_one(url, pool, client, slots):
    slot = slots(3)
    record = record_of(slot) | {"v": VERSION + 1, "later": {"some": ["thing"]}}

    (aside,) = push(pool, record)
    assert aside.status == "aside"
    waiting = told(client, slot)
    assert (waiting["execution"], waiting["state"]) == (None, "sent")
    assert [(one["execution"], one["reason"]) for one in waiting["aside"]] == [
        (record["execution"], aside.reason)
    ]
    page = client.get(f"/runs/{slot.run_id}").text
    assert "A worker has told of it; it is taken in as soon as what it tells is known" in page
    assert f"is put aside: {aside.reason}." in page
    assert tomorrow(url) == {"pushed": [], "taken_up": 1}

    document = told(client, slot)
    assert document["aside"] == []
    assert document["execution"] == record["execution"]
    assert document["figures"]["ttft_s"] == 0.2
    assert push(pool, record)[0].status == "aside"  # pushed again: it is in the run all the same
    assert tomorrow(url) == {"pushed": [], "taken_up": 1}
    assert told(client, slot)["duplicates"] == []


def test_an_older_centre_beside_a_newer_one_shows_its_runs_without_what_it_cannot_read(
    url, client, slots
):
    slot = slots(4)
    tomorrow(url, record_of(slot) | {"v": VERSION + 1})

    (request,) = told(client, slot)["requests"]
    assert request["figures"]["ttft_s"] == 0.2
    assert request["chunks"] is None
    page = client.get(f"/runs/{slot.run_id}")
    assert page.status_code == 200
    evidence = client.get("/api/evidence", params={"endpoint": slot.endpoint}).json()
    (run,) = [one for one in evidence["runs"] if one["run"] == str(slot.run_id)]
    assert run["requests"][0]["figures"]["ttft_s"] == 0.2
