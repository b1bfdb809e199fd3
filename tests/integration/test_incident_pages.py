"""Pages of incidents, and what the board tells of them, over a real store."""

import re
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient
from support.believed import STORY, Made, add_incident, believe, storied
from support.boards import HOSTILE, board_fleet, filled_pool
from support.records import NOON
from support.seed import insert
from support.servers import fresh_database

from aggregator.api.app import create_app


@pytest.fixture(scope="module")
def pool(postgres_url):
    with fresh_database(postgres_url) as url, filled_pool(url) as pool:
        yield pool


@pytest.fixture(scope="module")
def ids(pool):
    with pool.connection() as connection:
        return believe(connection, NOON)


def client_at(pool, moment=NOON):
    return TestClient(create_app(pool, board_fleet(), clock=lambda: moment))


@pytest.fixture
def client(pool, ids):
    return client_at(pool)


def words(client, address, status=200):
    answer = client.get(address, headers={"accept": "text/html"})
    assert answer.status_code == status
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "<script" not in answer.text
    return " ".join(re.sub(r"<[^>]*>", " ", answer.text).split()), answer.text


def test_an_incidents_page_renews_itself_until_it_has_ended(client, pool, ids):
    fields = {"state": "closed", "ended_at": NOON, "since": NOON}
    with pool.connection() as connection:
        ended = add_incident(connection, Made(fields=fields), NOON)
    renewed, source = words(client, f"/incidents/{ids['halved']}")
    still, its_source = words(client, f"/incidents/{ended}")

    assert "UTC, renewed every 10 s" in renewed
    assert '<meta http-equiv="refresh" content="10">' in source
    assert "renewed" not in still
    assert "refresh" not in its_source
    assert "UTC, renewed every 10 s" in words(client, "/incidents")[0]
    with pool.connection() as connection:
        connection.execute("delete from incident where incident_id = %s", (ended,))


def test_an_incidents_page_says_what_how_much_since_when_and_whose_fault(client, ids):
    text, source = words(client, f"/incidents/{ids['halved']}")

    assert "groq/gpt-oss-120b: output 2.1 times slower than usual" in text
    assert "2.1 (1.9\u20132.3)" in text
    assert "Going on for 60 min. Nobody has it in hand yet." in text
    assert "for slow in two of the two regions that were asked" in text
    assert "against connect times are as always" in text
    assert "2026-12-02 11:15:00 UTC" in text
    assert f"pacewatch incidents ack {ids['halved']}" in text
    assert f"pacewatch evidence --incident {ids['halved']}" in text
    assert 'href="/endpoints/groq/gpt-oss-120b"' in source
    assert len(re.findall(r'href="/runs/[0-9a-f-]{36}"', source)) == 2
    assert "Simulated." in text


@pytest.mark.parametrize(
    ("blame", "trouble", "alert"),
    [
        ("provider", "first_token", "ProviderSlow"),
        ("model", "output_speed", "ProviderSlow"),
        ("model", "gone", "ModelNotServed"),
        ("provider", "failures", "EndpointFailing"),
        ("quota", "quota", "ProviderThrottled"),
        ("region_path", "first_token", "IncidentAdvisory"),
        ("prober", "timing", "IncidentAdvisory"),
    ],
)
def test_an_incidents_page_links_to_the_runbook_of_its_alert(client, pool, blame, trouble, alert):
    with pool.connection() as connection:
        made = Made(fields={"class": blame, "trouble": trouble})
        number = add_incident(connection, made, NOON)

    _, source = words(client, f"/incidents/{number}")

    (address,) = re.findall(r'<a href="([^"]*)">What to do about it</a>', source)
    assert address == f"/runbooks/{alert}.md"
    assert f"<h1>{alert}</h1>" in words(client, address)[1]
    with pool.connection() as connection:
        connection.execute("delete from incident where incident_id = %s", (number,))


def test_the_timeline_of_an_incident_stands_on_its_page_from_the_first_to_the_last(pool, client):
    with pool.connection() as connection:
        number = add_incident(connection, storied(NOON), NOON)
    _, source = words(client, f"/incidents/{number}")
    table = source.partition("<h2>Timeline</h2>")[2].partition("</table>")[0]
    rows = re.findall(r"<th scope=\"row\">([^<]*)</th>.*?<td>(\w+)</td>.*?>([^<]*)</td>", table)
    with pool.connection() as connection:
        for name in ("incident_event", "incident_endpoint", "incident"):
            connection.execute(f"delete from {name} where incident_id = %s", (number,))

    assert [(kind, text) for _, kind, text in rows] == list(STORY)
    assert (rows[0][0], rows[-1][0]) == ("2026-12-02 11:10:00 UTC", "2026-12-02 12:00:00 UTC")


