"""Statistics as the store keeps them, against the plain way to reckon them."""

import random
import threading
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.centre import make_fleet, migrated_pool
from support.naive import NaiveStore
from support.records import NOON, make_slot, plan, push, record_of, statuses, timed
from support.servers import fresh_database
from support.timings import make_chunks, make_timing

from aggregator import rolling, upkeep
from aggregator.reading import read_record
from pacewatch.words.errors import StoreError
from pacewatch.words.flag import Flag
from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import Load, Purpose

WINDOW = timedelta(hours=72)
TABLES = (
    "slot, endpoint_version, series, series_stat, run, timing, timeline, unrun, aside, duplicate,"
    " place_counter, outcome_counter, missed_counter"
)


@pytest.fixture(scope="module")
def pool(postgres_url):
    with fresh_database(postgres_url) as url, migrated_pool(url) as pool:
        yield pool


def start_empty(pool):
    with pool.connection() as connection:
        connection.execute(f"truncate {TABLES}")


def statistics(pool):
    """The rows of series_stat by load, without the serial id."""
    with pool.connection() as connection:
        found = connection.execute(
            "select * from series_stat natural join series order by load, region, workload"
        ).fetchall()
    for row in found:
        del row["series_id"]
    return found


HOURS = (-1, 0, 5, 24, 71.99, 72, 80)
"""Ages of the slots: one is yet to come, two have left the window."""
SLOTS = [make_slot(NOON - timedelta(hours=h), load=load) for load in Load for h in HOURS]
SLOTS += [make_slot(NOON - timedelta(hours=5), purpose=Purpose.FIRST)]


def failed(n, outcome):
    return make_timing(make_chunks(), n=n, outcome=outcome, finish=None)


@st.composite
def timings(draw, n):
    outcome = draw(st.sampled_from([Outcome.OK] * 6 + [Outcome.RATE_LIMITED, Outcome.INTERNAL]))
    if outcome is not Outcome.OK:
        return failed(n, outcome)
    flags = draw(st.sampled_from([(), (), (Flag.CACHED,), (Flag.DEGENERATE,)]))
    return timed(draw(st.integers(50, 900)), draw(st.integers(10, 900)), n=n, flags=flags)


@st.composite
def executions(draw):
    """Two executions of every slot."""
    made = []
    for slot in SLOTS:
        for name in ("first", "second"):
            count = 1 if slot.load is Load.SINGLE else draw(st.integers(2, 3))
            record = record_of(slot, *(draw(timings(n)) for n in range(count)), name=name)
            made.append((slot, record))
    return made


def stored(pool):
    """Of each run what wins: its execution, with the requests in the order of their numbers."""
    with pool.connection() as connection:
        found = connection.execute(
            "select run_id, execution, array_agg(n order by n) as n,"
            " array_agg(timing.outcome order by n) as outcomes,"
            " array_agg(timing.ttft_s order by n) as ttft_s"
            " from run join timing using (run_id, slot_at) group by run_id, execution"
        ).fetchall()
        timings = connection.execute("select count(*) as n from timing").fetchone()
    assert sum(len(row["n"]) for row in found) == timings["n"]
    return {
        row["run_id"]: (row["execution"], row["n"], row["outcomes"], row["ttft_s"]) for row in found
    }


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_order_repetition_splitting_and_mixing_gives_the_naive_rows_and_statistics(pool, data):
    made = data.draw(executions())
    pushed = data.draw(st.lists(st.sampled_from(range(len(made))), min_size=10, max_size=60))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(pushed)), max_size=5)) | {len(pushed)})
    start_empty(pool)
    with pool.connection() as connection:
        plan(connection, *SLOTS)
    naive, begin = NaiveStore(window=WINDOW), 0
    for cut in cuts:
        batch = [made[index] for index in pushed[begin:cut]]
        expected = [naive.push(slot, read_record(record)) for slot, record in batch]
        assert expected == statuses(push(pool, *(record for _, record in batch)))
        begin = cut

    assert naive.rows() == stored(pool)
    for row in statistics(pool):
        expected_row = naive.statistics(Load(row["load"]), NOON)
        assert expected_row == {name: row[name] for name in expected_row}
    with pool.connection() as connection:
        counted = connection.execute("select sum(duplicate) as n from place_counter").fetchone()
    assert naive.duplicates == (counted["n"] or 0)
    before = statistics(pool)
    rolling.refresh_all(pool, now=NOON, window=WINDOW)
    assert before == statistics(pool)


