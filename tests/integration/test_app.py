import http.client
import re
from contextlib import closing
from pathlib import Path
from typing import Annotated
from urllib.parse import urljoin, urlsplit

import pytest
from fastapi import Depends
from fastapi.testclient import TestClient
from support.centre import make_fleet, migrated_pool, served

from aggregator import db
from aggregator.api import body, server
from aggregator.api.app import create_app
from aggregator.api.centre import InTransaction, granted, utc_now
from aggregator.regions import Grant, Scope, issue_token


@pytest.fixture
def pool(database_url):
    with migrated_pool(database_url) as pool:
        yield pool


@pytest.fixture
def app(pool):
    return create_app(pool, make_fleet())


def test_health_tells_a_store_that_is_there(app):
    client = TestClient(app)

    assert client.get("/livez").status_code == 200
    assert client.get("/readyz").status_code == 200


def test_an_app_is_alive_and_not_ready_over_a_store_without_tables(database_url):
    pool = db.open_pool(database_url)
    client = TestClient(create_app(pool, make_fleet()))

    answer = client.get("/readyz")

    assert client.get("/livez").status_code == 200
    assert answer.status_code == 503
    assert "run pacewatch migrate" in answer.json()["detail"]
    pool.close()


def test_every_page_of_the_documentation_is_served_as_it_is_written(app):
    client = TestClient(app)
    docs = Path(__file__).parents[2] / "docs"
    for file in docs.glob("*/*.md"):
        answer = client.get(f"/{file.relative_to(docs)}")

        assert answer.text == file.read_text("utf-8")
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert client.get("/runbooks/..%2Findex.md").status_code == 404
    assert "RegionSilent.md" in client.get("/runbooks/Nothing.md").json()["detail"]
    page = client.get("/runbooks/Nothing.md", headers={"accept": "text/html"})
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")


def test_every_page_of_the_documentation_is_reached_from_its_index_and_no_link_is_dead(app):
    client = TestClient(app, headers={"accept": "text/html"})
    read: dict[str, str] = {}
    waiting = [("/manual", "")]
    while waiting:
        path, fragment = waiting.pop()
        if path not in read:
            answer = client.get(path)
            assert answer.headers["content-type"] == "text/html; charset=utf-8"
            assert answer.status_code == 200, path
            read[path] = answer.text
            links = re.findall(r'href="([^"]*)"', answer.text.partition("<main")[2])
            told = [urlsplit(urljoin(f"http://here{path}", link)) for link in links]
            waiting += [(one.path, one.fragment) for one in told if one.netloc == "here"]
        assert f'id="{fragment}"' in read[path] or not fragment, (path, fragment)
    docs = Path(__file__).parents[2] / "docs"
    assert set(read) == {"/manual", *(f"/{file.relative_to(docs)}" for file in docs.glob("*/*.md"))}


def test_the_page_of_a_runbook_has_its_commands_and_no_mark_of_its_source(app):
    page = TestClient(app, headers={"accept": "text/html"}).get("/runbooks/ProviderSlow.md")

    assert "<h1>ProviderSlow</h1>" in page.text
    assert "<li><code>pacewatch incidents show ID</code>, with the" in page.text
    assert '<a href="../explanation/judging.md">Judging</a>' in page.text
    assert "simulated" not in page.text
    judging = TestClient(app, headers={"accept": "text/html"}).get("/explanation/judging.md").text
    assert "<table>" in judging
    assert "<!-- " not in judging
    assert "&lt;!--" not in judging


def test_every_error_is_a_problem_document(app):
    answer = TestClient(app).get("/nowhere")

    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json() == {
        "type": "about:blank",
        "title": "Not Found",
        "status": 404,
        "detail": "nothing has this address",
    }


@pytest.mark.parametrize(
    ("method", "path", "status", "says"),
    [
        ("GET", "/nowhere", 404, "Nothing has this address."),
        ("GET", "/api/board?color=red", 422, "query.color: unknown (allowed: "),
        ("GET", "/api/board?load=many", 422, "query.load.0: input should be"),
        ("DELETE", "/api/board", 405, "DELETE is not taken here (allowed: GET)."),
        ("GET", "/fault", 500, "A fault of the centre&#39;s own; its log says which."),
        ("GET", "/broken", 503, "The store does not answer"),
    ],
)
def test_who_asks_for_a_page_has_every_error_as_one(app, method, path, status, says):
    @app.get("/fault")
    def fault() -> None:
        raise RuntimeError

    @app.get("/broken")
    def broken(connection: InTransaction) -> None:
        connection.execute("select * from nowhere")

    client = TestClient(app, raise_server_exceptions=False)
    page = client.request(method, path, headers={"accept": "text/html,*/*;q=0.8"})
    document = client.request(method, path, headers={"accept": "*/*"})

    assert (page.status_code, page.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert says in page.text
    assert document.json()["status"] == document.status_code == status
    for name in ("allow", "retry-after"):
        assert page.headers.get(name) == document.headers.get(name)


@pytest.mark.parametrize("path", ["/", "/api/board", "/metrics", "/livez", "/nowhere"])
def test_a_head_is_answered_as_a_get_without_its_body(pool, path):
    with served(pool, make_fleet()) as url, closing(link_to(url)) as link:
        link.request("HEAD", path)
        head = link.getresponse()
        body_of_head = head.read()
        link.request("GET", path)  # on the same connection: nothing of the first is left in it
        whole = link.getresponse()
        whole.read()

    assert (head.status, head.headers["content-type"]) == (
        whole.status,
        whole.headers["content-type"],
    )
    assert body_of_head == b""


def link_to(url):
    return http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("POST", "/api/board", "GET"), ("GET", "/v1/runs", "POST"), ("PUT", "/metrics", "GET")],
)
def test_a_method_that_an_address_does_not_take_is_a_problem_that_names_what_it_takes(
    app, method, path, allowed
):
    answer = TestClient(app).request(method, path)

    assert answer.status_code == 405
    assert answer.headers["content-type"] == "application/problem+json"
    assert allowed in answer.headers["allow"]
    assert (answer.json()["status"], answer.json()["title"]) == (405, "Method Not Allowed")


