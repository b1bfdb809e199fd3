"""What the API's description says of bodies: of every operation, and true of a store with all kinds
of things in it.
"""

import re
from datetime import timedelta

import pytest
import schemathesis
from fastapi.testclient import TestClient
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import ignored_auth
from support.believed import believe
from support.boards import board_fleet, filled_pool
from support.described import closed, members_told, operations, resolved
from support.records import NOON, make_slot, plan, push, record_of
from support.seed import insert
from support.servers import fresh_database
from support.timings import make_timing

from aggregator.api.app import create_app
from aggregator.api.described import DescribedAPI
from aggregator.api.export import ExportLineDocument
from aggregator.days import roll_up
from aggregator.export import COLUMNS
from aggregator.regions import Scope, issue_token
from pacewatch.words.outcome import Decline, Outcome
from pacewatch.words.retention import Retention
from pacewatch.words.slot import to_rfc3339
from pacewatch.words.timing import (
    Connection,
    Fault,
    Identity,
    ProviderTokens,
    RateLimits,
    ServerTimings,
)
from pacewatch.words.wire import VERSION

DESCRIBED = closed(create_app(None, board_fleet()).openapi())
SCHEMA = schemathesis.openapi.from_dict(DESCRIBED)
OPERATIONS = list(operations(DESCRIBED))
TEXTS = {"/metrics", "/api/export"}
"""Answers that are lines of text."""

UNITS = {
    "_tokens_per_s": "tokens/s",
    "_s": "s",
    "_us": "us",
    "_usd": "US$",
    "_percent": "percent",
}
"""What a name ends in, and the unit that its description names."""


@pytest.mark.parametrize(("method", "path", "told"), OPERATIONS)
def test_every_operation_tells_its_bodies_with_members_and_units(method, path, told):
    (problem,) = told["responses"]["4XX"]["content"].values()
    assert set(resolved(DESCRIBED, problem["schema"])["properties"]) == {
        "type",
        "title",
        "status",
        "detail",
    }
    assert set(told["responses"]["4XX"]["content"]) == {"application/problem+json"}
    assert told["responses"]["5XX"] == told["responses"]["4XX"]

    bodies = [body for status, body in told["responses"].items() if status in ("200", "201")]
    assert bodies
    for body in [*bodies, *filter(None, [told.get("requestBody")])]:
        for media in body["content"].values():
            schema = resolved(DESCRIBED, media["schema"])
            if path in TEXTS:
                assert schema == {"type": "string"}
            else:
                assert schema["properties"]
                assert all(one != {} for one in schema["properties"].values())


def test_what_only_some_may_do_asks_for_a_token_and_all_else_for_none():
    scheme = {
        name: one["scheme"] for name, one in DESCRIBED["components"]["securitySchemes"].items()
    }
    asking = {(method, path) for method, path, told in OPERATIONS if told.get("security")}

    assert scheme == {"token": "bearer"}
    assert asking == {(method, path) for method, path, _ in OPERATIONS if method != "GET"}
    client = TestClient(create_app(None, board_fleet()))
    assert {client.request(*one).status_code for one in asking if "{" not in one[1]} == {401}


def described_members():
    for name, schema in DESCRIBED["components"]["schemas"].items():
        for member, told in schema.get("properties", {}).items():
            yield name, member, told


def test_every_member_is_described_and_its_unit_told():
    for name, member, told in described_members():
        text = told.get("description", "")
        assert text, (name, member)
        unit = next((UNITS[end] for end in UNITS if f"_{member}".endswith(end)), "")
        kind = str(told.get("anyOf", told.get("type", "")))
        if unit and re.search("number|integer", kind):
            assert re.search(rf"(^|[ ,]){re.escape(unit)}($|[;,. ])", text), (name, member, text)


def test_every_reference_leads_to_a_schema():
    for found in re.findall(r"'#/components/schemas/([^']+)'", str(DESCRIBED)):
        assert found in DESCRIBED["components"]["schemas"]


def test_a_line_of_an_export_is_told_column_by_column():
    assert tuple(ExportLineDocument.__annotations__) == COLUMNS


