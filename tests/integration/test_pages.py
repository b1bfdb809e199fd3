"""Pages of single things over a real store."""

import re
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser

import pytest
from fastapi.testclient import TestClient
from support.boards import HOSTILE, board_fleet, filled_pool
from support.records import NOON, make_slot, plan, push, record_of
from support.seed import insert
from support.servers import fresh_database
from support.timings import make_chunks, make_timing

from aggregator.api.app import create_app
from aggregator.board import Filter, read_board
from aggregator.endpoint_page import endpoint_page
from aggregator.model_page import model_page
from aggregator.one_endpoint import read_endpoint
from aggregator.partitions import drop_old_days
from pacewatch.words.flag import Flag
from pacewatch.words.outcome import Decline, Outcome
from pacewatch.words.retention import Retention
from pacewatch.words.slot import Load
from pacewatch.words.timing import Chunks, Connection, Fault, Identity, ServerTimings


@pytest.fixture(scope="module")
def pool(postgres_url):
    with fresh_database(postgres_url) as url, filled_pool(url) as pool:
        yield pool


@pytest.fixture
def client(pool):
    return TestClient(create_app(pool, board_fleet(), clock=lambda: NOON))


@pytest.fixture(scope="module")
def slots(pool):
    """Slots that no test has answered yet."""
    made = (n for n in range(1, 60))

    def take(at=NOON, **fields):
        moment = at - timedelta(seconds=next(made))
        slot = make_slot(moment, endpoint="nvidia/gpt-oss-120b", **fields)
        with pool.connection() as connection:
            plan(connection, slot)
        return slot

    return take


