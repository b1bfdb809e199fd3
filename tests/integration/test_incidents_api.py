"""Verdicts, incidents and silences over HTTP, of a store as a judge leaves it."""

from datetime import timedelta

import pytest
from fastapi.testclient import TestClient
from support.believed import Made, add_incident, believe, forget
from support.boards import board_fleet, filled_pool
from support.records import NOON
from support.servers import fresh_database

from aggregator.api.app import create_app
from aggregator.regions import Scope, issue_token

LINE_500, LINE_100 = (
    f"allowed: one line of at most {most} characters that is not blank" for most in (500, 100)
)


@pytest.fixture(scope="module")
def pool(postgres_url):
    with fresh_database(postgres_url) as url, filled_pool(url) as pool:
        yield pool


@pytest.fixture(scope="module")
def tokens(pool):
    with pool.connection() as connection:
        return {scope: issue_token(connection, "", scope, NOON) for scope in (Scope.ADMIN, "run")}


@pytest.fixture
def ids(pool):
    with pool.connection() as connection:
        forget(connection)
        return believe(connection, NOON)


@pytest.fixture
def client(pool, tokens, ids):
    app = create_app(pool, board_fleet(), clock=lambda: NOON)
    client = TestClient(app, raise_server_exceptions=False)
    client.headers["authorization"] = f"Bearer {tokens[Scope.ADMIN]}"
    return client


def told(client, **asked):
    answer = client.get("/api/verdicts", params=asked)
    assert answer.status_code == 200
    return [
        (one["endpoint"].partition("/")[0], one["region"], one["verdict"])
        for one in answer.json()["verdicts"]
    ]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"verdict": "slow"}, [("groq", None, "slow"), ("groq", "eu-west", "slow")]),
        ({"provider": "zai"}, [("zai", None, "learning"), ("zai", "eu-west", "learning")]),
        ({"model": "glm-5.2", "region": ""}, [("zai", None, "learning")]),
        (
            {"verdict": ["silent", "failing"]},
            [("deepinfra", "us-east", "silent"), ("groq", "us-east", "failing")],
        ),
        ({"endpoint": "own/gpt-oss-120b@fp8#lab", "region": "us-east"}, [("own", "us-east", "ok")]),
        ({"precision": "fp8", "region": "us-east"}, [("own", "us-east", "ok")]),
        ({"endpoint": "nobody/nothing"}, []),
    ],
)
def test_verdicts_are_those_that_were_asked_for(client, asked, expected):
    assert expected == told(client, **asked)


def test_a_verdict_tells_its_ratios_with_their_intervals(client):
    answer = client.get("/api/verdicts", params={"provider": "groq", "region": "eu-west"})

    (one,) = answer.json()["verdicts"]
    assert one["output_speed"] == {"times": 2.12, "low": 1.94, "high": 2.31}
    assert one["first_token"] == {"times": 1.02, "low": 0.93, "high": 1.11}
    assert one["since"] == "2026-12-02T11:00:00Z"


def test_a_verdict_tells_the_class_of_its_incidents_and_what_that_stands_on(client, ids, pool):
    at_groq = [{"endpoint": "groq/gpt-oss-120b"}]
    path = {"class": "region_path", "region": "us-east", "trouble": "first_token"}
    with pool.connection() as connection:
        local = add_incident(connection, Made(fields=path, endpoints=at_groq), NOON)
        for fields in ({"state": "closed", "ended_at": NOON}, {"state": "suspected"}):
            add_incident(connection, Made(fields=fields, endpoints=at_groq), NOON)
        over = [at_groq[0] | {"eased_at": NOON}]
        add_incident(connection, Made(fields={}, endpoints=over), NOON)
    found = client.get("/api/verdicts", params={"endpoint": "groq/gpt-oss-120b"}).json()

    held = {
        one["region"]: [(it["incident"], it["class"]) for it in one["incidents"]]
        for one in found["verdicts"]
    }
    theirs, ours = (ids["halved"], "provider"), (local, "region_path")
    assert held == {None: [theirs, ours], "eu-west": [theirs], "us-east": [theirs, ours]}
    assert found["verdicts"][1]["incidents"] == [
        {
            "incident": ids["halved"],
            "class": "provider",
            "page": f"/incidents/{ids['halved']}",
            "speaks_for": [
                "slow in two of the two regions that were asked",
                "other endpoints of these regions are as always",
            ],
            "speaks_against": ["connect times are as always"],
        }
    ]
    (other, *_) = client.get("/api/verdicts", params={"provider": "cerebras"}).json()["verdicts"]
    assert other["incidents"] == []


