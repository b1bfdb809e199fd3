"""Daily statistics, against the plain way to reckon them."""

import threading
from datetime import date, timedelta

import pytest
from fastapi.testclient import TestClient
from support.centre import make_fleet, migrated_pool
from support.naive import NAMES, NaiveStore
from support.records import NOON, make_slot, plan, push, record_of, timed
from support.seed import add_endpoint

from aggregator.admission import read_pushed
from aggregator.api.app import create_app
from aggregator.days import read_days, roll_up
from aggregator.intake import Intake
from aggregator.partitions import drop_old_days
from aggregator.reading import read_record
from aggregator.upkeep import drop_old
from pacewatch.words.flag import Flag
from pacewatch.words.retention import Retention
from pacewatch.words.slot import Load, Purpose

MIDNIGHT = NOON.replace(hour=0)
YESTERDAY = date(2026, 12, 1)


@pytest.fixture
def pool(database_url):
    with migrated_pool(database_url) as pool:
        yield pool


def pushed(pool, *slots, now=NOON, ttft_ms=200):
    """Plan and push a run for each slot; return {slot: run}."""
    with pool.connection() as connection:
        plan(connection, *slots)
    found = {}
    for n, slot in enumerate(slots):
        many = 1 if slot.load is Load.SINGLE else 10
        flags = (Flag.CACHED,) if n % 5 == 4 else ()
        record = record_of(
            slot, *(timed(ttft_ms + 10 * n + i, 40 + n, n=i, flags=flags) for i in range(many))
        )
        push(pool, record, now=now)
        found[slot] = read_record(record)
    return found


def days_of(pool, load="single"):
    with pool.connection() as connection:
        (series,) = connection.execute(
            "select series_id from series where load = %s", (load,)
        ).fetchall()
        return read_days(connection, series["series_id"], date(2020, 1, 1), date(2030, 1, 1))


@pytest.mark.parametrize("load", list(Load))
def test_a_day_that_is_over_has_the_statistics_of_its_utc_day(pool, load):
    edges = (MIDNIGHT, MIDNIGHT - timedelta(days=1, seconds=1), MIDNIGHT - timedelta(days=1))
    within = [MIDNIGHT - timedelta(seconds=1) - timedelta(hours=3 * n) for n in range(7)]
    confirm = make_slot(NOON - timedelta(days=1), load=load, purpose=Purpose.CONFIRM)
    runs = pushed(pool, *(make_slot(at, load=load) for at in (*edges, *within)), confirm)

    assert roll_up(pool, Retention(), NOON) == 2

    before, day = days_of(pool, str(load))
    assert (before.day, before.runs) == (date(2026, 11, 30), 1)
    naive = NaiveStore(window=timedelta(days=1))
    naive.runs = {slot: run for slot, run in runs.items() if slot.purpose is not Purpose.CONFIRM}
    # the second before midnight, of a window that holds its later end: the day, all but nothing
    expected = naive.statistics(load, MIDNIGHT - timedelta(microseconds=1))
    assert (day.day, day.runs, day.requests) == (YESTERDAY, 8, expected["requests"])
    for figure, name in NAMES.items():
        assert getattr(day, figure) == pytest.approx(expected[figure], rel=1e-6)
        assert getattr(day, f"{name}_runs") == expected[f"{name}_runs"]
        for end in ("low", "high"):
            told, wanted = getattr(day, f"{name}_{end}"), expected[f"{name}_{end}"]
            assert told == (None if wanted is None else pytest.approx(wanted, rel=1e-6))
    assert roll_up(pool, Retention(), NOON) == 0


def test_a_run_that_was_held_up_for_two_days_makes_its_day_anew(pool):
    slots = [make_slot(NOON - timedelta(days=2, hours=n)) for n in range(3)]
    pushed(pool, *slots[:2])
    roll_up(pool, Retention(), NOON)
    assert [day.runs for day in days_of(pool)] == [2]

    pushed(pool, slots[2], now=NOON + timedelta(minutes=1))

    assert roll_up(pool, Retention(), NOON) == 1
    assert [day.runs for day in days_of(pool)] == [3]