class Seen(HTMLParser):
    """What a browser makes of a page: its tags, and its words in one line."""

    def __init__(self, text):
        super().__init__()
        self.tags, self._words = [], []
        self.feed(text)
        self.words = " ".join(" ".join(self._words).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self._words.append(data)

    def every(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def links(self):
        return [attributes["href"] for attributes in self.every("a")]


def insert_change(connection, **fields):
    insert(
        connection,
        "provider_change",
        {
            "endpoint": "cerebras/gpt-oss-120b",
            "facet": "fingerprint",
            "value": "fp_2",
            "before": "fp_1",
            "changed_at": NOON,
            "noted_at": NOON,
        }
        | fields,
    )


def insert_incident(connection, endpoint, since):
    row = connection.execute(
        "insert into incident (provider, region, trouble, class, state, importance, simulated,"
        " since, opened_at, confirmed_at) values ('cerebras', '', 'output_speed', 'provider',"
        " 'confirmed', 'page', true, %(since)s, %(since)s, %(since)s) returning incident_id",
        {"since": since},
    ).fetchone()
    insert(
        connection,
        "incident_endpoint",
        {
            "incident_id": row["incident_id"],
            "endpoint": endpoint,
            "trouble": "output_speed",
            "ratio": 2.04,
            "since": since,
        },
    )


def seen(client, address, status=200):
    answer = client.get(address)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "script" not in answer.headers["content-security-policy"]
    return Seen(answer.text)


def test_a_runs_page_has_figures_timeline_request_id_and_the_providers_own_times(
    client, pool, slots
):
    slot = slots()
    timing = make_timing(
        make_chunks(200, 300, 400, kind="raa"),
        connection=Connection(connect_us=1800, tls_us=2500, http="1.1", rtt_us=(900, None)),
        identity=Identity(model="tide-1", request_id=HOSTILE),
        server_timings=ServerTimings(queue_s=0.02, total_s=0.3),
        flags=(Flag.COALESCED,),
    )
    push(pool, record_of(slot, timing))

    page = seen(client, f"/runs/{slot.run_id}")

    assert f"nvidia/gpt-oss-120b from {slot.region}, workload short, one request" in page.words
    assert "scheduled: planned by the schedule" in page.words
    assert "0 ok 200 ms 300 ms 10.0 400 ms 100 ms 3 coalesced" in page.words
    assert HOSTILE in page.words  # as text: the parser saw no tag in it
    assert page.every("script") == []
    assert "in all 300 ms; measured: 400 ms, so path and queue took 100 ms" in page.words
    assert "round trip before 0.90 ms" in page.words
    assert "several packets in front of the first or last arrival" in page.words
    assert [(p["class"], p["d"]) for p in page.every("path")] == [
        ("tick reasoning", "M444 0v16"),
        ("tick answer", "M666 0v16M888 0v16"),
        ("headers", "M200 0v16"),
    ]


def test_a_parallel_runs_page_has_a_lane_a_request_and_says_what_is_left_out(client, pool, slots):
    slot = slots(load=Load.PARALLEL)
    limited = make_timing(
        n=9,
        outcome=Outcome.RATE_LIMITED,
        chunks=Chunks(),
        fault=Fault(status=429, type="rate_limit_exceeded", retry_after_s=7),
    )
    push(pool, record_of(slot, *[make_timing(n=n) for n in range(9)], limited))

    page = seen(client, f"/runs/{slot.run_id}")

    assert len(page.every("svg")) == 10
    assert "1 of 10 requests ended badly, the first: rate limited: HTTP 429." in page.words
    assert page.words.count("(200 ms)") == 18  # first token and first answer token of nine
    assert "throttled a parallel run with 429s" in page.words
    assert "asked to wait 7.00 s" in page.words


def test_a_run_without_its_timeline_keeps_its_figures(client, pool, slots):
    slot = slots(NOON - timedelta(days=20))
    push(pool, record_of(slot), now=slot.slot_at)
    with pool.connection() as connection:
        connection.autocommit = True
        drop_old_days(connection, Retention(), NOON)
        connection.autocommit = False

    page = seen(client, f"/runs/{slot.run_id}")

    assert "Its timeline is no longer kept; the figures stay." in page.words
    assert "0 ok 200 ms" in page.words
    assert page.every("svg") == []


def test_what_nobody_ran_and_what_did_not_count_is_told(client, pool, slots):
    waiting, declined, twice = slots(), slots(), slots()
    ours = replace(make_timing(), outcome=Outcome.INTERNAL)
    push(pool, record_of(declined, declined=Decline.NO_KEY))
    push(pool, record_of(twice, ours, name="ours"), record_of(twice))
    push(pool, record_of(twice, name="late", cost_usd=0.3))

    assert "It was sent to its region" in seen(client, f"/runs/{waiting.run_id}").words
    page = seen(client, f"/runs/{declined.run_id}")
    assert "Nobody ran it: the worker has no key for it." in page.words
    assert "measured nothing: the worker has no key." in page.words
    push(pool, record_of(declined))
    page = seen(client, f"/runs/{declined.run_id}")
    assert "run, after it had been missed (declined:no_key)" in page.words
    page = seen(client, f"/runs/{twice.run_id}")
    assert "measured nothing: a fault of our own." in page.words
    assert "came after the one that counts, and cost US$ 0.30." in page.words


def test_an_endpoints_page_has_each_regions_medians_with_their_intervals(client):
    page = seen(client, "/endpoints/cerebras/gpt-oss-120b")

    assert "Cerebras serves gpt-oss-120b" in page.words
    (all_regions,) = re.findall(r"all regions ([\d,]+) ([\d,]+)\u2013([\d,]+) 211 ms", page.words)
    median, low, high = (int(text.replace(",", "")) for text in all_regions)
    assert low < median < high
    assert "eu-west 1,738 1,704\u20131,782" in page.words
    assert "us-east 1,579" in page.words
    assert "/models/gpt-oss-120b?workload=short&load=single" in page.links


def test_each_run_is_a_dot_that_leads_to_it(client):
    page = seen(client, "/endpoints/groq/gpt-oss-120b?load=parallel")

    dots = [path["class"] for path in page.every("path") if path["class"].startswith("dot")]
    assert dots.count("dot good") == 2 * (5 + 3)  # two figures; the latest two failed in us-east
    assert dots.count("dot failed") == 2 * 2
    linked = [link for link in page.links if link.startswith("/runs/")]
    assert seen(client, linked[0]).words.count("10 requests at once") == 1


def test_charts_of_runs_and_of_days_mark_where_definitions_and_the_provider_changed(pool, client):
    with pool.connection() as connection, connection.transaction(force_rollback=True):
        connection.execute(
            "update run set definition = 2 where slot_at > %s", (NOON - timedelta(minutes=5),)
        )
        connection.execute(
            "insert into day_stat select day, series_id, case when n > 3 then 1 else 2 end, 8, 8,"
            " 8, 0, array[.1,.2,.3,.4,.5], 8, null, 0, array[10,20,30,40,50], 8, null, 0, null, 0"
            " from series, generate_series(1, 7) as n,"
            " lateral (select %s::date - n as day) as its"
            " where endpoint = 'cerebras/gpt-oss-120b'",
            (NOON.date(),),
        )
        insert_change(connection, changed_at=NOON - timedelta(minutes=9))
        found = read_endpoint(
            connection, board_fleet(), "cerebras/gpt-oss-120b", ("short", Load.SINGLE), NOON
        )
    assert found is not None

    (place, _) = endpoint_page(found, board_fleet(), "short", Load.SINGLE).places
    for charted in place.figures:
        assert [rule.kind for rule in charted.runs.rules] == ["definition", "change"]
        assert [rule.kind for rule in charted.days.rules] == ["definition", "change"]
        assert charted.days.line.count("L") == 6
        assert "version 1 until here" in charted.runs.rules[0].text


def test_a_verdict_and_the_incidents_of_an_endpoint_are_told(pool):
    endpoint = "cerebras/gpt-oss-120b"
    with pool.connection() as connection, connection.transaction(force_rollback=True):
        for region in ("", "us-east"):
            connection.execute(
                "insert into verdict (endpoint, region, verdict, since, speed_ratio, judged_at)"
                " values (%s, %s, 'slow', %s, 2.04, %s)",
                (endpoint, region, NOON - timedelta(minutes=20), NOON),
            )
        insert_incident(connection, endpoint, since=NOON - timedelta(minutes=20))
        found = read_endpoint(connection, board_fleet(), endpoint, ("short", Load.SINGLE), NOON)
        asked = Filter(models=frozenset({"gpt-oss-120b"}), loads=frozenset({"single"}))
        board = read_board(connection, board_fleet(), asked, NOON)
    assert found is not None

    model = model_page(board, "gpt-oss-120b", board_fleet(), "short", Load.SINGLE)
    assert model.lines[0].remarks[0].text.startswith("slow for 20 min")
    page = endpoint_page(found, board_fleet(), "short", Load.SINGLE)
    told = "slow for 20 min: output 2.0 times slower than usual"
    assert page.verdict is not None
    assert page.verdict.text == told
    assert [line.remarks[0].text for line in page.lines] == [told, "ok", told]
    (incident,) = page.incidents
    assert incident.text == "tokens come more slowly than usual, 2.0 times (provider)"


def test_an_endpoint_that_was_never_measured_says_so(client):
    page = seen(client, "/endpoints/inception/mercury-2")

    assert "Nothing measured within the window." in page.words
    assert page.every("svg") == []
    assert (
        "It is not measured with workload xlong"
        in seen(client, "/endpoints/inception/mercury-2?workload=xlong").words
    )


def test_a_models_page_has_its_endpoints_side_by_side_the_fastest_first(client):
    page = seen(client, "/models/gpt-oss-120b")

    assert "gpt-oss-120b 5 endpoints, 2 regions" in page.words
    links = [link for link in page.links if link.startswith("/endpoints/")]
    in_order = ("cerebras", "groq", "nvidia", "own", "deepinfra")
    assert [link.split("/")[2] for link in links] == 3 * [*in_order]  # medians, two by region
    assert "cerebras/gpt-oss-120b 1,738 1,704\u20131,782 1,579" in page.words
    assert HOSTILE not in page.words  # endpoints stand here by their ids


@pytest.mark.parametrize("path", ["/endpoints/zai/glm-5.2", "/models/glm-5.2"])
def test_a_median_of_too_few_runs_is_told_as_such_figure_by_figure(client, path):
    page = seen(client, path)

    assert "zai/glm-5.2" in page.words
    assert "\u2013 4 of 6 runs \u2013 4 of 6 runs \u2013 4 of 6 runs" in page.words
    charts = [svg.get("aria-label", "") for svg in page.every("svg")]
    assert all("; too few for a median" in label for label in charts if ", runs: " in label)
    assert path.startswith("/models/") or any(", runs: " in label for label in charts)


def test_a_model_without_such_a_series_says_so(client):
    page = seen(client, "/models/gpt-oss-120b?workload=xlong&load=parallel")

    assert "No endpoint of it is measured with workload xlong and load parallel." in page.words


def test_an_id_with_its_precision_and_variant_is_found_escaped_in_an_address(client):
    page = seen(client, "/")
    (address,) = [link for link in page.links if link.startswith("/endpoints/own/")]

    assert address.startswith("/endpoints/own/gpt-oss-120b%40fp8%23lab?")
    assert f"{HOSTILE} serves gpt-oss-120b" in seen(client, address).words


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("/models/none", "No model is called \u201cnone\u201d here"),
        ("/endpoints/nobody/nothing", "No endpoint is called \u201cnobody/nothing\u201d here"),
        ("/runs/8d7fbd4e-3c4c-4a36-8ee4-77fd7ac7a2f1", "was never planned, or is no longer kept"),
        ("/runs/run-7", "\u201crun-7\u201d is no id of a run"),
    ],
)
def test_what_there_is_none_of_is_a_page_that_says_so(client, address, told):
    page = seen(client, address, 404)

    assert told in page.words
    assert "/" in page.links


def test_a_page_of_a_store_that_is_away_tries_again(database_url):
    with filled_pool(database_url) as pool:
        away = TestClient(create_app(pool, board_fleet(), clock=lambda: NOON))
    answer = away.get("/runs/8d7fbd4e-3c4c-4a36-8ee4-77fd7ac7a2f1")

    assert answer.status_code == 503
    assert re.search(r'http-equiv="refresh" content="10"', answer.text)
