"""Heartbeats and manual runs over HTTP, a real Postgres and real sockets."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from support.believed import Made, Probe, add_incident
from support.centre import migrated_pool, served
from support.dispatching import NOON, Centre, dispatch_fleet, empty
from support.servers import fresh_database

from aggregator import db
from aggregator.regions import Scope, issue_token
from pacewatch.words.fleet import Region, catalog_hash
from pacewatch.words.slot import Load, Purpose, from_rfc3339, run_id, to_rfc3339

SKEW = timedelta(hours=2)


@pytest.fixture(scope="module")
def store(postgres_url: str) -> Iterator[db.Pool]:
    with fresh_database(postgres_url) as url, migrated_pool(url, simulated=False) as opened:
        yield opened


@pytest.fixture
def pool(store: db.Pool) -> db.Pool:
    empty(store)
    return store


@pytest.fixture
def centre(pool: db.Pool) -> Centre:
    centre = Centre(pool, dispatch_fleet(endpoints=["alpha/one"]))
    centre.tick(NOON)
    return centre


@pytest.fixture
def url(centre: Centre) -> Iterator[str]:
    with served(centre.pool, centre.fleet, clock=lambda: NOON) as address:
        yield address


@pytest.fixture
def client(url: str, pool: db.Pool) -> Iterator[httpx2.Client]:
    """A worker of eu-west."""
    with token_client(url, pool, "eu-west", Scope.REGION) as client:
        yield client


@pytest.fixture
def person(url: str, pool: db.Pool) -> Iterator[httpx2.Client]:
    """Somebody who may ask for runs."""
    with token_client(url, pool, "", Scope.RUN) as client:
        yield client


def token_client(url: str, pool: db.Pool, region: str, scope: Scope) -> httpx2.Client:
    with pool.connection() as connection:
        token = issue_token(connection, region, scope, NOON)
    return httpx2.Client(
        base_url=url, headers={"authorization": f"Bearer {token}"}, trust_env=False
    )


def heartbeat(**fields: Any) -> dict[str, Any]:
    made = {
        "worker": "host-1",
        "region": "eu-west",
        "version": "1.0",
        "catalog": "0123456789abcdef",
        "in_hand": [],
        "outbox_runs": 0,
        "budget_left_usd": 2.5,
        "clock": to_rfc3339(NOON),
        "calibration": None,
    }
    return made | fields


def asked(**fields: Any) -> dict[str, Any]:
    made = {
        "endpoint": "alpha/one",
        "region": "eu-west",
        "workload": "standard",
        "load": "single",
        "key": "k-1",
    }
    return made | fields


class TestHeartbeat:
    def test_the_answer_tells_time_and_catalog_of_the_centre(
        self, client: httpx2.Client, centre: Centre
    ) -> None:
        answered = client.post("/v1/workers", json=heartbeat())

        assert answered.status_code == 200
        assert answered.json() == {
            "now": to_rfc3339(NOON),
            "paused": False,
            "catalog": catalog_hash(centre.fleet),
            "suspected_at": None,
        }

    def test_the_answer_tells_when_a_suspicion_last_ordered_probes_from_the_region(
        self, client: httpx2.Client, pool: db.Pool
    ) -> None:
        probes = [
            Probe(
                run_id=str(uuid4()),
                endpoint="alpha/one",
                region=region,
                ordered_at=NOON - timedelta(minutes=minutes),
            )
            for region, minutes in (("eu-west", 30), ("eu-west", 10), ("us-east", 1))
        ]
        with pool.connection() as connection:
            add_incident(connection, Made(fields={"provider": "alpha"}, probes=probes), NOON)

        answered = client.post("/v1/workers", json=heartbeat())

        assert answered.json()["suspected_at"] == to_rfc3339(NOON - timedelta(minutes=10))

    def test_the_worker_is_kept_by_the_centres_clock_with_its_offset(
        self, client: httpx2.Client, centre: Centre
    ) -> None:
        run = uuid4()
        client.post(
            "/v1/workers",
            json=heartbeat(
                in_hand=[str(run)], journal_runs=7, outbox_runs=3, clock=to_rfc3339(NOON + SKEW)
            ),
        )

        assert centre.rows("select * from worker") == [
            {
                "region": "eu-west",
                "worker": "host-1",
                "version": "1.0",
                "catalog": "0123456789abcdef",
                "last_seen_at": NOON,
                "clock_offset_s": 7200.0,
                "in_hand": [run],
                "journal_runs": 7,
                "outbox_runs": 3,
                "budget_left_usd": 2.5,
                "calibration": None,
                "rate_limits": [],
            }
        ]

    def test_what_the_workers_own_calibration_found_is_kept_with_it(
        self, client: httpx2.Client, centre: Centre
    ) -> None:
        told = {"arrival_p50_s": 0.00001, "over": "ttft", "reader": None, "requests": 11}
        client.post("/v1/workers", json=heartbeat(calibration=told))

        assert centre.rows("select calibration from worker") == [{"calibration": told}]

    def test_a_later_heartbeat_takes_the_place_of_the_earlier_one(
        self, client: httpx2.Client, centre: Centre
    ) -> None:
        client.post("/v1/workers", json=heartbeat(in_hand=[str(uuid4())], budget_left_usd=1))
        client.post("/v1/workers", json=heartbeat(budget_left_usd=None))

        rows = centre.rows("select in_hand, budget_left_usd from worker")
        assert rows == [{"in_hand": [], "budget_left_usd": None}]

    def test_a_run_that_a_full_disk_declined_is_missed_at_once(
        self, client: httpx2.Client, centre: Centre
    ) -> None:
        slots = {row["region"]: row["run_id"] for row in centre.slots("state = 'sent'")}
        full = [str(run) for run in slots.values()]
        client.post("/v1/workers", json=heartbeat(outbox_full=full))

        missed = centre.slots("state = 'missed'")
        assert [(row["run_id"], row["reason"]) for row in missed] == [
            (slots["eu-west"], "declined:outbox_full")
        ], "of its own region alone"
        assert centre.missed("eu-west") == {"declined:outbox_full": 1}

    def test_another_regions_heartbeat_is_refused(
        self, client: httpx2.Client, centre: Centre
    ) -> None:
        answered = client.post("/v1/workers", json=heartbeat(region="us-east"))

        assert answered.status_code == 403
        assert answered.headers["content-type"] == "application/problem+json"
        assert answered.json()["detail"] == 'the token is of region "eu-west", not of "us-east"'
        assert centre.rows("select * from worker") == []

    def test_without_a_token_nothing_is_read(self, url: str) -> None:
        answered = httpx2.post(f"{url}/v1/workers", content=b"{", trust_env=False)
        assert answered.status_code == 401

    @pytest.mark.parametrize(
        ("fields", "place"),
        [
            ({"clock": "2026-03-02T12:00:00"}, "clock"),
            ({"clock": "noon"}, "clock"),
            ({"in_hand": ["x"]}, "in_hand.0"),
            ({"in_hand": [str(UUID(int=1))] * 20_001}, "in_hand"),
            ({"outbox_runs": -1}, "outbox_runs"),
            ({"budget_left_usd": "much"}, "budget_left_usd"),
            (
                {
                    "rate_limits": [
                        {"provider": "groq", "key": "sk-1", "unit": "requests", "left_ratio": 0.5}
                    ]
                },
                "rate_limits.0.key",
            ),
            (
                {
                    "rate_limits": [
                        {"provider": "groq", "key": "", "unit": "requests", "left_ratio": 2}
                    ]
                },
                "rate_limits.0.left_ratio",
            ),
            ({"worker": ""}, "worker"),
            ({"worker": "a\x00b"}, "worker"),
            ({"version": "x" * 101}, "version"),
        ],
    )
    def test_a_malformed_heartbeat_is_refused_by_the_place_of_its_fault(
        self, client: httpx2.Client, fields: dict[str, Any], place: str
    ) -> None:
        answered = client.post("/v1/workers", json=heartbeat(**fields))

        assert answered.status_code == 422
        assert answered.json()["detail"].startswith(f"{place}: ")

    @pytest.mark.parametrize("calibration", [{"state": "a\x00b"}, {"a\x00b": 1.0}])
    def test_what_the_store_cannot_hold_is_no_reason_to_wait(
        self, client: httpx2.Client, calibration: dict[str, Any]
    ) -> None:
        answered = client.post("/v1/workers", json=heartbeat(calibration=calibration))

        assert answered.status_code == 422
        assert answered.json()["detail"] == (
            "a value in the request is beyond what the store can hold"
        )

    def test_an_endless_body_is_cut_off(self, client: httpx2.Client) -> None:
        answered = client.post("/v1/workers", content=b" " * (2 * 1024 * 1024 + 1))

        assert answered.status_code == 413
        assert (
            answered.json()["detail"] == "the body is too large (allowed: 2097152 bytes, unpacked)"
        )


class TestManualRun:
    def test_it_is_due_now_and_the_next_tick_sends_it(
        self, person: httpx2.Client, centre: Centre
    ) -> None:
        answered = person.post("/v1/slots", json=asked())

        run = run_id(
            purpose=Purpose.MANUAL,
            endpoint="alpha/one",
            region="eu-west",
            workload="standard",
            load=Load.SINGLE,
            at="k-1",
        )
        assert answered.status_code == 201
        assert answered.json() == {
            "run": str(run),
            "slot_at": to_rfc3339(NOON),
            "valid_until": to_rfc3339(NOON + timedelta(minutes=30)),
            "state": "planned",
            "reason": None,
        }
        sent = centre.tick(NOON + timedelta(seconds=1)).sent
        assert [slot.purpose for slot in sent if slot.run_id == run] == [Purpose.MANUAL]

    def test_the_same_key_asks_for_the_same_run(
        self, person: httpx2.Client, centre: Centre
    ) -> None:
        first = person.post("/v1/slots", json=asked())
        centre.tick(NOON + timedelta(seconds=1))
        second = person.post("/v1/slots", json=asked())

        assert (first.status_code, second.status_code) == (201, 200)
        assert first.json()["run"] == second.json()["run"]
        assert second.json()["state"] == "sent"
        assert len(centre.slots("purpose = 'manual'")) == 1

    def test_a_load_or_workload_beside_the_schedule_gets_its_series(
        self, person: httpx2.Client, centre: Centre
    ) -> None:
        answered = person.post("/v1/slots", json=asked(workload="long", load="parallel"))

        assert answered.status_code == 201
        assert from_rfc3339(answered.json()["slot_at"]) == NOON
        rows = centre.rows(
            "select tried from series join series_stat using (series_id) where workload = 'long'"
        )
        assert rows == [{"tried": 0}]

    @pytest.mark.parametrize(
        ("fields", "sentence"),
        [
            (
                {"endpoint": "alpha/none"},
                'endpoint "alpha/none": not probed (allowed: those of /api/board)',
            ),
            ({"region": "mars"}, 'region "mars": unknown (allowed: the regions of the file)'),
            ({"workload": "huge"}, 'workload "huge": unknown to the centre'),
        ],
    )
    def test_what_the_centre_does_not_probe_is_refused(
        self, person: httpx2.Client, centre: Centre, fields: dict[str, Any], sentence: str
    ) -> None:
        answered = person.post("/v1/slots", json=asked(**fields))

        assert answered.status_code == 422
        assert answered.json()["detail"] == sentence
        assert centre.slots("purpose = 'manual'") == []

    @pytest.mark.parametrize(
        "fields", [{"key": ""}, {"key": "a|b"}, {"load": "double"}, {"more": 1}]
    )
    def test_a_malformed_one_is_refused(
        self, person: httpx2.Client, fields: dict[str, Any]
    ) -> None:
        assert person.post("/v1/slots", json=asked(**fields)).status_code == 422

    def test_a_regions_token_may_not_ask(self, client: httpx2.Client) -> None:
        answered = client.post("/v1/slots", json=asked())

        assert answered.status_code == 401
        assert answered.json()["detail"] == (
            "a token of scope region may not do this (needs: run or admin)"
        )


def test_a_region_that_rests_is_told_so_and_the_others_are_not(
    centre: Centre, pool: db.Pool
) -> None:
    rests = Region(name="us-east", paused=True)
    fleet = replace(centre.fleet, regions={**centre.fleet.regions, "us-east": rests})
    told = {}
    with served(pool, fleet, clock=lambda: NOON) as url:
        for region in fleet.regions:
            with token_client(url, pool, region, Scope.REGION) as client:
                answered = client.post("/v1/workers", json=heartbeat(region=region))
                told[region] = answered.json()["paused"]

    assert told == {"eu-west": False, "us-east": True}


def test_the_clock_of_the_heartbeats_is_the_centres(centre: Centre, pool: db.Pool) -> None:
    moments = iter([NOON, NOON + timedelta(seconds=30)])
    seen: list[datetime] = []

    def clock() -> datetime:
        seen.append(next(moments))
        return seen[-1]

    with (
        served(pool, centre.fleet, clock=clock) as url,
        token_client(url, pool, "eu-west", Scope.REGION) as client,
    ):
        for _ in range(2):
            client.post("/v1/workers", json=heartbeat(clock="1999-01-01T00:00:00Z"))

    assert centre.rows("select last_seen_at from worker") == [{"last_seen_at": seen[-1]}]
