from datetime import timedelta
from uuid import uuid4

import pytest
from support.centre import migrated_pool
from support.records import (
    NOON,
    hash_of,
    make_slot,
    plan,
    push,
    record_of,
    statuses,
    timed,
)
from support.servers import fresh_database
from support.timings import make_chunks, make_timing

from aggregator import aside
from aggregator.reading import unpacked
from aggregator.rows import DeclinedRow, read_rows
from pacewatch.words.errors import StoreError
from pacewatch.words.flag import Flag
from pacewatch.words.outcome import Decline, Outcome
from pacewatch.words.slot import Load, Purpose
from pacewatch.words.timing import Fault


@pytest.fixture(scope="module")
def shared_pool(postgres_url):
    with fresh_database(postgres_url) as url, migrated_pool(url) as pool:
        yield pool


TABLES = (
    "slot, endpoint_version, series, series_stat, run, timing, timeline, unrun, aside, duplicate,"
    " place_counter, outcome_counter, missed_counter"
)


@pytest.fixture
def pool(shared_pool):
    with shared_pool.connection() as connection:
        connection.execute(f"truncate {TABLES}")
    return shared_pool


def planned(pool, *slots, **fields):
    with pool.connection() as connection:
        plan(connection, *slots, **fields)
    return slots[0] if len(slots) == 1 else slots


def rows(pool, query, *values):
    with pool.connection() as connection:
        return connection.execute(query, values or None).fetchall()


def one(pool, query, *values):
    (row,) = rows(pool, query, *values)
    return row


def counters(pool):
    """Every counter there is, by name and labels, those at 0 left out."""
    found = {}
    for row in rows(pool, "select * from series natural join series_stat"):
        for name in ("tried", "succeeded"):
            found[name, row["region"], row["load"]] = row[name]
    for row in rows(pool, "select * from place_counter"):
        for name in ("recovered", "duplicate", "cost_usd"):
            found[name, row["region"]] = row[name]
    for row in rows(pool, "select * from outcome_counter"):
        found[row["outcome"], row["purpose"]] = row["requests"]
    for row in rows(pool, "select * from missed_counter"):
        found["missed", row["reason"]] = row["runs"]
    return {key: value for key, value in found.items() if value}


def test_a_run_is_stored_whole_with_the_purpose_and_moment_of_its_slot(pool):
    slot = planned(pool, make_slot(purpose=Purpose.FIRST))
    record = record_of(slot, timed(250), cost_usd=0.002, started_at=NOON + timedelta(hours=2))

    assert statuses(push(pool, record)) == ["stored"]

    run = one(pool, "select * from run")
    assert (run["purpose"], run["slot_at"], run["rolls"]) == ("first", NOON, True)
    assert (run["requests"], run["good"], run["outcome"]) == (1, 1, "ok")
    assert (run["ttft_s"], run["output_tokens_per_s"]) == (0.25, pytest.approx(50))
    assert run["started_at"] == NOON + timedelta(hours=2)
    timing = one(pool, "select * from timing")
    assert (timing["n"], timing["tokens"], timing["left_out"]) == (0, 21, [])
    assert unpacked(one(pool, "select record from timeline")["record"]) == record
    assert one(pool, "select state from slot")["state"] == "run"
    assert counters(pool) == {
        ("tried", "eu-west", "single"): 1,
        ("succeeded", "eu-west", "single"): 1,
        ("cost_usd", "eu-west"): 0.002,
        ("ok", "first"): 1,
    }


def test_of_two_executions_of_a_parallel_run_one_wins_whole_and_the_other_is_counted(pool):
    """Two workers carry the same run out, and one push is repeated because its answer was lost."""
    slot = planned(pool, make_slot(load=Load.PARALLEL))
    won = record_of(slot, *(timed(200, n=n) for n in range(10)), cost_usd=0.01)
    lost = record_of(slot, *(timed(900, n=n) for n in range(10)), name="second", cost_usd=0.01)

    assert statuses(push(pool, won)) == ["stored"]
    before = one(pool, "select * from series_stat")
    assert statuses(push(pool, lost)) == ["duplicate"]
    assert statuses(push(pool, won, lost, lost)) == ["held", "duplicate", "duplicate"]

    assert len(rows(pool, "select * from run")) == 1
    assert [row["ttft_s"] for row in rows(pool, "select ttft_s from timing")] == [0.2] * 10
    assert one(pool, "select * from series_stat") == before
    assert counters(pool) == {
        ("tried", "eu-west", "parallel"): 10,
        ("succeeded", "eu-west", "parallel"): 10,
        ("duplicate", "eu-west"): 1,
        ("cost_usd", "eu-west"): 0.02,
        ("ok", "scheduled"): 10,
    }


