"""Pages of single things over a real store."""

import re
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser

import pytest
from fastapi.testclient import TestClient
from support.boards import HOSTILE, board_fleet, filled_pool
from support.records import NOON, make_slot, plan, push, record_of
from support.servers import fresh_database
from support.timings import make_chunks, make_timing

from aggregator.api.app import create_app
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
        slot = make_slot(at - timedelta(seconds=next(made)), **fields)
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

    assert f"groq/gpt-oss-120b from {slot.region}, workload short, one request" in page.words
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
    page = seen(client, f"/runs/{twice.run_id}")
    assert "measured nothing: a fault of our own." in page.words
    assert "came after the one that counts, and cost US$ 0.30." in page.words


@pytest.mark.parametrize(
    ("address", "told"),
    [
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