def test_today_is_not_over(pool):
    pushed(pool, make_slot(NOON - timedelta(hours=1)))

    assert roll_up(pool, Retention(), NOON) == 0
    assert days_of(pool) == []
    assert roll_up(pool, Retention(), NOON + timedelta(hours=12)) == 1


def test_days_stay_when_their_runs_are_gone_and_a_run_that_comes_after_that_changes_none(pool):
    slots = [make_slot(NOON - timedelta(days=2, hours=n)) for n in range(3)]
    pushed(pool, *slots[:2])
    roll_up(pool, Retention(), NOON)
    later = NOON + timedelta(days=500)
    with pool.connection() as connection:
        connection.autocommit = True
        assert drop_old_days(connection, Retention(), later)
        connection.autocommit = False

    pushed(pool, slots[2], now=later)
    while roll_up(pool, Retention(), later):
        pass

    assert [day.runs for day in days_of(pool)] == [2]


def test_days_stay_for_ever_unless_the_file_says_for_how_long(pool):
    slots = [make_slot(NOON - timedelta(days=days)) for days in (9, 10, 11)]
    pushed(pool, *slots)
    roll_up(pool, Retention(), NOON)

    drop_old(pool, make_fleet(), NOON + timedelta(days=40_000))
    kept = [day.day for day in days_of(pool)]
    drop_old(pool, make_fleet(retention=Retention(rollups_days=10)), NOON)

    assert kept == sorted(slot.slot_at.date() for slot in slots)
    assert [day.day for day in days_of(pool)] == kept[1:]


def test_a_run_that_is_being_stored_while_its_day_is_made_is_not_left_out(pool):
    """The transaction that brings it has marked the day and is not committed yet."""
    slots = [make_slot(NOON - timedelta(days=2, hours=n)) for n in range(2)]
    pushed(pool, slots[0])
    with pool.connection() as connection:
        plan(connection, slots[1])
        connection.commit()
        intake = Intake(connection, NOON)
        intake.take([read_pushed(record_of(slots[1]), "eu-west")])
        intake.finish()
        thread = threading.Thread(target=roll_up, args=(pool, Retention(), NOON))
        thread.start()
        thread.join(0.2)
    thread.join(60)
    roll_up(pool, Retention(), NOON)

    assert [day.runs for day in days_of(pool)] == [2]


def test_the_days_of_a_series_are_told_by_the_api_and_too_few_runs_have_no_median(pool):
    slots = [make_slot(MIDNIGHT - timedelta(hours=n)) for n in range(1, 8)]
    pushed(pool, *slots, make_slot(MIDNIGHT - timedelta(days=1, hours=1)))
    roll_up(pool, Retention(), NOON)
    with pool.connection() as connection:
        add_endpoint(connection, slots[0].endpoint, NOON)
    client = TestClient(create_app(pool, make_fleet(), clock=lambda: NOON))
    (series,) = client.get("/api/series").json()["series"]
    address = f"/api/series/{series['series']}/days"

    before, day = client.get(address).json()["days"]

    assert (before["day"], before["runs"]) == ("2026-11-30", 1)
    few = {"median": None, "low": None, "high": None, "interval_percent": None, "runs": 1}
    assert before["ttft_s"] == few
    assert (day["day"], day["runs"], day["definition"]) == ("2026-12-01", 7, 1)
    assert set(day["ttft_s"]) == set(few) | {"p5", "p25", "p75", "p95"}
    speed = day["output_tokens_per_s"]
    found = [speed[name] for name in ("low", "median", "high")]
    assert found == pytest.approx([40, 43, 46], rel=1e-5)
    assert speed["interval_percent"] == 95
    assert len(client.get(f"{address}?since=2026-12-01").json()["days"]) == 1
    assert client.get(f"{address}?until=0001-01-01").json()["days"] == []
    assert client.get("/api/series/999999/days").status_code == 404