def test_one_batch_with_both_executions_and_a_repetition_is_answered_the_same(pool):
    slot = planned(pool, make_slot())
    won, lost = record_of(slot), record_of(slot, name="second")

    assert statuses(push(pool, won, lost, won, lost)) == [
        "stored",
        "duplicate",
        "held",
        "duplicate",
    ]

    assert counters(pool)["duplicate", "eu-west"] == 1


def test_a_declined_record_turns_its_slot_missed_at_once_and_takes_no_key(pool):
    slot = planned(pool, make_slot())
    declined = record_of(slot, declined=Decline.HEADROOM)

    assert statuses(push(pool, declined)) == ["stored"]
    assert statuses(push(pool, declined)) == ["held"]

    state = one(pool, "select state, reason from slot")
    assert (state["state"], state["reason"]) == ("missed", "declined:headroom")
    assert counters(pool) == {("missed", "declined:headroom"): 1}
    assert rows(pool, "select * from run") == []


def test_beside_the_runs_not_made_stands_how_many_of_the_provider_there_have_ended(pool):
    late, full, ran, _to_come = planned(
        pool, *(make_slot(NOON + timedelta(minutes=n)) for n in range(4))
    )
    planned(pool, make_slot(region="us-east"), state="missed")
    push(
        pool,
        record_of(late, declined=Decline.LATE),
        record_of(full, declined=Decline.BUDGET),
        record_of(ran),
    )

    with pool.connection() as connection:
        found = read_rows(
            connection,
            DeclinedRow,
            "select_declined",
            since=NOON - timedelta(minutes=1),
            reasons=["declined:late"],
        )

    (row,) = found
    assert (row.reason, row.runs, row.ended) == ("declined:late", 1, 3)


def test_a_declined_record_need_not_know_what_it_would_have_asked(pool):
    slot = planned(pool, make_slot())

    results = push(pool, record_of(slot, declined=Decline.UNKNOWN_ENDPOINT, endpoint_hash=""))

    assert statuses(results) == ["stored"]


def test_a_run_that_comes_for_a_missed_slot_is_a_recovered_one(pool):
    slot = planned(pool, make_slot())

    assert statuses(
        push(pool, record_of(slot, declined=Decline.LATE, name="late"), record_of(slot))
    ) == ["stored", "stored"]

    state = one(pool, "select state, reason from slot")
    assert (state["state"], state["reason"]) == ("run", "declined:late")
    assert counters(pool)["missed", "declined:late"] == 1
    assert counters(pool)["recovered", "eu-west"] == 1


def test_a_decline_after_the_run_changes_nothing_of_it(pool):
    slot = planned(pool, make_slot())

    push(pool, record_of(slot))
    push(pool, record_of(slot, declined=Decline.LATE, name="late"))

    assert one(pool, "select state from slot")["state"] == "run"
    assert ("missed", "declined:late") not in counters(pool)


def test_an_execution_of_nothing_but_our_own_faults_never_takes_the_key(pool):
    slot = planned(pool, make_slot())
    internal = record_of(slot, make_timing(outcome=Outcome.INTERNAL), name="broken")

    assert statuses(push(pool, internal)) == ["stored"]
    assert one(pool, "select state from slot")["state"] == "sent"
    assert statuses(push(pool, record_of(slot))) == ["stored"]
    assert statuses(push(pool, internal)) == ["held"]

    assert counters(pool) == {
        ("tried", "eu-west", "single"): 1,
        ("succeeded", "eu-west", "single"): 1,
        ("ok", "scheduled"): 1,
        ("internal", "scheduled"): 1,
    }


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"region": "us-east"}, "region: the record is of another region than the token"),
        ({"endpoint": "groq/other"}, 'endpoint: "groq/other" is not the slot\'s'),
        ({"workload": "long"}, 'workload: "long" is not the slot\'s ("short")'),
        ({"load": "parallel"}, 'load: "parallel" is not the slot\'s ("single")'),
        ({"simulated": False}, "simulated: this store holds simulated measurements alone"),
        ({"figures": {"ttft_s": 0.1}}, "figures: a record holds what was seen"),
        ({"beside": -1}, "beside: Input should be greater than or equal to 0"),
        ({"v": 0}, "v: Input should be greater than or equal to 1"),
        ({"execution": "x"}, "execution: Input should be a valid UUID"),
    ],
)
def test_a_record_that_disagrees_is_refused_with_the_reason_and_the_others_pass(
    pool, changes, reason
):
    first, second = planned(pool, make_slot(), make_slot(NOON - timedelta(hours=1)))

    refused, stored = push(pool, record_of(first) | changes, record_of(second))

    assert (refused.status, stored.status) == ("refused", "stored")
    assert reason in refused.reason
    assert one(pool, "select count(*) as n from run")["n"] == 1


