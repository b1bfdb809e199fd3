"""Figures of a former definition, taken over to today's."""

from datetime import timedelta

import pytest
from fastapi.testclient import TestClient
from support.centre import make_fleet, migrated_pool
from support.records import (
    ENDPOINT,
    NOON,
    WORKLOAD,
    make_slot,
    plan,
    push,
    record_of,
    timed,
)
from support.seed import add_endpoint
from typer.testing import CliRunner

from aggregator import rolling
from aggregator.api.app import create_app
from aggregator.days import roll_up
from aggregator.partitions import drop_old_days
from aggregator.remeasure import remeasure
from pacewatch.cli.app import app
from pacewatch.words.figures import DEFINITION
from pacewatch.words.fleet import Schedule
from pacewatch.words.retention import Retention
from pacewatch.words.slot import Load

WINDOW = timedelta(hours=72)
SLOTS = [make_slot(NOON - timedelta(hours=7 * n), load=load) for load in Load for n in range(9)]
TABLES = ("run", "timing", "series_stat")


@pytest.fixture
def pool(database_url):
    """A store whose figures are all as another definition would have made them."""
    with migrated_pool(database_url) as pool:
        with pool.connection() as connection:
            plan(connection, *SLOTS)
        for n, slot in enumerate(SLOTS):
            many = range(1 if slot.load is Load.SINGLE else 10)
            push(pool, record_of(slot, *(timed(200 + 10 * n + i, 50 + n, n=i) for i in many)))
        yield pool


def contents(pool):
    with pool.connection() as connection:
        return {
            table: connection.execute(f"select * from {table} order by 1, 2, 3").fetchall()
            for table in TABLES
        }


def spoil(pool):
    with pool.connection() as connection:
        connection.execute("update run set definition = 0, ttft_s = ttft_s * 2, flags = '{old}'")
        connection.execute("update timing set ttft_s = ttft_s * 2, left_out = '{stall_s}'")
        connection.execute("update series_stat set ttft_s = null, latest_ttft_s = 9")
        connection.execute("delete from day_due")


def test_runs_of_another_definition_are_measured_anew_with_all_that_follows(pool):
    right = contents(pool)
    spoil(pool)

    assert remeasure(pool, now=NOON, window=WINDOW) == len(SLOTS)

    assert right == contents(pool)
    with pool.connection() as connection:
        due = connection.execute("select day from day_due").fetchall()
    assert {row["day"] for row in due} == {slot.slot_at.date() for slot in SLOTS}
    assert remeasure(pool, now=NOON, window=WINDOW) == 0


def test_a_run_whose_timeline_is_gone_stays_as_it_was_measured(pool):
    spoil(pool)
    with pool.connection() as connection:
        connection.autocommit = True
        drop_old_days(connection, Retention(timelines_days=1), NOON)
        connection.autocommit = False
        kept = connection.execute("select count(*) as n from timeline").fetchone()["n"]

    assert remeasure(pool, now=NOON, window=WINDOW) == kept

    assert 0 < kept < len(SLOTS)
    with pool.connection() as connection:
        old = connection.execute("select count(*) as n from run where definition = 0").fetchone()
    assert old["n"] == len(SLOTS) - kept


def boundaries(pool):
    """The versions of the days that are told, and the boundaries on the chart of the runs."""
    fleet = make_fleet(schedule=Schedule())
    client = TestClient(create_app(pool, fleet, clock=lambda: NOON))
    days = client.get("/api/series/1/days").json()["days"]
    page = client.get(f"/endpoints/{ENDPOINT}?workload={WORKLOAD}").text
    return [day["definitions"] for day in days], page.count('class="rule definition"')


def test_charts_and_days_mark_the_boundary_of_definitions_until_the_past_is_taken_over(pool):
    with pool.connection() as connection:
        add_endpoint(connection, ENDPOINT, NOON)
        connection.execute(
            "update run set definition = 0 where slot_at < %s", (NOON - timedelta(hours=24),)
        )
    roll_up(pool, Retention(), NOON)
    before, now = DEFINITION - 1, DEFINITION
    assert boundaries(pool) == ([[before], [before, now]], 2)  # of speed and first token

    remeasure(pool, now=NOON, window=WINDOW)
    roll_up(pool, Retention(), NOON)

    assert boundaries(pool) == ([[DEFINITION], [DEFINITION]], 0)


def told_of_windows(pool):
    """The versions that lists and page tell of the windows that they show."""
    client = TestClient(create_app(pool, make_fleet(schedule=Schedule()), clock=lambda: NOON))
    listed = [one["definitions"] for one in client.get("/api/series").json()["series"]]
    (model,) = client.get("/api/board").json()["models"]
    pooled = [one["pooled"]["definitions"] for one in model["endpoints"][0]["series"]]
    page = client.get(f"/?workload={WORKLOAD}").text
    return listed, pooled, "medians mix runs of definitions 0 and 1" in page


def test_a_window_says_that_it_mixes_definitions_until_the_past_is_taken_over(pool):
    with pool.connection() as connection:
        add_endpoint(connection, ENDPOINT, NOON)
        connection.execute(
            "update run set definition = 0 where slot_at < %s", (NOON - timedelta(hours=24),)
        )
    rolling.refresh_all(pool, now=NOON, window=WINDOW)
    mixed = [[DEFINITION - 1, DEFINITION]] * len(Load)
    assert told_of_windows(pool) == (mixed, mixed, True)

    remeasure(pool, now=NOON, window=WINDOW)

    whole = [[DEFINITION]] * len(Load)
    assert told_of_windows(pool) == (whole, whole, False)


def test_the_command_says_how_many_runs_it_took_over(pool, database_url, tmp_path):
    spoil(pool)
    file = tmp_path / "pacewatch.toml"
    file.write_text('[simulator]\neu-west = "http://127.0.0.1:41001"\n')
    environment = {"PACEWATCH_DATABASE_URL": database_url, "PACEWATCH_CONFIG": str(file)}

    first, second = (CliRunner().invoke(app, ("remeasure",), env=environment) for _ in range(2))

    assert (first.exit_code, first.output) == (0, "measured 18 runs anew\n")
    assert second.output == "measured 0 runs anew\n"
