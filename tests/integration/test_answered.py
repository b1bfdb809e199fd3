"""What answers say of who made them becomes changes of the endpoint, over a real store."""

from datetime import timedelta

import pytest
from fastapi.testclient import TestClient
from support.centre import make_fleet, migrated_pool
from support.records import NOON, make_slot, plan, push, record_of
from support.seed import add_endpoint, prepare
from support.servers import fresh_database
from support.timings import make_timing

from aggregator.answered import MOST_VALUES
from aggregator.api.app import create_app
from aggregator.upkeep import drop_old
from pacewatch.words.fleet import Schedule
from pacewatch.words.slot import Load
from pacewatch.words.timing import Identity

HOUR = timedelta(hours=1)
WINDOW = timedelta(hours=72)
START = NOON - timedelta(days=10)


@pytest.fixture(scope="module")
def pool(postgres_url):
    with fresh_database(postgres_url) as url, migrated_pool(url) as pool:
        yield pool


@pytest.fixture
def endpoint(pool, request):
    """An endpoint of the test's own."""
    name = f"groq/{request.node.name[5:60].replace('[', '-').replace(']', '').replace('_', '-')}"
    with pool.connection() as connection:
        prepare(connection, NOON)
        add_endpoint(connection, name, NOON)
    return name


@pytest.fixture
def tell(pool, endpoint):
    """Push a run of the endpoint for each moment, whose answers tell that of their maker."""

    def push_runs(*moments, region="eu-west", load=Load.SINGLE, **told):
        identity = Identity(**{"model": "tide-1", **told})
        slots = [
            make_slot(moment, endpoint=endpoint, region=region, load=load) for moment in moments
        ]
        with pool.connection() as connection:
            plan(connection, *slots)
        count = 1 if load is Load.SINGLE else 10
        for slot in slots:
            timings = [make_timing(n=n, identity=identity) for n in range(count)]
            push(pool, record_of(slot, *timings), region=region, now=slot.slot_at + HOUR)

    return push_runs


def every(hours, start, until):
    count = int((until - start) / timedelta(hours=hours))
    return [start + n * timedelta(hours=hours) for n in range(count)]


def changes(pool, endpoint):
    client = TestClient(create_app(pool, make_fleet(), clock=lambda: NOON))
    answer = client.get("/api/changes", params={"endpoint": endpoint})
    assert answer.status_code == 200
    return [
        (one["what"], one["from"], one["to"], one["changed_at"]) for one in answer.json()["changes"]
    ]


def day(n):
    return START + timedelta(days=n)


def word(moment):
    return moment.isoformat().replace("+00:00", "Z")


def test_a_new_value_is_a_change_once_three_runs_have_told_it(pool, endpoint, tell):
    tell(*every(6, day(0), day(4)), fingerprint="fp_1")
    tell(day(4), day(4) + 3 * HOUR, fingerprint="fp_2")
    before = changes(pool, endpoint)
    tell(day(4) + 6 * HOUR, fingerprint="fp_2")
    tell(*every(6, day(4) + 12 * HOUR, day(5)), fingerprint="fp_2")

    assert before == []
    assert changes(pool, endpoint) == [("fingerprint", "fp_1", "fp_2", word(day(4)))]


def test_a_parallel_run_is_one_run(pool, endpoint, tell):
    tell(*every(6, day(0), day(4)), fingerprint="fp_1")
    tell(day(4), load=Load.PARALLEL, fingerprint="fp_2")

    assert changes(pool, endpoint) == []


def test_values_that_come_and_go_change_nothing(pool, endpoint, tell):
    for n, moment in enumerate(every(5, day(0), day(6))):
        tell(moment, fingerprint=f"fp_{n % 3}")

    assert changes(pool, endpoint) == []


def test_values_that_are_never_the_same_change_nothing(pool, endpoint, tell):
    for n, moment in enumerate(every(5, day(0), day(6))):
        tell(moment, fingerprint=f"fp_{n}")

    assert changes(pool, endpoint) == []


def test_what_an_endpoint_tells_first_is_no_change_and_nothing_is_within_its_first_window(
    pool, endpoint, tell
):
    tell(*every(6, day(0), day(1)), tier="default")
    tell(*every(6, day(1), day(4)), tier="priority")

    assert changes(pool, endpoint) == []


