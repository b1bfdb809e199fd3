import gzip
import http.client
import json
import select
from contextlib import closing
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from support.centre import make_fleet, migrated_pool, served
from support.records import NOON, REGION, make_slot, plan, record_of
from support.servers import fresh_database
from support.stack import until

from aggregator.api.push import IN_HAND, IN_HAND_OF_A_REGION
from aggregator.regions import issue_token, revoke_tokens
from pacewatch.words.wire import MAX_BATCH_BYTES


@pytest.fixture(scope="module")
def pool(postgres_url):
    with fresh_database(postgres_url) as url, migrated_pool(url) as pool:
        yield pool


@pytest.fixture(scope="module")
def address(pool):
    with served(pool, make_fleet(), clock=lambda: NOON) as url:
        yield urlsplit(url).netloc


@pytest.fixture
def token(pool):
    with pool.connection() as connection:
        return issue_token(connection, REGION, "region", NOON)


@pytest.fixture(scope="module")
def slots(pool):
    """Slots that no test has answered yet."""
    made = (make_slot(NOON - timedelta(minutes=n)) for n in range(100))

    def take(count):
        found = [next(made) for _ in range(count)]
        with pool.connection() as connection:
            plan(connection, *found)
        return found

    return take


def post(address, token, body, **headers):
    """The status, the headers and the document that answer a push."""
    with closing(http.client.HTTPConnection(address, timeout=30)) as connection:
        bearer = {} if token is None else {"Authorization": f"Bearer {token}"}
        connection.request("POST", "/v1/runs", body, bearer | headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, json.loads(answer.read())


def batch(*records):
    return json.dumps({"runs": records}).encode()


def count(pool, table):
    with pool.connection() as connection:
        return connection.execute(f"select count(*) as n from {table}").fetchone()["n"]


def test_a_batch_is_answered_run_by_run_with_the_centres_moment(address, token, slots):
    good, wrong = slots(2)
    records = [record_of(good), record_of(wrong) | {"workload": "long"}]

    status, _, answer = post(address, token, batch(*records))

    assert status == 200
    assert answer["now"] == "2026-12-02T12:00:00Z"
    assert answer["results"] == [
        {
            "run": records[0]["run"],
            "execution": records[0]["execution"],
            "status": "stored",
            "reason": None,
        },
        {
            "run": records[1]["run"],
            "execution": records[1]["execution"],
            "status": "refused",
            "reason": 'workload: "long" is not the slot\'s ("short")',
        },
    ]


def test_a_packed_batch_is_taken_as_an_unpacked_one(address, token, slots):
    body = gzip.compress(batch(record_of(*slots(1))))

    status, _, answer = post(address, token, body, **{"Content-Encoding": "gzip"})

    assert (status, answer["results"][0]["status"]) == (200, "stored")


@pytest.mark.parametrize("kind", ["none", "wrong", "revoked", "admin"])
def test_without_a_token_of_a_region_nothing_is_taken(address, pool, slots, kind):
    with pool.connection() as connection:
        revoked = issue_token(connection, "us-east", "region", NOON)
        revoke_tokens(connection, "us-east", NOON)
        admin = issue_token(connection, "", "admin", NOON)
    token = {"none": None, "wrong": "x", "revoked": revoked, "admin": admin}[kind]
    before = count(pool, "run")

    status, headers, answer = post(address, token, batch(record_of(*slots(1))))

    assert status == 401
    assert headers["content-type"] == "application/problem+json"
    assert "token" in answer["detail"]
    assert count(pool, "run") == before


def test_a_token_writes_its_own_region_alone(address, pool, slots):
    with pool.connection() as connection:
        other = issue_token(connection, "us-east", "region", NOON)

    status, _, answer = post(address, other, batch(record_of(*slots(1))))

    assert status == 200
    assert answer["results"][0]["status"] == "refused"
    assert answer["results"][0]["reason"].startswith("region: ")


def rubbish(size):
    piece = bytes(range(256)) * 256
    for _ in range(size // len(piece)):
        yield piece


@pytest.mark.parametrize("is_told", [True, False])
@pytest.mark.parametrize("has_token", [True, False])
def test_50_mb_of_rubbish_are_one_sentence_and_the_next_push_passes(
    address, token, slots, is_told, has_token
):
    size = 50 * 1024 * 1024
    headers = {"Content-Length": str(size)} if is_told else {}

    status, _, answer = post(address, token if has_token else None, rubbish(size), **headers)

    assert status == (413 if has_token else 401)
    assert answer["detail"] == (
        f"the body is too large (allowed: {MAX_BATCH_BYTES} bytes, unpacked)"
        if has_token
        else "a bearer token is needed, and this is none that the centre issued"
    )
    assert post(address, token, batch(record_of(*slots(1))))[0] == 200


def begun(address, token):
    """A push whose body has not arrived yet."""
    connection = http.client.HTTPConnection(address, timeout=30)
    connection.putrequest("POST", "/v1/runs")
    connection.putheader("Authorization", f"Bearer {token}")
    connection.putheader("Content-Length", "100")
    connection.endheaders(b"{")
    return connection


def the_one_answered(begun):
    """Of pushes that have begun the one that is answered all the same: its status and its wait."""
    ready, _, _ = select.select([one.sock for one in begun], [], [], 60)
    (answered,) = [one for one in begun if one.sock in ready]
    begun.remove(answered)
    with closing(answered):
        answer = answered.getresponse()
        return answer.status, answer.headers["retry-after"]


def test_of_too_many_pushes_at_once_one_is_told_when_to_come_again(address, pool):
    regions = [f"region-{n}" for n in range(IN_HAND // IN_HAND_OF_A_REGION)]
    with pool.connection() as connection:
        tokens = [issue_token(connection, region, "region", NOON) for region in regions]
        other = issue_token(connection, "another", "region", NOON)

    held = [begun(address, tokens[0]) for _ in range(IN_HAND_OF_A_REGION + 1)]
    of_a_region = the_one_answered(held)
    assert post(address, other, batch())[0] == 200
    held += [begun(address, token) for token in tokens[1:] for _ in range(IN_HAND_OF_A_REGION)]
    held.append(begun(address, other))
    of_all = the_one_answered(held)
    for one in held:
        one.close()
    until(lambda: post(address, other, batch())[0] == 200)

    assert (of_a_region, of_all) == ((429, "5"), (503, "5"))


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"rubbish", {}, 422),
        (b"[" * 50_000, {}, 422),
        (b'{"runs": 1}', {}, 422),
        (json.dumps({"runs": [{}] * 101}), {}, 413),
        (gzip.compress(b" " * (MAX_BATCH_BYTES + 1)), {"Content-Encoding": "gzip"}, 413),
        (b"rubbish", {"Content-Encoding": "gzip"}, 422),
        (b"rubbish", {"Content-Encoding": "br"}, 422),
    ],
)
def test_what_is_no_batch_is_a_problem_document(address, token, body, headers, status):
    answered, told, answer = post(address, token, body, **headers)

    assert answered == status
    assert told["content-type"] == "application/problem+json"
    assert answer["status"] == status


def test_a_value_that_postgres_cannot_hold_is_refused_by_run(address, token, slots):
    bad, good = slots(2)
    record = record_of(bad)
    record["worker"]["id"] = "w\0"

    status, _, answer = post(address, token, batch(record, record_of(good)))

    assert status == 200
    assert [result["status"] for result in answer["results"]] == ["refused", "stored"]


@pytest.mark.parametrize("member", ["run", "execution"])
def test_an_id_that_is_no_unicode_is_refused_and_the_rest_of_its_batch_answered(
    address, token, slots, member
):
    bad, good = (record_of(slot) for slot in slots(2))

    status, _, answer = post(address, token, batch(bad | {member: "\ud800"}, good))

    assert status == 200
    assert [result["status"] for result in answer["results"]] == ["refused", "stored"]
    assert answer["results"][0][member] == "?"


def nested(levels):
    """A value of so many objects, one in another."""
    return json.loads('{"a":' * levels + "1" + "}" * levels)


@pytest.mark.parametrize("version", [1, 2])
def test_a_record_that_is_taken_can_be_read_again_however_deep_its_reader_stands(
    address, token, slots, version
):
    taken, refused = (record_of(slot) | {"v": version} for slot in slots(2))
    taken["later"], refused["later"] = nested(99), nested(100)

    status, _, answer = post(address, token, batch(taken, refused))
    with closing(http.client.HTTPConnection(address, timeout=30)) as connection:
        connection.request("GET", f"/api/runs/{taken['run']}")
        shown = connection.getresponse().status

    assert (status, shown) == (200, 200)
    assert [result["status"] for result in answer["results"]] == [
        "stored" if version == 1 else "aside",
        "refused",
    ]
    assert answer["results"][1]["reason"] == (
        "the record is nested too deeply (allowed: 100 levels)"
    )


def test_a_store_that_is_away_is_a_time_to_wait(address, token, slots, pool):
    with pool.connection() as connection:
        connection.execute("alter table slot rename to slot_away")
    try:
        status, headers, answer = post(address, token, batch(record_of(make_slot())))
    finally:
        with pool.connection() as connection:
            connection.execute("alter table slot_away rename to slot")

    assert (status, headers["retry-after"]) == (503, "5")
    assert "slot" not in answer["detail"]


def test_the_schema_is_served(address):
    with closing(http.client.HTTPConnection(address, timeout=30)) as connection:
        connection.request("GET", "/schema/run.json")
        schema = json.loads(connection.getresponse().read())

    assert schema["title"] == "Pacewatch run record"
    assert "requests" in schema["properties"]