def test_the_description_is_made_once_and_no_two_types_have_one_name():
    app = DescribedAPI()

    assert app.openapi() is app.openapi()


WHOLE = make_timing(
    connection=Connection(
        dns_us=1, connect_us=2, tls_us=3, http="1.1", rtt_us=(4, 5), retransmits=6
    ),
    identity=Identity(model="m", fingerprint="f", tier="t", request_id="r"),
    provider_tokens=ProviderTokens(input=9, output=8, reasoning=7, cached_input=6),
    server_timings=ServerTimings(
        queue_s=0.1, prompt_s=0.2, completion_s=0.3, total_s=0.6, ttft_s=0.3, tokens_per_s=90.0
    ),
    limits=RateLimits(
        requests_left=1,
        requests_limit=2,
        requests_reset_s=3.0,
        tokens_left=4,
        tokens_limit=5,
        tokens_reset_s=6.0,
    ),
)
REFUSED = make_timing(
    outcome=Outcome.REJECTED, fault=Fault(status=400, type="bad", retry_after_s=9.0), finish=None
)
ENDPOINT = "groq/gpt-oss-120b"
AT_ENDPOINT = {"endpoint": ENDPOINT, "region": "eu-west"}
AT = {**AT_ENDPOINT, "workload": "short"}


@pytest.fixture(scope="module")
def filled(postgres_url):
    """A store with all kinds of things, and the ids of some of them."""
    with fresh_database(postgres_url) as url, filled_pool(url) as pool:
        yield pool, fill(pool)


def fill(pool):
    run, other, declined, to_come = (
        make_slot(NOON - timedelta(seconds=n), **AT) for n in (20, 21, 22, 23)
    )
    with pool.connection() as connection:
        ids = believe(connection, NOON)
        plan(connection, run, other, declined, to_come)
        for facet in ("model", "tier"):
            changed = {"facet": facet, "value": "b", "before": "a", "changed_at": NOON}
            row = {"endpoint": ENDPOINT, **changed, "noted_at": NOON}
            insert(connection, "provider_change", row)
        unread = {"endpoint": ENDPOINT, "kind": "auth", "region": "us-east", "runs": 2}
        insert(connection, "advisory", {**unread, "since": NOON, "last_at": NOON})
        for name in ("run", "declined"):
            slot = {"run": run, "declined": declined}[name]
            order = {"incident_id": ids["halved"], "run_id": slot.run_id, "ordered_at": NOON}
            insert(connection, "confirm_order", {**order, **AT_ENDPOINT})
        connection.execute(
            "update verdict set end_to_end_ratio = 1.8, end_to_end_ratio_low = 1.7,"
            " end_to_end_ratio_high = 1.9, under_load_ratio = 2.3"
        )
        connection.execute("update endpoint set location = 'l', account = 'a', tier = 't'")
        connection.execute(
            "update incident set unusual_end = 'left' where incident_id = %s", (ids["cleared"],)
        )
        token = issue_token(connection, "", Scope.ADMIN, NOON)
        region = issue_token(connection, "eu-west", Scope.REGION, NOON)
    push(pool, record_of(run, WHOLE, cost_usd=0.1), record_of(other, REFUSED))
    push(pool, record_of(run, WHOLE, name="second", cost_usd=0.1))
    push(pool, record_of(declined, declined=str(Decline.BUDGET)))
    push(pool, record_of(to_come) | {"v": VERSION + 1})
    roll_up(pool, Retention(), NOON + timedelta(days=1))
    return {
        **ids,
        "admin": token,
        "region": region,
        "run": run.run_id,
        "declined": declined.run_id,
        "to_come": to_come.run_id,
        "other": other.run_id,
    }