@pytest.mark.parametrize("raw", [None, 1, [], {}, "run", {"v": 2}, {"run": 7, "v": 1}])
def test_what_is_no_record_is_refused(pool, raw):
    assert statuses(push(pool, raw)) == ["refused"]


def test_a_record_of_a_hash_of_another_question_is_refused(pool):
    slot, _ = planned(pool, make_slot(), make_slot(workload="long"))

    (result,) = push(pool, record_of(slot) | {"endpoint_hash": hash_of(slot.endpoint, "long")})

    assert result.status == "refused"
    assert result.reason.startswith("endpoint_hash: it is another")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"v": 2, "requests": "quite another form"}, "version 2 of the record is not known yet"),
        ({"run": str(uuid4())}, "run: no slot of that id is known here"),
        ({"endpoint_hash": "f" * 16}, "endpoint_hash: not known here"),
    ],
)
def test_a_record_not_known_here_yet_is_put_aside_raw(pool, changes, reason):
    slot = planned(pool, make_slot())
    record = record_of(slot) | changes

    (result,) = push(pool, record)
    (again,) = push(pool, record)

    assert (result.status, again.status) == ("aside", "aside")
    assert result.reason.startswith(reason)
    assert unpacked(one(pool, "select record from aside")["record"]) == record
    assert rows(pool, "select * from run") == []


def test_what_is_not_known_yet_is_refused_for_the_slot_of_another_region(pool):
    slot = planned(pool, make_slot())

    (result,) = push(pool, record_of(slot) | {"v": 2, "region": "mars"}, region="mars")

    assert result.status == "refused"
    assert result.reason == f'region: "mars" is not the slot\'s ("{slot.region}")'
    assert rows(pool, "select * from aside") == []


def test_a_region_puts_so_many_records_aside_and_the_others_stay_at_its_worker(pool, monkeypatch):
    monkeypatch.setattr(aside, "MOST_OF_A_REGION", 2)
    slot = planned(pool, make_slot())
    records = [record_of(slot) | {"run": str(uuid4()), "execution": str(uuid4())} for _ in range(3)]

    first = push(pool, *records[:2])
    later = push(pool, *records)

    assert statuses(first) == ["aside", "aside"]
    assert statuses(later) == ["aside", "aside", "refused"]
    assert later[2].reason == (
        "run: no slot of that id is known here, and 2 such records are kept already"
    )
    assert len(rows(pool, "select * from aside")) == 2


@pytest.mark.parametrize(
    ("outcomes", "flags"),
    [
        (["ok"] * 10, []),
        (["ok"] * 9 + ["rate_limited"], ["throttled"]),
        (["ok"] * 5 + ["overloaded"] * 5, []),
        (["ok"] * 4 + ["overloaded"] * 6, ["inconclusive"]),
        (["ok"] * 4 + ["rate_limited"] * 6, ["throttled", "inconclusive"]),
    ],
)
def test_a_limited_or_half_finished_parallel_run_is_flagged_and_leaves_the_statistics(
    pool, outcomes, flags
):
    slot = planned(pool, make_slot(load=Load.PARALLEL))
    timings = [
        timed(200, n=n)
        if word == "ok"
        else make_timing(make_chunks(), n=n, outcome=Outcome(word), finish=None)
        for n, word in enumerate(outcomes)
    ]

    push(pool, record_of(slot, *timings))

    run = one(pool, "select flags, ttft_s, good from run")
    stat = one(pool, "select runs, requests, good, ttft_runs, ttft_s from series_stat")
    assert run["flags"] == flags
    assert run["good"] == outcomes.count("ok")
    assert (run["ttft_s"] is None) == bool(flags)
    assert (stat["runs"], stat["requests"], stat["good"]) == (1, 10, outcomes.count("ok"))
    assert stat["ttft_runs"] == (0 if flags else 1)
    assert (stat["ttft_s"] is None) == bool(flags)
    # as measured, whatever is left out
    assert {row["ttft_s"] for row in rows(pool, "select ttft_s from timing")} - {None} == {0.2}


def test_a_spent_quota_told_as_429_throttles_a_parallel_run_too(pool):
    slot = planned(pool, make_slot(load=Load.PARALLEL))
    limited = make_timing(
        make_chunks(), n=1, outcome=Outcome.PAYMENT, fault=Fault(status=429, type="quota")
    )

    push(pool, record_of(slot, timed(200), limited))

    assert one(pool, "select flags from run")["flags"] == ["throttled"]


