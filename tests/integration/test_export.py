import csv
import json
import os
import pty
import re
import socket
import sys
import threading
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from urllib.parse import urlsplit

import pytest
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from fastapi.testclient import TestClient
from support.boards import board_fleet
from support.centre import make_fleet, migrated_pool, running, served
from support.records import NOON, make_slot, plan, push, record_of, timed
from support.seed import add_endpoint
from support.servers import fresh_database
from support.stack import until
from support.timings import make_chunks, make_timing
from typer.testing import CliRunner

from aggregator import export as rows_of_export
from aggregator.api import export as doors_of_export
from aggregator.api.app import create_app
from aggregator.api.export import AT_ONCE, Doors, TakenResponse
from aggregator.api.problems import Problem
from aggregator.board import Filter
from aggregator.export import COLUMNS, Form, export, within
from pacewatch.cli.app import app
from pacewatch.cli.export import last_slot, moment_of
from pacewatch.words.errors import PacewatchError, SettingsError
from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import Load, to_rfc3339
from pacewatch.words.timing import Fault

PIECE = b"a line of a run\n" * 20_000
SINGLES = [make_slot(NOON - timedelta(hours=h)) for h in (1, 11, 12, 13, 40)]
PARALLEL = make_slot(NOON - timedelta(hours=2), load=Load.PARALLEL)
FAILED = make_slot(NOON - timedelta(hours=3))


@pytest.fixture(scope="module")
def pool(postgres_url):
    """Runs of two and a half days: one failed, one of ten requests."""
    with fresh_database(postgres_url) as url, migrated_pool(url) as pool:
        with pool.connection() as connection:
            plan(connection, *SINGLES, PARALLEL, FAILED)
            add_endpoint(connection, PARALLEL.endpoint, NOON, precision="fp8")
        fault = Fault(status=429, type='say "what", they')
        limited = make_timing(make_chunks(), outcome=Outcome.RATE_LIMITED, fault=fault, finish=None)
        push(
            pool,
            *(record_of(slot, timed(250)) for slot in SINGLES),
            record_of(PARALLEL, *(timed(200 + n, n=n) for n in range(10))),
            record_of(FAILED, limited),
        )
        yield pool


@pytest.fixture
def client(pool):
    return TestClient(create_app(pool, board_fleet(), clock=lambda: NOON))


def address_of(url):
    parts = urlsplit(url)
    return parts.hostname, parts.port


def lines(client, **query):
    answer = client.get("/api/export", params=query)
    assert answer.status_code == 200
    if query.get("format") == "csv":
        return list(csv.DictReader(StringIO(answer.text)))
    return [json.loads(line) for line in answer.text.splitlines()]


def test_every_request_of_the_time_is_a_line_in_the_order_of_the_slots(client):
    found = lines(client, since=to_rfc3339(NOON - timedelta(days=3)))

    expected = sorted([*SINGLES, *[PARALLEL] * 10, FAILED], key=lambda slot: slot.slot_at)
    assert [str(slot.run_id) for slot in expected] == [line["run"] for line in found]
    assert {tuple(line) for line in found} == {COLUMNS}
    assert [line["n"] for line in found if line["load"] == "parallel"] == list(range(10))
    (failed,) = [line for line in found if line["outcome"] != "ok"]
    assert (failed["fault_status"], failed["ttft_s"]) == (429, None)


def test_the_ends_of_the_time_are_the_slots_own(client):
    since, until = SINGLES[2].slot_at, SINGLES[0].slot_at

    found = lines(client, since=to_rfc3339(since), until=to_rfc3339(until), load="single")

    assert [str(slot.run_id) for slot in (SINGLES[2], SINGLES[1], FAILED)] == [
        line["run"] for line in found
    ]
    assert len(lines(client)) == 5 + 10  # a day, unless said