SECONDS = st.integers(-3, 3)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(ages=st.sets(SECONDS, min_size=1), ahead=st.sets(SECONDS), steps=st.sets(st.integers(1, 5)))
def test_the_edges_of_the_window_are_right_to_the_second(pool, ages, ahead, steps):
    """Runs around the moment that leaves the window, and around now; then the moment moves on."""
    start_empty(pool)
    slots = [make_slot(NOON - WINDOW + timedelta(seconds=second)) for second in ages]
    slots += [make_slot(NOON + timedelta(seconds=second)) for second in ahead]
    with pool.connection() as connection:
        plan(connection, *slots)
    naive = NaiveStore(window=WINDOW)
    records = {slot: record_of(slot) for slot in slots}
    for slot, record in records.items():
        naive.push(slot, read_record(record))
    push(pool, *records.values())

    for second in (0, *sorted(steps)):
        now = NOON + timedelta(seconds=second)
        rolling.refresh_aged(pool, now=now, window=WINDOW)
        (row,) = statistics(pool)
        expected = naive.statistics(Load.SINGLE, now)
        assert expected == {name: row[name] for name in expected}


def test_a_run_that_was_held_up_for_two_days_enters_the_window_by_its_slot(pool):
    start_empty(pool)
    fresh, late = make_slot(NOON - timedelta(hours=1)), make_slot(NOON - timedelta(hours=49))
    with pool.connection() as connection:
        plan(connection, fresh, late)
    push(pool, record_of(fresh, timed(100)))

    push(pool, record_of(late, timed(300)))

    (row,) = statistics(pool)
    assert (row["runs"], row["ttft_s"][2], row["oldest_at"]) == (2, 0.2, late.slot_at)
    assert (row["latest_at"], row["next_expiry"]) == (fresh.slot_at, late.slot_at + WINDOW)
    rolling.refresh_aged(pool, now=late.slot_at + WINDOW, window=WINDOW)
    assert statistics(pool)[0]["ttft_s"][2] == 0.1


def test_four_writers_at_once_leave_no_statistic_wrong_and_never_block_each_other(pool):
    """Two have slots of their own, two carry the same slots out; all of the same four series."""
    start_empty(pool)
    slots = [
        make_slot(NOON - timedelta(minutes=m), load=load, workload=workload)
        for load in Load
        for workload in ("short", "long")
        for m in range(45)
    ]
    with pool.connection() as connection:
        plan(connection, *slots)
    shares = (slots[0::3], slots[1::3], slots[2::3], slots[2::3])
    together, faults = threading.Barrier(4), []

    def write(number):
        mine = random.Random(number).sample(shares[number], 60)  # noqa: S311 - no secret
        together.wait(60)
        try:
            for begin in range(0, 60, 3):
                batch = mine[begin : begin + 3]
                push(pool, *(record_of(slot, name=f"writer {number}") for slot in batch))
        except StoreError as error:
            faults.append(error)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(300)

    assert faults == []
    before = statistics(pool)
    assert [row["runs"] for row in before] == [45] * 4
    rolling.refresh_all(pool, now=NOON, window=WINDOW)
    assert before == statistics(pool)
    with pool.connection() as connection:
        (counted,) = connection.execute("select * from place_counter").fetchall()
    assert counted["duplicate"] == 60
    assert sum(row["tried"] for row in before) == 90 + 900


def test_a_median_is_shown_with_the_runs_behind_it_and_its_interval(pool):
    start_empty(pool)
    slots = [make_slot(NOON - timedelta(hours=h)) for h in range(9)]
    with pool.connection() as connection:
        plan(connection, *slots)
    for n, slot in enumerate(slots[:4]):
        push(pool, record_of(slot, timed(100 * (n + 1))))
    few = statistics(pool)[0]
    for n, slot in enumerate(slots[4:], 4):
        push(pool, record_of(slot, timed(100 * (n + 1))))
    enough = statistics(pool)[0]

    assert (few["ttft_runs"], few["ttft_low"], few["ttft_high"]) == (4, None, None)
    assert (enough["ttft_runs"], enough["ttft_s"][2]) == (9, 0.5)
    assert (enough["ttft_low"], enough["ttft_high"]) == (0.2, 0.8)