def test_pages_of_verdicts_hold_each_once_and_an_unchanged_one_is_not_sent_again(client):
    found, after = [], ""
    while after is not None:
        answer = client.get("/api/verdicts", params={"limit": 3, "after": after})
        found += [(one["endpoint"], one["region"]) for one in answer.json()["verdicts"]]
        after = answer.json()["next"]
    again = client.get("/api/verdicts", headers={"if-none-match": "x"})

    assert len(set(found)) == len(found) == len(told(client))
    tag = {"if-none-match": again.headers["etag"]}
    assert client.get("/api/verdicts", headers=tag).status_code == 304


def numbers(client, **asked):
    answer = client.get("/api/incidents", params=asked)
    assert answer.status_code == 200, answer.text
    return [one["incident"] for one in answer.json()["incidents"]]


def test_incidents_are_the_open_ones_unless_others_are_asked_for(client, ids):
    assert [ids["halved"]] == numbers(client)
    assert [ids["halved"], ids["cleared"], ids["path"]] == numbers(client, state="all")
    assert [ids["path"]] == numbers(client, state="closed", **{"class": "region_path"})
    assert [ids["cleared"]] == numbers(client, state="all", provider="cerebras")
    since = (NOON - timedelta(hours=13)).isoformat()
    assert [ids["halved"], ids["cleared"]] == numbers(client, state="all", since=since)
    assert [ids["cleared"]] == numbers(client, state="all", limit=1, before=ids["halved"])


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"endpoint": ["deepinfra/gpt-oss-120b", "groq/gpt-oss-120b"]}, ["halved", "path"]),
        ({"model": "gpt-oss-120b"}, ["halved", "cleared", "path"]),
        ({"model": "glm-5.2"}, []),
        ({"model": "gpt-oss-120b", "precision": "fp8"}, []),
        ({"model": "gpt-oss-120b", "endpoint": "cerebras/gpt-oss-120b"}, ["cleared"]),
        ({"region": "us-east"}, ["path"]),
        ({"region": "us-east", "endpoint": "groq/gpt-oss-120b"}, []),
    ],
)
def test_incidents_are_found_by_what_they_are_of(client, ids, asked, expected):
    assert [ids[name] for name in expected] == numbers(client, state="all", **asked)


def test_incidents_are_found_by_the_precision_of_their_endpoints(client, ids):
    board = client.get("/api/board", params={"endpoint": "groq/gpt-oss-120b"}).json()
    (precision,) = {e["precision"] for m in board["models"] for e in m["endpoints"]}

    assert ids["halved"] in numbers(client, state="all", precision=precision)
    assert precision != "fp8"


def test_an_incident_is_told_whole(client, ids):
    one = client.get(f"/api/incidents/{ids['halved']}").json()

    (part,) = one["endpoints"]
    assert part["slower"] == {"times": 2.12, "low": 1.94, "high": 2.31}
    assert [event["kind"] for event in one["timeline"]] == ["suspected", "probes", "confirmed"]
    assert one["speaks_for"][0] == "slow in two of the two regions that were asked"
    assert [run["region"] for run in one["confirming_runs"]] == ["eu-west", "us-east"]
    for run in one["confirming_runs"]:
        assert f"/api/runs/{run['run']}" == run["document"]
    assert not one["pages"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/incidents/999999"),
        ("POST", "/api/incidents/999999/acknowledge"),
        ("POST", "/api/incidents/999999/accept"),
        ("DELETE", "/api/silences/999999"),
    ],
)
def test_what_is_not_there_is_a_problem(client, method, path):
    answer = client.request(method, path)

    assert (
        answer.status_code,
        answer.headers["content-type"],
    ) == (404, "application/problem+json")
    assert "999999: unknown" in answer.json()["detail"]


