"""`pacewatch probe --from REGION` against a real centre, whose workers the tests play."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from click.testing import Result
from support.boards import board_fleet, filled_pool
from support.centre import served
from support.records import NOON, push, record_of
from support.servers import fresh_database
from support.timings import make_timing
from typer.testing import CliRunner

from aggregator import db
from aggregator.regions import Scope, issue_token
from aggregator.slots import slot_of_row
from pacewatch.cli.app import app
from pacewatch.words.errors import PacewatchError, SettingsError
from pacewatch.words.outcome import Decline, Outcome
from pacewatch.words.slot import Slot

ENDPOINT = "groq/gpt-oss-120b"
Record = Callable[[Slot], dict[str, Any]]


@pytest.fixture(scope="module")
def pool(postgres_url: str) -> Iterator[db.Pool]:
    with fresh_database(postgres_url) as url, filled_pool(url) as pool:
        yield pool


@pytest.fixture(scope="module")
def address(pool: db.Pool) -> Iterator[str]:
    with served(pool, board_fleet(), clock=lambda: NOON) as address:
        yield address


@pytest.fixture(scope="module")
def token(pool: db.Pool) -> str:
    with pool.connection() as connection:
        return issue_token(connection, "", Scope.RUN, NOON)


@pytest.fixture
def call(address: str, token: str, tmp_path: Any) -> Callable[..., Result]:
    def run(*words: str, **environment: str) -> Result:
        variables = {
            "PACEWATCH_AGGREGATOR_URL": address,
            "PACEWATCH_ADMIN_TOKEN": token,
            "PACEWATCH_STATE": str(tmp_path),
            "COLUMNS": "100",
        }
        return CliRunner().invoke(app, ["probe", *words], env=variables | environment)

    return run


@contextmanager
def worker(pool: db.Pool, record: Record = record_of) -> Iterator[None]:
    """Answers every manual slot with that record of it."""
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            with pool.connection() as connection:
                rows = connection.execute(
                    "select * from slot where purpose = 'manual' and state = 'planned'"
                ).fetchall()
            for slot in map(slot_of_row, rows):
                push(pool, record(slot), region=slot.region, now=NOON)
            time.sleep(0.05)

    working = threading.Thread(target=work)
    working.start()
    try:
        yield
    finally:
        over.set()
        working.join(30)


def test_a_regions_run_is_shown_like_one_of_our_own(call, pool):
    with worker(pool):
        shown = call(ENDPOINT, "--from", "eu-west")
        told = call(ENDPOINT, "--from", "eu-west", "--parallel", "10", "--json")

    record = json.loads(told.stdout)
    assert (shown.exit_code, told.exit_code) == (0, 0)
    assert f"{ENDPOINT} from eu-west, workload short, simulated: ok" in shown.stdout
    assert "Time to first token" in shown.stdout
    assert (record["region"], record["purpose"]) == ("eu-west", "manual")
    assert [request["figures"]["ttft_s"] for request in record["requests"]] == [0.2] * 10


def test_each_repetition_is_a_run_of_its_own(call, pool):
    with worker(pool):
        told = call(ENDPOINT, "--from", "eu-west", "--repeat", "2", "--json")

    first, second = json.loads(told.stdout)
    assert first["run"] != second["run"]


def test_a_run_that_failed_is_exit_code_1(call, pool):
    def refused(slot: Slot) -> dict[str, Any]:
        return record_of(slot, make_timing(outcome=Outcome.OVERLOADED))

    with worker(pool, refused):
        shown = call(ENDPOINT, "--from", "eu-west")

    assert shown.exit_code == 1
    assert "overloaded" in shown.stdout


def test_a_run_that_was_declined_is_told_with_its_reason(call, pool):
    with worker(pool, lambda slot: record_of(slot, declined=Decline.NO_KEY)):
        refused = call(ENDPOINT, "--from", "eu-west")

    assert isinstance(refused.exception, PacewatchError)
    assert str(refused.exception) == (
        f"{ENDPOINT} from eu-west: not run: the worker has no key for it (declined:no_key)"
    )


def test_a_fault_of_the_workers_own_is_told_at_once(call, pool):
    def broken(slot: Slot) -> dict[str, Any]:
        return record_of(slot, make_timing(outcome=Outcome.INTERNAL))

    with worker(pool, broken):
        refused = call(ENDPOINT, "--from", "eu-west")

    assert "the worker failed by a fault of its own" in str(refused.exception)


def test_a_region_that_nobody_has_heard_of_lately_is_told_beforehand(call, pool):
    with worker(pool):
        shown = call(ENDPOINT, "--from", "us-east")

    assert shown.exit_code == 0
    assert shown.stderr == "us-east: no worker has been heard of since 2026-12-02T11:46:00Z\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            (ENDPOINT, "--from", "eu-wst"),
            '--from: "eu-wst" is not on the board (did you mean "eu-west"?)',
        ),
        (
            ("groq/gpt-oss-12b", "--from", "eu-west"),
            'probe: "groq/gpt-oss-12b" is not on the board (did you mean "groq/gpt-oss-120b"?)',
        ),
    ],
)
def test_what_the_centre_does_not_know_is_refused_with_what_it_knows(call, words, sentence):
    refused = call(*words)

    assert isinstance(refused.exception, SettingsError)
    assert str(refused.exception) == sentence


def test_the_token_of_this_machines_stack_is_used_where_none_is_set(call, pool, token, tmp_path):
    without = call(ENDPOINT, "--from", "eu-west", PACEWATCH_ADMIN_TOKEN="")
    (tmp_path / "admin-token").write_text(token)
    with worker(pool):
        found = call(ENDPOINT, "--from", "eu-west", PACEWATCH_ADMIN_TOKEN="")

    assert isinstance(without.exception, SettingsError)
    assert "PACEWATCH_ADMIN_TOKEN is not set" in str(without.exception)
    assert found.exit_code == 0


def test_a_token_that_is_none_is_refused_by_the_centre(call):
    refused = call(ENDPOINT, "--from", "eu-west", PACEWATCH_ADMIN_TOKEN="nobodys")

    assert isinstance(refused.exception, PacewatchError)
    assert "a bearer token is needed" in str(refused.exception)