def asks(ids):
    """Each operation that answers a document, with parameters for which there is one."""
    silence = {"endpoints": "groq/*", "region": "eu-west", "for_s": 60, "why": "w", "by": "me"}
    heartbeat = {
        "worker": "w",
        "region": "eu-west",
        "version": "1",
        "catalog": "c",
        "in_hand": [],
        "outbox_runs": 0,
        "budget_left_usd": 1.0,
        "clock": to_rfc3339(NOON),
        "rate_limits": [{"provider": "groq", "key": "K", "unit": "tokens", "left_ratio": 0.5}],
    }
    run = {**AT, "key": "one"}
    yield from (("GET", f"/{name}", {}, {}) for name in ("livez", "readyz", "schema/run.json"))
    yield "POST", "/v1/workers", {}, {"body": heartbeat}
    yield "POST", "/v1/slots", {}, {"body": run}
    yield "POST", "/v1/runs", {}, {"body": {"runs": [{"run": "x", "execution": "y"}]}}
    yield "POST", "/api/silences", {}, {"body": silence}
    yield "POST", "/api/silences", {}, {"body": silence}
    yield "GET", "/api/silences", {}, {}
    yield "GET", "/api/silences", {}, {"query": {"limit": 1}}
    yield "DELETE", "/api/silences/{id}", {"id": 1}, {}
    yield "GET", "/api/status", {}, {}
    for name in ("board", "series", "verdicts", "changes"):
        yield "GET", f"/api/{name}", {}, {}
        yield "GET", f"/api/{name}", {}, {"query": {"limit": 1}}
    yield "GET", "/api/incidents", {}, {"query": {"state": "all", "limit": 1}}
    yield "GET", "/api/incidents", {}, {"query": {"state": "all"}}
    for name in ("path", "cleared", "halved"):
        yield "GET", "/api/incidents/{id}", {"id": ids[name]}, {}
        yield "GET", "/api/incidents/{id}/evidence", {"id": ids[name]}, {}
    yield "POST", "/api/incidents/{id}/acknowledge", {"id": ids["halved"]}, {"body": {"by": "x"}}
    yield "POST", "/api/incidents/{id}/accept", {"id": ids["halved"]}, {}
    yield "GET", "/api/evidence", {}, {"query": {"endpoint": ENDPOINT}}
    for name in ("run", "other", "declined", "to_come"):
        yield "GET", "/api/runs/{id}", {"id": str(ids[name])}, {}
    yield from (("GET", "/api/series/{id}/days", {"id": n}, {}) for n in (1, 2))


def test_answers_of_a_store_with_all_kinds_of_things_are_as_described(filled):
    pool, ids = filled
    client = TestClient(create_app(pool, board_fleet(), clock=lambda: NOON))
    seen = set()
    for method, path, place, asked in asks(ids):
        word = "region" if path in ("/v1/workers", "/v1/runs") else "admin"
        case = SCHEMA[path][method].Case(
            path_parameters=place,
            media_type="application/json" if "body" in asked else None,
            headers={"authorization": f"Bearer {ids[word]}"},
            **asked,
        )
        answer = client.request(**sent(case))
        assert answer.status_code in (200, 201), (method, path, answer.text)

        # whether a token is asked for is asked elsewhere: this check sends over the network
        case.validate_response(answer, excluded_checks=[ignored_auth])
        told = DESCRIBED["paths"][path][method.lower()]["responses"][str(answer.status_code)]
        (media,) = told["content"].values()
        seen |= set(members_told(DESCRIBED, media["schema"], answer.json()))

    described = {
        (name, member)
        for name, member, _ in described_members()
        if name.endswith("Document") and name not in UNASKED
    }
    assert sorted(described - seen) == []


def sent(case):
    told = case.as_transport_kwargs(base_url="http://testserver")
    del told["cookies"]
    return {**told, "content": told.pop("data", None)}


UNASKED = ("BatchDocument", "ExportLineDocument", "ProblemDocument")
"""Types that none of the answers above is of."""


def test_an_answer_with_a_member_that_is_not_described_is_found(filled):
    pool, _ = filled
    case = SCHEMA["/livez"]["GET"].Case()
    answer = TestClient(create_app(pool, board_fleet())).get("/livez")
    answer._content = b'{"status": "ok", "more": 1}'

    with pytest.raises(FailureGroup, match="Response violates schema"):
        case.validate_response(answer)
