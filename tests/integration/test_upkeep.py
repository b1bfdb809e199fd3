from datetime import timedelta
from uuid import uuid4

import pytest
from support.centre import make_fleet, migrated_pool
from support.records import NOON, hash_of, make_slot, plan, push, record_of, statuses, timed

from aggregator import db
from aggregator.partitions import make_days
from aggregator.upkeep import age_windows, drop_old, keep_up, make_ahead, take_up_aside
from pacewatch.words.errors import StoreError
from pacewatch.words.fleet import Region, Schedule

FLEET = make_fleet(schedule=Schedule())


@pytest.fixture
def pool(database_url):
    with migrated_pool(database_url) as pool:
        yield pool


def rows(pool, query, *values):
    with pool.connection() as connection:
        return connection.execute(query, values or None).fetchall()


def partitions(pool, table):
    return [
        row["name"]
        for row in rows(
            pool,
            "select inhrelid::regclass::text as name from pg_inherits"
            " where inhparent = %s::regclass order by 1",
            table,
        )
    ]


def test_partitions_stand_ready_before_their_day_begins(pool):
    made = make_ahead(pool, FLEET, NOON)

    assert partitions(pool, "run") == ["run_20261202", "run_20261203", "run_20261204"]
    assert len(made) == 9
    assert make_ahead(pool, FLEET, NOON) == []
    assert len(make_ahead(pool, FLEET, NOON + timedelta(days=1))) == 3


def test_a_partition_holds_its_utc_day_and_uses_the_indexes_of_its_table(pool):
    midnight = NOON.replace(hour=0)
    slots = [make_slot(midnight), make_slot(midnight - timedelta(microseconds=1))]
    with pool.connection() as connection:
        plan(connection, *slots)

    push(pool, *(record_of(slot) for slot in slots))

    found = rows(pool, "select tableoid::regclass::text as it from timing order by slot_at")
    assert [row["it"] for row in found] == ["timing_20261201", "timing_20261202"]
    indexes = rows(pool, "select 1 from pg_indexes where tablename = 'timing_20261202'")
    assert len(indexes) == 2


def test_timelines_go_after_two_weeks_and_runs_after_400_days(pool):
    ages = {"kept": 13, "without timeline": 16, "gone": 402}
    slots = [make_slot(NOON - timedelta(days=days)) for days in ages.values()]
    with pool.connection() as connection:
        plan(connection, *slots)
    push(pool, *(record_of(slot) for slot in slots))

    dropped = drop_old(pool, FLEET, NOON)

    assert len(dropped) == 4
    kept = [slot.run_id for slot in slots[:2]]
    assert [
        row["run_id"] for row in rows(pool, "select run_id from run order by slot_at desc")
    ] == kept
    assert [row["run_id"] for row in rows(pool, "select run_id from timeline")] == kept[:1]
    assert [
        row["run_id"] for row in rows(pool, "select run_id from slot order by slot_at desc")
    ] == kept
    assert drop_old(pool, FLEET, NOON) == []


def test_a_clock_that_leaps_takes_no_history_and_what_is_old_goes_a_day_later(pool):
    slot = make_slot(NOON)
    with pool.connection() as connection:
        plan(connection, slot)
    push(pool, record_of(slot))
    ahead = NOON + timedelta(days=2 * 365)
    day = [timedelta(hours=hours) for hours in (0, 12, 24)]

    kept = [keep_up(pool, FLEET, now) for now in (NOON, ahead, ahead + day[1], NOON, ahead)]

    assert [one.dropped for one in kept] == [()] * 5
    assert len(rows(pool, "select from run join timeline using (run_id)")) == 1
    *early, last = (keep_up(pool, FLEET, ahead + passed) for passed in day)
    assert [one.dropped for one in early] == [()] * 2
    assert "run_20261202" in last.dropped
    assert rows(pool, "select from run") == []


def test_what_is_old_goes_although_another_part_of_upkeep_fails(pool):
    slot = make_slot(NOON - timedelta(days=500))
    with pool.connection() as connection:
        plan(connection, slot)
    push(pool, record_of(slot))
    early, earlier = NOON - timedelta(hours=1), NOON - timedelta(days=9)
    with pool.connection() as connection:
        connection.execute("update store set kept_up_at = %s, kept_up_since = %s", (early, earlier))
        connection.execute("alter table day_due rename to mislaid")

    with pytest.raises(StoreError, match="day_due"):
        keep_up(pool, FLEET, NOON)

    assert rows(pool, "select from run") == []
    assert rows(pool, "select kept_up_at from store") == [{"kept_up_at": early}]


def test_what_is_old_goes_on_going_while_another_part_fails_for_weeks(pool):
    weeks = [NOON + timedelta(days=6 * n) for n in range(5)]
    assert keep_up(pool, FLEET, weeks[0]).dropped == ()
    with pool.connection() as connection:
        connection.execute("alter table day_due rename to mislaid")

    for now in weeks[1:]:
        with pytest.raises(StoreError, match="day_due"):
            keep_up(pool, FLEET, now)

    (store,) = rows(pool, "select kept_up_at, upkeep_at, kept_up_since from store")
    assert store == {"kept_up_at": NOON, "upkeep_at": weeks[-1], "kept_up_since": NOON}
    assert partitions(pool, "timeline")[0] == "timeline_20261214"  # the first of the third upkeep


def test_a_partition_in_use_is_left_for_the_next_time(pool):
    with pool.connection() as connection:
        make_days(connection, [(NOON - timedelta(days=500)).date()])
    with pool.connection() as reader:
        reader.execute("select * from run")

        dropped = drop_old(pool, FLEET, NOON)

    assert [name.partition("_")[0] for name in dropped] == ["timeline", "timing"]
    assert len(drop_old(pool, FLEET, NOON)) == 1