def test_a_fault_of_our_own_is_a_problem_that_tells_nothing_of_it(app):
    @app.get("/faulty")
    def faulty() -> None:
        raise ZeroDivisionError("of a secret by zero")

    answer = TestClient(app, raise_server_exceptions=False).get("/faulty")

    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"] == "a fault of the centre's own; its log says which"
    assert "secret" not in answer.text


def test_a_store_that_fails_is_told_as_a_time_to_wait(app):
    @app.get("/broken")
    def broken(connection: InTransaction) -> None:
        connection.execute("select * from nowhere")

    answer = TestClient(app).get("/broken")

    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
    assert "nowhere" not in answer.text


def test_a_transaction_is_committed_before_the_answer_goes_out(app, pool):
    @app.post("/write")
    def write(connection: InTransaction) -> None:
        issue_token(connection, "eu-west", "region", utc_now())

    TestClient(app).post("/write")

    with pool.connection() as connection:
        assert connection.execute("select 1 from region_token").rowcount == 1


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (None, 401),
        ("Bearer ", 401),
        ("Bearer wrong", 401),
        ("Basic {region}", 401),
        ("Bearer {admin}", 401),
        ("Bearer {region}", 200),
        ("bearer  {region}", 200),
    ],
)
def test_a_route_lets_in_only_tokens_of_its_scope(app, pool, header, status):
    @app.get("/guarded")
    def guarded(grant: Annotated[Grant, Depends(granted(Scope.REGION))]) -> str:
        return grant.region

    with pool.connection() as connection:
        tokens = {
            "region": issue_token(connection, "eu-west", "region", utc_now()),
            "admin": issue_token(connection, "", "admin", utc_now()),
        }
    headers = {} if header is None else {"Authorization": header.format(**tokens)}

    answer = TestClient(app).get("/guarded", headers=headers)

    assert answer.status_code == status
    if status == 401:
        assert answer.headers["www-authenticate"] == "Bearer"
    else:
        assert answer.json() == "eu-west"


def test_the_page_of_the_api_names_every_operation_and_loads_nothing_from_elsewhere(app):
    answer = TestClient(app).get("/docs")

    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    for path, methods in app.openapi()["paths"].items():
        for method in methods:
            assert f"<code>{method.upper()} {path}</code>" in answer.text
    assert "(allowed: <code>single</code>, <code>parallel</code>)" in answer.text
    assert "//" not in answer.text.replace("<!doctype", "")


@pytest.mark.parametrize("asked_before", [False, True])
def test_a_head_that_comes_little_by_little_is_not_waited_for(pool, monkeypatch, asked_before):
    monkeypatch.setattr(server, "HEAD_S", 0.2)

    with served(pool, make_fleet()) as url:
        where = urlsplit(url)
        link = http.client.HTTPConnection(where.netloc, timeout=60)
        link.connect()
        with closing(link.sock) as wire:
            if asked_before:
                link.request("GET", "/livez")
                assert link.getresponse().read() == b'{"status":"ok"}'
            wire.sendall(b"GET /livez HTTP/1.1\r\nhost: here\r\nx: ")

            assert wire.recv(4_096) == b""


def test_a_body_that_comes_little_by_little_is_not_waited_for(pool, monkeypatch):
    monkeypatch.setattr(body, "BODY_S", 0.2)
    with pool.connection() as connection:
        token = issue_token(connection, "eu-west", Scope.REGION, utc_now())

    with served(pool, make_fleet()) as url:
        where = urlsplit(url)
        for path in ("/v1/workers", "/v1/runs"):
            link = http.client.HTTPConnection(where.netloc, timeout=10)
            link.putrequest("POST", path)
            link.putheader("authorization", f"Bearer {token}")
            link.putheader("content-length", "1000")
            link.endheaders(b"{")

            assert link.getresponse().status == 503
            link.close()
