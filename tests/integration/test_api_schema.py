"""Asks the API for all that its own description lets one ask, and for what it does not: every
answer is one that is described, and none is a fault of ours.
"""

import re

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import ignored_auth, negative_data_rejection
from support.boards import board_fleet, filled_pool
from support.described import closed
from support.records import NOON
from support.servers import fresh_database

from aggregator.api.app import create_app

DESCRIBED = closed(create_app(None, board_fleet()).openapi())
SCHEMA = schemathesis.openapi.from_dict(DESCRIBED)
ASKED = [
    (method.upper(), path, mode)
    for path, methods in DESCRIBED["paths"].items()
    for method, told in methods.items()
    for mode in GenerationMode
    if mode is GenerationMode.POSITIVE
    or any(one["in"] != "header" for one in told.get("parameters", ()))
]
"""What takes no parameter, or a header of any text, cannot be asked wrongly."""


@pytest.fixture(scope="module")
def client(postgres_url):
    with fresh_database(postgres_url) as url, filled_pool(url) as pool:
        app = create_app(pool, board_fleet(), clock=lambda: NOON)
        yield TestClient(app, raise_server_exceptions=False)


@pytest.mark.parametrize(("method", "path", "mode"), ASKED)
def test_every_answer_is_one_that_is_described(client, method, path, mode):
    @settings(
        max_examples=10,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
    @given(case=SCHEMA[path][method].as_strategy(generation_mode=mode))
    def ask(case):
        told = case.as_transport_kwargs(base_url="http://testserver")
        del told["cookies"]
        content = told.pop("data", None)
        # a query is text, so what was meant as a number is a name of nothing; and the other check
        # sends over the network
        case.validate_response(
            client.request(**told, content=content),
            excluded_checks=[negative_data_rejection, ignored_auth],
        )

    ask()


def test_a_misspelt_filter_is_refused_with_those_that_the_description_has(client):
    found = 0
    for path, methods in DESCRIBED["paths"].items():
        for method, told in methods.items():
            names = sorted(x["name"] for x in told.get("parameters", ()) if x["in"] == "query")
            known = client.request(method, path, params=dict.fromkeys(names, ""))
            assert "unknown (allowed" not in known.text
            if path.startswith("/api/"):
                wrong = client.request(method, path, params={"modle": "gpt-oss-120b"})
                assert (wrong.status_code, wrong.headers["content-type"]) == (
                    422,
                    "application/problem+json",
                )
                allowed = ", ".join(names) or "none"
                assert wrong.json()["detail"] == f"query.modle: unknown (allowed: {allowed})"
                found += 1
    assert found > 10


def test_a_name_that_has_one_value_is_refused_where_it_is_given_twice(client):
    told = {
        (path, one["name"]): (one["schema"], client.get(path, params={one["name"]: ["1", "2"]}))
        for path, methods in DESCRIBED["paths"].items()
        if path.startswith("/api/")
        for one in methods.get("get", {}).get("parameters", ())
        if one["in"] == "query"
    }
    single = {
        one
        for one, (schema, answer) in told.items()
        if "given 2 times (allowed: once)" in answer.text and answer.status_code == 422
    }

    assert single == {one for one, (schema, _) in told.items() if "array" not in str(schema)}
    assert {("/api/incidents", "limit"), ("/api/evidence", "endpoint")} <= single
    assert ("/api/series", "model") not in single


def lists():
    """Give each list of the API with a query that it answers."""
    for path in DESCRIBED["paths"]:
        if path.startswith("/api/") and "{" not in path and path != "/api/export":
            yield (
                path,
                {"endpoint": "own/gpt-oss-120b@fp8#lab"} if path == "/api/evidence" else {},
            )


def moments(document):
    """Give every moment that a document tells, by its name."""
    members = document.items() if isinstance(document, dict) else enumerate(document)
    for name, value in members:
        if isinstance(value, dict | list):
            yield from moments(value)
        elif re.fullmatch(r"at|.*_at", str(name)) and value is not None:
            yield name, value


def test_every_list_has_a_tag_that_spares_sending_it_again(client):
    for path, query in lists():
        tag = client.get(path, params=query).headers["etag"]

        again = client.get(path, params=query, headers={"If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b""), path


def test_every_moment_is_told_as_rfc_3339_in_utc(client):
    for path, query in lists():
        told = dict(moments(client.get(path, params=query).json()))

        assert "at" in told, path
        for name, value in told.items():
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", value), (path, name)