def test_an_acknowledgement_is_noted_once_with_who_said_it(client, ids):
    path = f"/api/incidents/{ids['halved']}/acknowledge"
    first, again = client.post(path, json={"by": "night shift"}), client.post(path)

    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json()["acknowledged_at"] == "2026-12-02T12:00:00Z"
    lines = [one["text"] for one in again.json()["timeline"] if one["kind"] == "acknowledged"]
    assert len(lines) == 1
    assert "night shift" in lines[0]


def test_a_level_that_is_accepted_is_handed_to_the_judge(client, ids, pool):
    answer = client.post(f"/api/incidents/{ids['halved']}/accept")

    assert answer.status_code == 200
    with pool.connection() as connection:
        rows = connection.execute("select endpoint from judgement where accepted").fetchall()
    assert [row["endpoint"] for row in rows] == ["groq/gpt-oss-120b"]


@pytest.mark.parametrize("word", ["acknowledge", "accept"])
def test_a_blank_name_is_refused(client, ids, word):
    answer = client.post(f"/api/incidents/{ids['halved']}/{word}", json={"by": " "})

    assert (answer.status_code, answer.json()["detail"]) == (422, f"by: is no name ({LINE_100})")


@pytest.mark.parametrize("word", ["acknowledge", "accept"])
def test_an_incident_that_is_not_open_cannot_be_spoken_to(client, ids, word):
    answer = client.post(f"/api/incidents/{ids['path']}/{word}")

    assert answer.status_code == 409
    assert f"incident {ids['path']}: is closed" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/incidents/1/acknowledge"),
        ("POST", "/api/incidents/1/accept"),
        ("POST", "/api/silences"),
        ("DELETE", "/api/silences/1"),
    ],
)
def test_changes_need_a_token_of_scope_admin(client, tokens, method, path):
    for held in ("Bearer nothing", f"Bearer {tokens['run']}"):
        assert client.request(method, path, headers={"authorization": held}).status_code == 401


def silence(client, **changes):
    asked = {"endpoints": "groq/*", "for_s": 7200, "why": "they told us", "by": "ops"}
    return client.post("/api/silences", json=asked | changes)


def test_a_silence_holds_until_it_is_ended(client):
    made = silence(client, region="eu-west")
    assert made.status_code == 201
    number = made.json()["silence"]

    (held,) = client.get("/api/silences").json()["silences"]
    assert (number, "groq/*", "eu-west", True) == (
        held["silence"],
        held["endpoints"],
        held["region"],
        held["holds"],
    )
    assert client.delete(f"/api/silences/{number}").json()["holds"] is False
    assert client.delete(f"/api/silences/{number}").status_code == 200
    assert client.get("/api/silences").json()["silences"] == []
    assert len(client.get("/api/silences", params={"ended": True}).json()["silences"]) == 1


def test_silences_come_a_page_at_a_time_each_once(client):
    made = [silence(client).json()["silence"] for _ in range(3)]

    first = client.get("/api/silences", params={"limit": 2}).json()
    last = client.get("/api/silences", params={"limit": 2, "before": first["next"]}).json()

    assert [one["silence"] for one in first["silences"]] == [made[2], made[1]]
    assert [one["silence"] for one in last["silences"]] == [made[0]]
    assert (first["next"], last["next"]) == (made[1], None)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"endpoints": "grog/*"}, 'endpoints "grog/*": matches no endpoint that is probed'),
        ({"region": "mars"}, 'region "mars": unknown (known: eu-west, us-east)'),
        ({"for_s": 0}, "for_s: is no time that a silence may last (allowed: 1 second to 366 days)"),
        *(({"why": blank}, f"why: is no reason ({LINE_500})") for blank in ("", " \u2003", "a\nb")),
        *(({"by": blank}, f"by: is no name ({LINE_100})") for blank in ("", "   ", "a" * 101)),
        ({"endpoints": "GROQ"}, "endpoints: is no id and no pattern of ids (allowed: at most 300"),
        ({"until": "noon"}, "until: "),
    ],
)
def test_a_silence_that_cannot_be_is_refused_in_words(client, changes, sentence):
    answer = silence(client, **changes)

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(sentence)