def test_what_is_heard_no_more_is_nowhere_told_to_be_as_usual(pool):
    eased = NOON - timedelta(minutes=7)
    fields = {"state": "eased", "eased_at": eased, "unusual_end": "unheard"}
    made = Made(fields=fields, endpoints=[{"endpoint": "groq/gpt-oss-120b", "eased_at": eased}])
    with pool.connection() as connection:
        number = add_incident(connection, made, NOON)
    client = client_at(pool)
    shown, _ = words(client, f"/incidents/{number}")
    listed, _ = words(client, "/incidents")
    document = client.get(f"/api/incidents/{number}").json()
    with pool.connection() as connection:
        connection.execute("update incident set state = 'closed' where incident_id = %s", (number,))
        connection.commit()
        closed, _ = words(client, f"/incidents/{number}")
        for table in ("incident_endpoint", "incident"):
            connection.execute(f"delete from {table} where incident_id = %s", (number,))

    why = "nothing was heard of it any more"
    assert f"Eased after 53 min: {why}; it closes when that has lasted." in shown
    assert "eased 7 min ago" in shown
    assert f"eased 7 min ago: {why}" in listed
    assert f"Closed: {why}. It went on for 53 min." in closed
    assert "as usual" not in shown + closed
    assert document["unusual_end"] == "unheard"


def test_the_list_has_the_open_ones_first_and_then_the_past_ones(client, ids):
    text, source = words(client, "/incidents")

    assert text.index("Open") < text.index("output 2.1 times slower") < text.index("Past")
    assert text.index("Past") < text.index("first token 3.4 times slower than usual")
    for number in ids.values():
        assert f'href="/incidents/{number}"' in source


def test_without_an_open_incident_the_list_says_so_and_when_somebody_looked(pool, ids):
    with pool.connection() as connection:
        connection.execute(
            "update incident set state = 'closed', ended_at = %s where incident_id = %s",
            (NOON, ids["halved"]),
        )
        try:
            connection.commit()
            text, _ = words(client_at(pool, NOON + timedelta(minutes=3)), "/incidents")
            board, _ = words(client_at(pool), "/")
        finally:
            connection.execute(
                "update incident set state = 'confirmed', ended_at = null where incident_id = %s",
                (ids["halved"],),
            )

    assert "No incident is open. The latest round of judging ended 3 min ago." in text
    assert "Incident " not in board


def test_the_board_begins_with_the_open_incidents_and_tells_each_endpoints_verdict(client, ids):
    text, source = words(client, "/")

    assert f"Incident {ids['halved']} groq/gpt-oss-120b: output 2.1 times slower" in text
    assert f'href="/incidents/{ids["halved"]}"' in source
    assert "slow for 60 min: output 2.1 times slower than usual" in text


def test_a_region_of_the_board_tells_the_verdict_in_that_region(client):
    text, _ = words(client, "/?region=us-east")

    assert "silent for 60 min" in text
    assert "slow for 60 min" not in text


def test_what_is_written_into_an_incident_is_text_and_nothing_else(pool):
    made = Made(
        fields={"speaks_for": [HOSTILE], "state": "closed", "ended_at": NOON, "since": NOON},
        endpoints=[{"endpoint": "own/gpt-oss-120b@fp8#lab"}],
    )
    with pool.connection() as connection:
        number = add_incident(connection, made, NOON)

    _, source = words(client_at(pool), f"/incidents/{number}")
    assert "&lt;script&gt;alert(1)" in source
    assert "/endpoints/own/gpt-oss-120b%40fp8%23lab" in source


@pytest.mark.parametrize(
    "address", ["/incidents/999999", "/incidents/nine", "/incidents/" + "9" * 40]
)
def test_an_incident_that_is_not_there_has_a_page_that_says_so(client, address):
    text, _ = words(client, address, status=404)

    assert "There is no incident" in text


def test_an_unknown_address_is_a_page_to_browsers_and_a_problem_to_all_else(client):
    text, _ = words(client, "/nowhere", status=404)
    other = client.get("/nowhere")

    assert "Nothing has this address." in text
    assert (other.status_code, other.headers["content-type"]) == (404, "application/problem+json")


def test_what_is_to_be_set_right_is_told_until_a_run_there_goes_well(pool, client):
    def told():
        problems = client.get("/api/status").json()["problems"]
        return [one for one in problems if "repeat themselves" in one]

    row = {
        "endpoint": "cerebras/gpt-oss-120b",
        "kind": "degenerate",
        "region": "eu-west",
        "since": NOON - timedelta(hours=2),
        "last_at": NOON,
        "runs": 3,
    }
    with pool.connection() as connection:
        insert(connection, "advisory", row)
    text, _ = words(client, "/endpoints/cerebras/gpt-oss-120b")
    standing = told()
    with pool.connection() as connection:
        connection.execute("update advisory set last_at = last_at - interval '1 hour'")

    sentence = "answers repeat themselves, so their figures are left out, in eu-west, for 2 h"
    assert f"To be set right: {sentence}." in text
    assert [f"endpoint cerebras/gpt-oss-120b: {sentence}"] == standing
    assert told() == []