def test_a_flag_takes_its_figures_out_and_no_other(pool):
    slots = planned(pool, *(make_slot(NOON - timedelta(hours=h)) for h in range(2)))

    push(pool, record_of(slots[0], timed(200)))
    push(pool, record_of(slots[1], timed(20, flags=(Flag.CACHED,))))

    stat = one(pool, "select * from series_stat")
    assert (stat["runs"], stat["ttft_runs"], stat["speed_runs"]) == (2, 1, 2)
    assert stat["ttft_s"] == [0.2] * 5


def test_confirming_and_manual_runs_are_stored_and_counted_and_move_no_statistic(pool):
    for purpose in (Purpose.CONFIRM, Purpose.MANUAL):
        slot = planned(pool, make_slot(purpose=purpose))
        assert statuses(push(pool, record_of(slot))) == ["stored"]

    stat = one(pool, "select runs, tried, latest_at, next_expiry from series_stat")
    assert list(stat.values()) == [0, 0, None, None]
    assert counters(pool) == {("ok", "confirm"): 1, ("ok", "manual"): 1}


def test_sentinels_roll_in_the_series_of_their_own_workload_alone(pool):
    for workload in ("sentinel", "short"):
        slot = planned(pool, make_slot(purpose=Purpose.SENTINEL, workload=workload))
        assert statuses(push(pool, record_of(slot))) == ["stored"]

    query = "select workload, runs, tried from series natural join series_stat order by workload"
    assert rows(pool, query) == [
        {"workload": "sentinel", "runs": 1, "tried": 1},
        {"workload": "short", "runs": 0, "tried": 0},
    ]


def test_an_unconnected_request_was_tried(pool):
    slot = planned(pool, make_slot())
    refused = make_timing(make_chunks(), outcome=Outcome.CONNECT, sent_us=None, finish=None)

    push(pool, record_of(slot, refused))

    assert counters(pool) == {("tried", "eu-west", "single"): 1, ("connect", "scheduled"): 1}


def test_a_push_for_a_day_without_partitions_makes_them(pool):
    slot = planned(pool, make_slot(NOON - timedelta(days=30)))

    assert statuses(push(pool, record_of(slot))) == ["stored"]

    assert rows(pool, "select to_regclass('timing_20261102') as it")[0]["it"] == "timing_20261102"


@pytest.mark.parametrize(
    ("table", "check"),
    [
        ("timing", f"slot_at < '{NOON}'"),
        ("series_stat", "runs < 2"),
        ("place_counter", "cost_usd < 1"),
    ],
)
def test_a_batch_that_fails_early_or_late_leaves_nothing(pool, table, check):
    slots = planned(pool, *(make_slot(NOON - timedelta(hours=hours)) for hours in range(2)))
    records = [record_of(slot, cost_usd=0.7) for slot in slots]
    with pool.connection() as connection:
        connection.execute(f"alter table {table} add constraint held check ({check})")
    try:
        with pytest.raises(StoreError, match="held"):
            push(pool, *records)
    finally:
        with pool.connection() as connection:
            connection.execute(f"alter table {table} drop constraint held")

    assert rows(pool, "select * from run") == []
    assert counters(pool) == {}
    assert statuses(push(pool, *records)) == ["stored", "stored"]


def test_a_worker_whose_clock_is_ahead_is_placed_by_its_slots_and_moves_no_other_region(pool):
    regions = ("ahead", "eu-west", "us-east")
    slots = {
        region: planned(
            pool,
            *(make_slot(NOON - timedelta(hours=h), region=region) for h in (1, 2)),
        )
        for region in regions
    }
    for region in regions[1:]:
        push(pool, *(record_of(slot, timed(200)) for slot in slots[region]), region=region)
    query = "select * from series_stat natural join series where region <> 'ahead' order by region"
    before = rows(pool, query)

    skewed = [
        record_of(slot, timed(300), started_at=slot.slot_at + timedelta(hours=2))
        for slot in slots["ahead"]
    ]
    broken = skewed[0] | {"beside": -1}
    assert statuses(push(pool, broken, *skewed, region="ahead")) == ["refused", "stored", "stored"]

    stat = one(pool, "select * from series_stat natural join series where region = 'ahead'")
    assert (stat["newest_at"], stat["latest_at"]) == (NOON - timedelta(hours=1),) * 2
    assert (stat["ttft_s"][2], stat["output_tokens_per_s"][2]) == (0.3, pytest.approx(50))
    assert before == rows(pool, query)