def test_a_value_that_comes_back_after_a_window_is_a_change_again(pool, endpoint, tell):
    tell(*every(6, day(0), day(4)), model="tide-1")
    tell(*every(6, day(4), day(8)), model="tide-2")
    tell(*every(6, day(8), day(9)), model="tide-1")

    assert changes(pool, endpoint) == [
        ("model", "tide-2", "tide-1", word(day(8))),
        ("model", "tide-1", "tide-2", word(day(4))),
    ]


def test_an_endpoint_that_rested_goes_on_as_it_was(pool, endpoint, tell):
    tell(*every(6, day(0), day(1)))
    tell(*every(6, day(6), day(7)))

    assert changes(pool, endpoint) == []


def test_after_a_rest_and_its_upkeep_another_value_is_a_change(pool, endpoint, tell):
    tell(*every(6, day(0), day(1)), fingerprint="fp_1")
    drop_old(pool, make_fleet(), day(6))
    tell(*every(6, day(6), day(7)), fingerprint="fp_2")

    assert changes(pool, endpoint) == [("fingerprint", "fp_1", "fp_2", word(day(6)))]


def test_all_regions_together_are_the_endpoint(pool, endpoint, tell):
    tell(*every(6, day(0), day(4)), fingerprint="fp_1")
    for region in ("eu-west", "us-east", "ap-south"):
        tell(day(4), region=region, fingerprint="fp_2")

    assert changes(pool, endpoint) == [("fingerprint", "fp_1", "fp_2", word(day(4)))]


def test_a_held_or_repeated_push_counts_once(pool, endpoint, tell):
    tell(*every(6, day(0), day(4)), fingerprint="fp_1")
    slot = make_slot(day(4), endpoint=endpoint)
    with pool.connection() as connection:
        plan(connection, slot)
    timing = make_timing(identity=Identity(model="tide-1", fingerprint="fp_2"))
    for name in ("first", "first", "second", "third"):
        push(pool, record_of(slot, timing, name=name), now=day(4))

    assert changes(pool, endpoint) == []


def test_what_is_kept_of_an_endpoint_is_bounded(pool, endpoint, tell):
    for n in range(MOST_VALUES + 5):
        tell(day(0) + n * timedelta(minutes=5), fingerprint=f"fp_{n}")

    with pool.connection() as connection:
        kept = connection.execute(
            "select count(*) as n from answered where endpoint = %s and facet = 'fingerprint'",
            (endpoint,),
        ).fetchone()["n"]

    assert kept == MOST_VALUES


def test_changes_are_asked_for_by_what_they_are_of_and_by_time_a_page_at_a_time(
    pool, endpoint, tell
):
    tell(*every(6, day(0), day(4)), fingerprint="fp_1", tier="a")
    tell(*every(6, day(4), day(5)), fingerprint="fp_2", tier="b")
    client = TestClient(create_app(pool, make_fleet(), clock=lambda: NOON))

    def asked(**params):
        return client.get("/api/changes", params={"endpoint": endpoint, **params}).json()

    first = asked(limit=1)
    second = asked(limit=1, after=first["next"])

    assert len(first["changes"]) == len(second["changes"]) == 1
    assert {first["changes"][0]["what"], second["changes"][0]["what"]} == {"fingerprint", "tier"}
    assert second["next"] is None
    assert asked(provider="groq")["changes"] == asked()["changes"] != []
    assert asked(provider="nobody")["changes"] == asked(model="none")["changes"] == []
    assert asked(precision="unknown")["changes"] == asked()["changes"]
    assert asked(precision="fp8")["changes"] == []
    assert asked(precision=["fp8", "unknown"])["changes"] == asked()["changes"]
    assert asked(since=word(day(6)))["changes"] == []


def test_the_board_tells_what_has_changed_within_its_window(pool, endpoint, tell):
    tell(*every(6, day(0), day(4)), fingerprint="fp_1")
    tell(*every(6, day(4), day(5)), fingerprint="fp_2")
    fleet = make_fleet(schedule=Schedule())

    def board_at(moment):
        client = TestClient(create_app(pool, fleet, clock=lambda: moment))
        models = client.get("/api/board").json()["models"]
        (found,) = [
            one for model in models for one in model["endpoints"] if one["endpoint"] == endpoint
        ]
        return found["changes"], client.get("/?workload=short").text

    changed, page = board_at(day(5))
    later, _ = board_at(day(7) + HOUR)

    assert [(one["from"], one["to"]) for one in changed] == [("fp_1", "fp_2")]
    assert "fingerprint as answered changed 24 h ago" in page
    assert later == []