def test_a_parallel_run_is_one_value_in_the_median_and_ten_in_the_other_quantiles(pool):
    start_empty(pool)
    slots = [make_slot(NOON - timedelta(hours=h), load=Load.PARALLEL) for h in range(3)]
    with pool.connection() as connection:
        plan(connection, *slots)
    spreads = ([100] * 4 + [900] * 3, [200], [300])
    for slot, spread in zip(slots, spreads, strict=True):
        push(pool, record_of(slot, *(timed(ms, n=n) for n, ms in enumerate(spread))))

    row = statistics(pool)[0]

    assert (row["runs"], row["requests"]) == (3, 9)
    assert row["ttft_s"][2] == 0.2  # of 0.1, 0.2 and 0.3, the runs' own medians
    assert row["ttft_s"][4] == 0.9


def test_the_sweep_ages_a_window_and_no_counter_ever_falls(pool):
    """Thirty runs leave the window one by one, old rows are pruned and a duplicate comes."""
    start_empty(pool)
    fleet = make_fleet(schedule=make_fleet().schedule.__class__())
    slots = [make_slot(NOON - timedelta(hours=h)) for h in range(30)]
    with pool.connection() as connection:
        plan(connection, *slots)
        connection.execute("update store set window_s = 259200")
    push(pool, *(record_of(slot) for slot in slots))
    scrapes = []
    for hours in range(0, 110, 10):
        now = NOON + timedelta(hours=hours)
        upkeep.age_windows(pool, fleet, now)
        push(pool, record_of(slots[0], name=f"again {hours}"), now=now)
        row = statistics(pool)[0]
        scrapes.append((row["tried"], row["succeeded"]))
        left = sum(now - WINDOW < slot.slot_at <= now for slot in slots)
        assert (row["runs"], row["ttft_runs"]) == (left, left)
    later = NOON + timedelta(days=500)
    for moment in (later - upkeep.STEADY, later):
        upkeep.keep_up(pool, fleet, moment)
    last = statistics(pool)[0]

    assert set(scrapes) == {(30, 30)}
    assert (last["tried"], last["succeeded"], last["runs"]) == (30, 30, 0)
    assert (last["ttft_s"], last["next_expiry"], last["latest_at"]) == (None, None, NOON)
    with pool.connection() as connection:
        assert connection.execute("select 1 from run").fetchall() == []
        assert connection.execute("select 1 from slot").fetchall() == []


def test_a_sweep_that_is_cut_off_midway_leaves_nothing_wrong_and_the_next_one_ends_it(
    pool, monkeypatch
):
    """Its connection breaks, as where its process is killed, while it waits for the second one."""
    start_empty(pool)
    monkeypatch.setattr(rolling, "_AT_ONCE", 1)
    slots = [
        make_slot(NOON - timedelta(hours=hours), workload=workload)
        for workload, ages in {"short": (1, 71), "long": (1, 70)}.items()
        for hours in ages
    ]
    with pool.connection() as connection:
        plan(connection, *slots)
    push(pool, *(record_of(slot) for slot in slots))
    now, faults = NOON + timedelta(hours=2), []

    def sweep():
        try:
            rolling.refresh_aged(pool, now=now, window=WINDOW)
        except StoreError as error:
            faults.append(str(error))

    with pool.connection() as holder, pool.connection() as killer:
        holder.execute("select from series_stat order by next_expiry desc limit 1 for update")
        sweeping = threading.Thread(target=sweep)
        sweeping.start()
        killed = []
        while not killed and sweeping.is_alive():
            killed = killer.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and wait_event_type = 'Lock'"
            ).fetchall()
            killer.commit()
            sweeping.join(0.02)
        sweeping.join(60)

    assert len(faults) == 1
    assert sorted(row["runs"] for row in statistics(pool)) == [1, 2]
    assert rolling.refresh_aged(pool, now=now, window=WINDOW) == 1
    assert [row["runs"] for row in statistics(pool)] == [1, 1]
    assert rolling.refresh_all(pool, now=now, window=WINDOW).changed == ()


def test_a_run_that_comes_late_into_an_emptied_window_changes_no_statistic(pool):
    start_empty(pool)
    slot = make_slot(NOON - timedelta(hours=100))
    with pool.connection() as connection:
        plan(connection, slot)

    push(pool, record_of(slot))

    row = statistics(pool)[0]
    assert (row["runs"], row["ttft_s"], row["tried"]) == (0, None, 1)
    assert row["latest_at"] == slot.slot_at