def test_both_forms_tell_the_same(client):
    query = {"since": to_rfc3339(NOON - timedelta(days=3))}
    told, plain = lines(client, **query), lines(client, **query, format="csv")

    assert len(plain) == len(told)
    for line, row in zip(told, plain, strict=True):
        for name, value in line.items():
            text = " ".join(value) if isinstance(value, list) else value
            spelled = str(text).lower() if isinstance(text, bool) else str(text)
            assert row[name] == ("" if text is None else spelled), name
    assert 'say "what", they' in {row["fault_type"] for row in plain}


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"load": "parallel"}, 10),
        ({"precision": "fp8"}, 15),
        ({"model": "other"}, 0),
        ({"endpoint": SINGLES[0].endpoint}, 15),
        ({"endpoint": "other/model"}, 0),
        ({"provider": ["groq", "other"]}, 15),
        ({"provider": "other"}, 0),
        ({"region": "us-east"}, 0),
        ({"workload": "long"}, 0),
    ],
)
def test_an_export_has_the_filters_of_the_board(client, query, count):
    assert len(lines(client, **query)) == count


def test_a_time_without_runs_is_a_head_alone(client):
    query = {"until": to_rfc3339(NOON - timedelta(days=300)), "format": "csv"}
    answer = client.get("/api/export", params=query)

    assert answer.text == ",".join(COLUMNS) + "\r\n"
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"


def test_the_days_of_a_time_are_utc_days_of_which_there_is_something():
    begin, end = NOON - timedelta(hours=13), NOON + timedelta(hours=12)
    there = [date(2026, 12, 3), date(2026, 12, 2), date(2026, 12, 1), date(2020, 1, 1)]

    assert list(within(there, begin, end)) == [
        (begin, NOON - timedelta(hours=12)),
        (NOON - timedelta(hours=12), end),
    ]
    assert list(within(there, end, begin)) == []


def test_all_of_history_can_be_asked_for(client):
    query = {"since": "0001-01-01T00:00:00Z", "until": "9999-12-31T23:59:59Z"}

    assert len(lines(client, **query)) == 5 + 1 + 10


def test_only_so_many_rows_of_an_export_are_in_memory_at_once(pool, monkeypatch):
    monkeypatch.setattr(rows_of_export, "_AT_ONCE", 4)

    pieces = export(pool, Filter(), since=NOON - timedelta(days=3), until=NOON, form=Form.JSONL)

    first = next(pieces)
    with pool.connection() as connection:
        asked = connection.execute(
            "select query from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
            " and state = 'idle in transaction'"
        ).fetchall()
    lines = [piece.count(b"\n") for piece in (first, *pieces)]
    assert [row["query"] for row in asked] == ['FETCH FORWARD 4 FROM "export"']
    assert sum(lines) == 16
    assert max(lines) == 4


def test_an_export_that_nobody_reads_on_holds_no_door_and_no_connection(pool):
    doors = Doors()

    def begun():
        pieces = export(pool, Filter(), since=NOON - timedelta(days=3), until=NOON, form=Form.JSONL)
        through = doors.through(pieces)
        next(through)
        return through

    held = [begun() for _ in range(AT_ONCE)]
    with pytest.raises(Problem, match="exports are under way already"):
        begun()
    held[0].close()
    held[0] = begun()
    for one in held:
        one.close()
    assert pool.get_stats()["pool_available"] == pool.get_stats()["pool_size"]


def test_an_export_whose_reader_takes_nothing_is_broken_off(monkeypatch):
    monkeypatch.setattr(doors_of_export, "TAKEN_WITHIN_S", 0.2)
    closed, asked = threading.Event(), FastAPI()

    def endless():
        try:
            while True:
                yield b"run\n" * 20_000
        finally:
            closed.set()

    @asked.get("/")
    def export_endless():
        pieces = Doors().through(endless())
        return TakenResponse(pieces, next(pieces), media_type="text/csv")

    with running(asked) as url, socket.create_connection(address_of(url), timeout=30) as reader:
        reader.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")

        assert closed.wait(30)

        got = b"".join(iter(lambda: reader.recv(1 << 20), b""))
    assert got.startswith(b"HTTP/1.1 200 OK")
    assert not got.endswith(b"0\r\n\r\n"), "an export that is cut short looks whole"


def test_a_store_that_is_away_is_a_problem_and_no_broken_file(database_url):
    with migrated_pool(database_url) as pool:
        client = TestClient(create_app(pool, make_fleet(), clock=lambda: NOON))

    answer = client.get("/api/export?format=csv")

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")


