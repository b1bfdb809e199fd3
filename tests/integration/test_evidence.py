"""Evidence for a provider: over HTTP, and as files that the command writes."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient
from support.boards import board_fleet, filled_pool
from support.centre import served
from support.probing import probe
from support.records import NOON, hash_of, make_slot, plan, push, record_of
from support.seed import Measured, Sample, push_all
from support.servers import fresh_database
from support.telltale import telltale
from support.timings import make_timing
from typer.testing import CliRunner

from aggregator.api.app import create_app
from aggregator.bundle import LONGEST, MOST_RUNS
from pacewatch.cli.app import app
from pacewatch.cli.evidence_page import safe
from pacewatch.words.errors import PacewatchError, SettingsError
from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import Purpose, to_rfc3339
from pacewatch.words.timing import Chunks, Connection, Fault, Identity
from pacewatch.words.wire import encode_run

ENDPOINT = "zai/glm-5.2"
SINCE = NOON - timedelta(minutes=20)


@pytest.fixture(scope="module")
def pool(postgres_url):
    with fresh_database(postgres_url) as url, filled_pool(url) as pool:
        yield pool


@pytest.fixture(scope="module")
def client(pool):
    return TestClient(create_app(pool, board_fleet(), clock=lambda: NOON))


@pytest.fixture(scope="module")
def address(pool):
    with served(pool, board_fleet(), clock=lambda: NOON) as address:
        yield address


@pytest.fixture(scope="module")
def slowed(pool):
    """Eight runs of 1 s before, six of 2 s since, from two regions, and one that was confirmed."""
    before = [NOON - timedelta(minutes=24, seconds=40 * n + 5) for n in range(8)]
    since = [NOON - timedelta(minutes=3 * n + 1, seconds=5) for n in range(6)]
    samples = [Sample(at=at, tokens_per_s=100.0, ttft_s=1.0) for at in before]
    samples += [Sample(at=at, tokens_per_s=50.0, ttft_s=2.0) for at in since]
    push_all(
        pool,
        [
            Measured(samples=samples, endpoint="inception/mercury-2", region=region)
            for region in ("eu-west", "us-east")
        ],
        NOON,
        window_s=board_fleet().schedule.window_s,
    )
    slot = make_slot(SINCE + timedelta(minutes=2), endpoint="inception/mercury-2")
    slot = replace(slot, purpose=Purpose.CONFIRM)
    failed = make_timing(
        outcome=Outcome.OVERLOADED,
        fault=Fault(status=503, type="over|loaded"),
        chunks=Chunks(),
        identity=Identity(request_id="req_9"),
        connection=Connection(connect_us=1800, tls_us=2500, rtt_us=(900, 950), retransmits=2),
    )
    with pool.connection() as connection:
        plan(connection, slot)
    push(pool, record_of(slot, failed), now=NOON)
    return slot


def ask(client, **asked):
    answer = client.get("/api/evidence", params=asked)
    assert answer.status_code == 200
    return answer.json()


def run(address, *words):
    variables = {"PACEWATCH_AGGREGATOR_URL": address, "COLUMNS": "100"}
    return CliRunner().invoke(app, ("evidence", *words), env=variables)


def test_medians_since_a_moment_stand_beside_those_of_the_window_before(client, slowed):
    told = ask(client, endpoint=slowed.endpoint, since=to_rfc3339(SINCE))

    everywhere, own, _ = told["medians"]
    assert (everywhere["region"], own["region"]) == (None, "eu-west")
    assert own["ttft_s"]["before"] == {
        "runs": 8,
        "median": 1.0,
        "low": 1.0,
        "high": 1.0,
        "interval_percent": 95,
    }
    assert own["ttft_s"]["since"]["median"] == 2.0
    assert own["output_tokens_per_s"]["since"]["median"] == pytest.approx(50, rel=1e-3)
    assert everywhere["ttft_s"]["since"]["runs"] == 12
    assert everywhere["ttft_s"]["since"]["median"] == 2.0


def test_outcomes_requests_and_network_are_told_with_the_providers_request_ids(client, slowed):
    told = ask(client, endpoint=slowed.endpoint, since=to_rfc3339(SINCE))

    (bad,) = [one for one in told["outcomes"] if one["outcome"] != "ok"]
    assert (bad["before"], bad["since"], bad["error"]["status"]) == (0, 1, 503)
    (failed,) = [one for one in told["runs"] if one["run"] == str(slowed.run_id)]
    assert (failed["purpose"], failed["in_medians"]) == ("confirm", True)
    (request,) = failed["requests"]
    assert (request["request_id"], request["connection"]["tls_us"]) == ("req_9", 2500)
    (network, _) = told["network"]
    assert network["since"]["retransmits"] == 2
    assert network["since"]["connections"] == 7
    assert told["runs_left_out"] == 0


def test_an_incident_brings_its_endpoints_its_times_and_its_story(client, pool, slowed):
    with pool.connection() as connection:
        incident = open_incident(connection, slowed.endpoint)

    told = client.get(f"/api/incidents/{incident}/evidence").json()

    assert (told["since"], told["until"]) == (to_rfc3339(SINCE), to_rfc3339(NOON))
    assert [one["endpoint"] for one in told["endpoints"]] == [slowed.endpoint]
    assert told["incident"]["class"] == "provider"
    assert [event["kind"] for event in told["incident"]["timeline"]] == ["suspected"]
    assert (
        told["medians"] == ask(client, endpoint=slowed.endpoint, since=to_rfc3339(SINCE))["medians"]
    )


def open_incident(connection, endpoint):
    row = connection.execute(
        "insert into incident (provider, region, trouble, class, state, importance, simulated,"
        " since, opened_at) values ('inception', '', 'first_token', 'provider', 'suspected',"
        " 'page', true, %(at)s, %(at)s) returning incident_id",
        {"at": SINCE},
    ).fetchone()
    values = {"incident": row["incident_id"], "endpoint": endpoint, "at": SINCE}
    connection.execute(
        "insert into incident_endpoint (incident_id, endpoint, trouble, ratio, ratio_low,"
        " ratio_high, since) values (%(incident)s, %(endpoint)s, 'first_token', 2.0, 1.8, 2.2,"
        " %(at)s)",
        values,
    )
    connection.execute(
        "insert into incident_event (incident_id, at, kind, text)"
        " values (%(incident)s, %(at)s, 'suspected', 'the first token is *late*')",
        values,
    )
    return row["incident_id"]


def test_evidence_names_the_definitions_of_both_times(address, pool, slowed, tmp_path):
    with pool.connection() as connection:
        connection.execute(
            "update run set definition = 2 from series where series.series_id = run.series_id"
            " and endpoint = %s and slot_at > %s",
            (slowed.endpoint, SINCE),
        )
    try:
        run(address, slowed.endpoint, "--since", to_rfc3339(SINCE), "-o", str(tmp_path))
    finally:
        with pool.connection() as connection:
            connection.execute("update run set definition = 1")

    told = json.loads((tmp_path / "evidence.json").read_text())
    assert told["definitions"] == [1, 2]
    assert {one["definition"] for one in told["runs"]} == {2}
    page = (tmp_path / "evidence.md").read_text()
    assert "definitions version 1, 2.\nRuns of different definitions are not to be" in page


def test_the_command_writes_what_the_api_says_as_markdown_and_json(
    client, address, pool, slowed, tmp_path
):
    with pool.connection() as connection:
        incident = open_incident(connection, slowed.endpoint)
    folder = tmp_path / "ticket"

    written = run(address, "--incident", str(incident), "-o", str(folder))
    again = run(address, "--incident", str(incident), "-o", str(folder))
    printed = run(address, slowed.endpoint, "--since", to_rfc3339(SINCE), "--json")

    assert written.exit_code == 0
    assert (
        json.loads((folder / "evidence.json").read_text())
        == client.get(f"/api/incidents/{incident}/evidence").json()
    )
    page = (folder / "evidence.md").read_text()
    assert "**Simulated**" in page
    assert (
        "| inception/mercury-2 | eu-west | short, single | 1.00 s (1.00 s\u20131.00 s at 95 %"
        in page
    )
    assert "2.00 s (2.00 s\u20132.00 s at 95 %, 6 runs)" in page
    assert "overloaded 503 over\\|loaded" in page
    assert "| req_9 |" in page
    assert "the first token is \\*late\\*" in page
    assert isinstance(again.exception, SettingsError)
    assert "is there already" in str(again.exception)
    assert json.loads(printed.stdout)["endpoints"][0]["endpoint"] == slowed.endpoint


def test_of_too_few_runs_evidence_tells_their_number_and_no_median(address, tmp_path):
    moments = (NOON - timedelta(minutes=5), NOON - timedelta(seconds=25))
    since, until = map(to_rfc3339, moments)

    run(address, ENDPOINT, "--since", since, "--until", until, "-o", str(tmp_path))

    told = json.loads((tmp_path / "evidence.json").read_text())
    (single,) = [one for one in told["medians"] if one["load"] == "single"]
    few = {"runs": 4, "median": None, "low": None, "high": None, "interval_percent": None}
    assert single["ttft_s"]["since"] == single["output_tokens_per_s"]["since"] == few
    page = (tmp_path / "evidence.md").read_text()
    assert page.count(f"| {ENDPOINT} | eu-west | short, single | \u2013 | too few: 4 runs |") == 3


def test_no_secret_gets_into_evidence_whatever_a_provider_tells(pool, address, tmp_path):
    key = "test-key-0123456789abcdef"
    with telltale() as (server, url):
        good = probe(url, key=key)
        server.answers = False
        bad = probe(url, key=key)
    with pool.connection() as connection:
        for n, made in enumerate((good, bad)):
            slot = make_slot(NOON - timedelta(seconds=20 + n), endpoint=ENDPOINT)
            plan(connection, slot)
            connection.commit()
            record = encode_run(
                replace(
                    made,
                    run_id=slot.run_id,
                    region=slot.region,
                    endpoint=slot.endpoint,
                    endpoint_hash=hash_of(slot.endpoint, slot.workload),
                    workload=slot.workload,
                    load=slot.load,
                    simulated=True,
                )
            )
            push(pool, {**record, "prompt": server.heard[1], "key": key}, now=NOON)

    written = run(
        address, ENDPOINT, "--since", to_rfc3339(NOON - timedelta(minutes=1)), "-o", str(tmp_path)
    )

    assert written.exit_code == 0
    texts = [(tmp_path / name).read_text() for name in ("evidence.md", "evidence.json")]
    assert all("req_7d1" in text for text in texts)
    secrets = {key, key[8:], *server.heard, *(text[:40] for text in server.heard)}
    assert [text for text in texts for secret in secrets if secret in text] == []


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/api/evidence?endpoint=zai/glm-5", 404, 'endpoint "zai/glm-5": unknown'),
        ("/api/incidents/999/evidence", 404, "incident 999: unknown"),
        (f"/api/evidence?endpoint={ENDPOINT}&until=0001-01-01T00:00:00Z", 422, "the calendar"),
    ],
)
def test_what_cannot_be_told_is_refused_in_words(client, path, status, sentence):
    answer = client.get(path)

    assert answer.status_code == status
    assert sentence in answer.json()["detail"]


def test_evidence_looks_back_a_month_at_most_and_says_so(client):
    told = ask(client, endpoint=ENDPOINT, since="0001-01-01T00:00:00Z")

    assert told["since"] == to_rfc3339(NOON - LONGEST)


def test_a_time_without_a_run_is_no_evidence(address, tmp_path):
    found = run(
        address, ENDPOINT, "--since", "2026-12-03", "--until", "2026-12-04", "-o", str(tmp_path)
    )

    assert isinstance(found.exception, PacewatchError)
    assert "nothing was measured between" in str(found.exception)
    assert list(tmp_path.iterdir()) == []


def test_the_command_wants_one_thing_and_a_time(address):
    found, unknown = run(address, "--since", "soon"), run(address, "zai/glm-5")

    assert isinstance(found.exception, SettingsError)
    assert isinstance(unknown.exception, SettingsError)
    assert "ENDPOINT or --incident: one of them is needed" in str(found.exception)
    assert '--since: "soon" is no time' in str(found.exception)


def test_only_the_latest_runs_are_told_one_by_one(pool, client):
    samples = [
        Sample(at=NOON - timedelta(seconds=2 * n + 1), tokens_per_s=90, ttft_s=0.5)
        for n in range(MOST_RUNS + 20)
    ]
    push_all(
        pool, [Measured(samples=samples, endpoint="deepinfra/gpt-oss-120b", region="eu-west")], NOON
    )

    told = ask(
        client, endpoint="deepinfra/gpt-oss-120b", since=to_rfc3339(NOON - timedelta(minutes=11))
    )

    assert len(told["runs"]) == MOST_RUNS
    assert told["runs_left_out"] >= 20
    assert told["runs"][0]["slot_at"] == to_rfc3339(NOON - timedelta(seconds=1))


def test_text_of_others_is_only_text_in_markdown():
    assert safe("a|b\n<b>*[x](y)`") == "a\\|b &lt;b&gt;\\*\\[x\\](y)\\`"