def test_a_silent_worker_goes_after_a_week_unless_it_was_its_regions_last(pool):
    with pool.connection() as connection:
        for region, worker, days in (
            *(("eu-west", "moved", 8), ("eu-west", "also-moved", 9), ("eu-west", "here", 0)),
            *(("us-east", "gone-first", 30), ("us-east", "gone-last", 20)),
            ("ap-south", "silent-for-days", 6),
            ("ap-south", "here", 0),
            *(("left-the-file", "silent", 1), ("left-the-file", "still-runs", 0)),
        ):
            connection.execute(
                "insert into worker (region, worker, version, catalog, last_seen_at,"
                " clock_offset_s, in_hand, outbox_runs) values (%s, %s, '1', 'c', %s, 0, '{}', 0)",
                (region, worker, NOON - timedelta(days=days)),
            )

    regions = {name: Region(name=name) for name in ("ap-south", "eu-west", "us-east")}
    drop_old(pool, make_fleet(schedule=Schedule(), regions=regions), NOON)

    kept = rows(pool, "select region, worker from worker order by 1, 2")
    assert [tuple(row.values()) for row in kept] == [
        ("ap-south", "here"),
        ("ap-south", "silent-for-days"),
        ("eu-west", "here"),
        ("left-the-file", "still-runs"),
        ("us-east", "gone-last"),
    ]


def test_a_window_of_another_length_refreshes_every_series(pool):
    slots = [make_slot(NOON - timedelta(hours=h)) for h in (1, 30)]
    with pool.connection() as connection:
        plan(connection, *slots)
    push(pool, *(record_of(slot) for slot in slots))
    day = make_fleet(schedule=Schedule(window_s=24 * 3600))

    assert rows(pool, "select runs from series_stat") == [{"runs": 2}]
    assert age_windows(pool, day, NOON) == 1
    assert rows(pool, "select runs from series_stat") == [{"runs": 1}]
    assert age_windows(pool, day, NOON) == 0


def test_what_was_put_aside_is_taken_up_once_it_is_known(pool):
    slot, unknown = make_slot(), make_slot(workload="long")
    with pool.connection() as connection:
        plan(connection, slot, unknown)
        connection.execute("delete from endpoint_version where workload = 'long'")
        connection.execute("update store set catalog_hash = 'old'")
    records = record_of(unknown, timed(300)), record_of(slot) | {"run": str(uuid4())}
    assert statuses(push(pool, *records)) == ["aside", "aside"]
    assert take_up_aside(pool, FLEET, NOON) == 0

    with pool.connection() as connection:
        connection.execute(
            "insert into endpoint_version values (%s, %s, 'long', now())",
            (hash_of(slot.endpoint, "long"), slot.endpoint),
        )
        connection.execute("update store set catalog_hash = 'new'")
    assert take_up_aside(pool, FLEET, NOON) == 1

    assert rows(pool, "select run_id, ttft_s from run") == [
        {"run_id": unknown.run_id, "ttft_s": 0.3}
    ]
    assert rows(pool, "select state from slot where run_id = %s", unknown.run_id)[0] == {
        "state": "run"
    }
    (left,) = rows(pool, "select reason, tried_with from aside")
    assert left["reason"] == "run: no slot of that id is known here"
    assert left["tried_with"].endswith(" new")
    assert take_up_aside(pool, FLEET, NOON) == 0
    assert statuses(push(pool, records[0])) == ["held"]


def test_a_damaged_record_put_aside_is_told_and_left_and_the_others_are_taken_up(pool, caplog):
    slots = [make_slot(NOON - timedelta(hours=hours)) for hours in range(3)]
    with pool.connection() as connection:
        plan(connection, *slots)
        (version,) = connection.execute("delete from endpoint_version returning *").fetchall()
        connection.execute("update store set catalog_hash = 'old'")
    records = [record_of(slot) for slot in slots]
    assert statuses(push(pool, *records)) == ["aside"] * 3
    damaged = records[1]["execution"]
    with pool.connection() as connection:
        connection.execute(
            "update aside set record = set_byte(record, 9, get_byte(record, 9) # 255)"
            " where execution = %s",
            (damaged,),
        )
        connection.execute(
            "insert into endpoint_version values (%s, %s, %s, %s)", tuple(version.values())
        )
        connection.execute("update store set catalog_hash = 'new'")

    assert [keep_up(pool, FLEET, NOON).taken_up for _ in range(2)] == [2, 0]

    (left,) = rows(pool, "select execution::text, reason from aside")
    assert left["execution"] == damaged
    assert left["reason"].startswith("the record as the store keeps it cannot be read: ")
    assert [record.facts["execution"] for record in caplog.records] == [damaged]


def test_upkeep_may_be_repeated_and_says_when_it_was_done(pool):
    slot = make_slot()
    with pool.connection() as connection:
        plan(connection, slot)
    push(pool, record_of(slot))

    first, second = (keep_up(pool, FLEET, NOON) for _ in range(2))

    assert (len(first.made), second.made) == (6, ())
    assert rows(pool, "select kept_up_at, window_s from store") == [
        {"kept_up_at": NOON, "window_s": 72 * 3600}
    ]


def test_partitions_are_made_once_by_two_at_a_time(pool, database_url):
    """The second waits for the first, and finds its partitions."""
    with db.connect(database_url) as other:
        other.execute("select 1")
        other.rollback()
        made = make_days(other, [NOON.date()])

    with pool.connection() as connection:
        assert len(made) == 3
        assert make_days(connection, [NOON.date()]) == []