def test_the_command_writes_what_the_api_sends(pool, client, tmp_path):
    since = to_rfc3339(NOON - timedelta(days=3))
    file = tmp_path / "runs.csv"
    asked = ("--endpoint", SINGLES[0].endpoint, "--precision", "fp8", "--format", "csv")
    words = ("export", "--since", since, "--until", to_rfc3339(NOON), *asked)
    with served(pool, board_fleet(), clock=lambda: NOON) as address:
        variables = {"PACEWATCH_AGGREGATOR_URL": address}
        printed = CliRunner().invoke(app, words, env=variables)
        written = CliRunner().invoke(app, (*words, "--output", str(file)), env=variables)
        wrong = CliRunner().invoke(app, ("export", "--since", "soon"), env=variables)

    expected = client.get("/api/export", params={"since": since, "format": "csv"}).content
    assert (printed.exit_code, written.exit_code) == (0, 0)
    assert printed.stdout_bytes == file.read_bytes() == expected
    assert isinstance(wrong.exception, SettingsError)
    assert str(wrong.exception).startswith('--since: "soon" is no time')


def test_the_command_shows_on_a_terminal_how_far_it_is(pool, tmp_path, monkeypatch):
    terminal, its_end = pty.openpty()
    since = to_rfc3339(NOON - timedelta(days=3))
    words = ["export", "--since", since, "--until", to_rfc3339(NOON)]
    with (
        served(pool, board_fleet(), clock=lambda: NOON) as url,
        os.fdopen(its_end, "w") as stderr,
        monkeypatch.context() as patched,
    ):
        patched.setenv("PACEWATCH_AGGREGATOR_URL", url)
        patched.setattr(sys, "stderr", stderr)
        app([*words, "--output", str(tmp_path / "runs.jsonl")], standalone_mode=False)
    shown = b""
    with suppress(OSError):  # that ends it: nobody holds its other end any more
        while piece := os.read(terminal, 10_000):
            shown += piece
    os.close(terminal)

    *_, last, nothing_left = shown.decode().split("\r\x1b[2K")
    assert re.fullmatch(r"[█▉▊▋▌▍▎▏ ]{20} +99%, 0\.0 MB", last)
    assert nothing_left == ""


def test_the_command_writes_each_piece_before_it_takes_the_next(tmp_path):
    file, asked, written = tmp_path / "runs.jsonl", FastAPI(), []

    @asked.get("/api/export")
    def pieces():
        def one_by_one():
            yield PIECE
            for size in (0, len(PIECE)):  # more than the pieces before the one that was sent
                written.append(
                    until(lambda least=size: file.exists() and file.stat().st_size > least)
                )
                yield PIECE

        told = {"Content-Disposition": 'attachment; filename="pacewatch.jsonl"'}
        return StreamingResponse(one_by_one(), headers=told)

    with running(asked) as address:
        variables = {"PACEWATCH_AGGREGATOR_URL": address}
        done = CliRunner().invoke(app, ("export", "--output", str(file)), env=variables)

    assert (done.exit_code, written) == (0, [True, True])
    assert file.read_bytes() == 3 * PIECE


def test_an_aggregator_that_is_away_is_said_in_words():
    found = CliRunner().invoke(
        app, ("export",), env={"PACEWATCH_AGGREGATOR_URL": "http://127.0.0.1:1"}
    )

    assert isinstance(found.exception, PacewatchError)
    assert "the aggregator does not answer" in str(found.exception)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30d", NOON - timedelta(days=30)),
        ("12h", NOON - timedelta(hours=12)),
        ("2026-12-01", datetime(2026, 12, 1, tzinfo=UTC)),
        ("2026-12-01T10:00:00+02:00", datetime(2026, 12, 1, 8, tzinfo=UTC)),
    ],
)
def test_a_time_can_be_said_in_four_forms(text, expected):
    assert moment_of(text, NOON, "--since", []) == expected


@pytest.mark.parametrize("text", ["", "30", "-1d", "99999d99", "yesterday", "2026-13-01"])
def test_what_is_no_time_is_a_fault(text):
    faults = []

    moment_of(text, NOON, "--since", faults)

    assert len(faults) == 1


def test_a_piece_tells_how_far_it_goes_in_both_forms(client):
    for form in Form:
        answer = client.get(f"/api/export?format={form}")
        assert last_slot(answer.content) == SINGLES[0].slot_at
    assert last_slot(b"run,n\r\n") is None
