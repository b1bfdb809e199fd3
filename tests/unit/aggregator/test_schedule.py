import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fleets import PRICE, make_endpoint, make_fleet

from aggregator.fleet_sync import planned_series
from aggregator.plan import make_plan
from aggregator.schedule import first_slots, slots_between
from pacewatch.words.endpoint import Importance
from pacewatch.words.fleet import DEMO_SCHEDULE, Fleet
from pacewatch.words.slot import Load, Purpose, Series, Slot, slot_key

DAY = datetime(2026, 3, 8, tzinfo=UTC)
ONE_DAY = timedelta(days=1)
MIXED = make_fleet(
    make_endpoint("acme", "m1", price=PRICE),
    make_endpoint("acme", "m2", published_tokens_per_s=None, price=PRICE),
    make_endpoint("other", "m1"),
    regions=3,
    workloads=("short", "standard"),
    usd_per_day=0.5,
)


def slots_of(fleet: Fleet, start: datetime = DAY, length: timedelta = ONE_DAY) -> list[Slot]:
    return slots_between(fleet, make_plan(fleet), start, start + length)


def seconds_of(slots: list[Slot], load: Load, **parts: str) -> list[int]:
    return [
        int((slot.slot_at - DAY).total_seconds())
        for slot in slots
        if slot.load is load and all(getattr(slot, key) == value for key, value in parts.items())
    ]


@pytest.fixture(params=["UTC", "America/New_York", "Australia/Lord_Howe"])
def zone(request, monkeypatch):
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def test_a_utc_day_has_eight_and_two_slots_whatever_the_zone_on_a_day_of_23_hours(zone):
    counts = Counter(
        (slot.endpoint, slot.region, slot.workload, slot.load)
        for slot in slots_of(make_fleet(make_endpoint(), make_endpoint("b"), regions=3))
    )

    assert len(counts) == 2 * 3 * 2
    assert {load: {n for key, n in counts.items() if key[3] is load} for load in Load} == {
        Load.SINGLE: {8},
        Load.PARALLEL: {2},
    }


def test_moments_and_ids_are_the_same_in_every_zone(zone):
    """Both were reckoned apart: the moment with sha256sum, the id with sha1sum."""
    slot = slots_of(make_fleet(make_endpoint()))[0]

    assert slot.slot_at.tzinfo is UTC
    assert slot_key(slot.slot_at) == "2026-03-08T01:10:50Z"
    assert str(slot.run_id) == "857d8f34-3090-54e5-bb1c-47c4965824ef"


def test_singles_are_evenly_spaced_in_elapsed_time_across_the_missing_hour(zone):
    singles = seconds_of(slots_of(make_fleet(), length=2 * ONE_DAY), Load.SINGLE)

    assert {b - a for a, b in pairwise(singles)} == {10_800}
    assert len(singles) == 16


def test_singles_that_do_not_divide_the_day_are_even_to_a_second():
    singles = seconds_of(slots_of(make_fleet(single_per_day=7)), Load.SINGLE)

    assert {b - a for a, b in pairwise(singles)} <= {12_342, 12_343}


def test_the_regions_of_an_endpoint_are_staggered_evenly():
    singles = sorted(seconds_of(slots_of(make_fleet(regions=4)), Load.SINGLE))

    assert {b - a for a, b in pairwise(singles)} == {10_800 // 4}


def test_endpoints_begin_at_different_moments():
    fleet = make_fleet(*(make_endpoint("acme", f"m{n}") for n in range(50)))
    first_spacing = slots_of(fleet, length=timedelta(hours=3))

    assert len(set(seconds_of(first_spacing, Load.SINGLE))) > 45


def test_moments_are_whole_seconds_and_valid_for_half_an_hour():
    slots = slots_of(MIXED)

    assert {slot.slot_at.microsecond for slot in slots} == {0}
    assert {slot.valid_until - slot.slot_at for slot in slots} == {timedelta(minutes=30)}


def test_a_day_of_eight_minutes_holds_the_whole_schedule():
    demo = {key: getattr(DEMO_SCHEDULE, key) for key in ("day_s", "workloads", "validity_s")}
    slots = slots_of(make_fleet(regions=2, **demo), length=timedelta(minutes=8))

    assert Counter(slot.load for slot in slots) == {Load.SINGLE: 16, Load.PARALLEL: 4}
    assert {slot.workload for slot in slots} == {"short"}


moments = st.integers(0, 2 * 86_400_000_000).map(lambda us: DAY + timedelta(microseconds=us))


@given(cuts=st.lists(moments, min_size=2, max_size=8))
def test_a_span_gives_the_same_slots_however_it_is_cut(cuts):
    plan = make_plan(MIXED)
    cuts = sorted(cuts)
    whole = slots_between(MIXED, plan, cuts[0], cuts[-1])
    pieces = [slot for a, b in pairwise(cuts) for slot in slots_between(MIXED, plan, a, b)]

    assert pieces == whole


def test_the_start_is_included_and_the_end_is_not():
    slot = slots_of(MIXED)[3]
    second = timedelta(seconds=1)

    assert slot in slots_of(MIXED, slot.slot_at, second)
    assert slot not in slots_of(MIXED, slot.slot_at - second, second)


def test_a_span_without_length_or_backwards_has_no_slot():
    assert slots_of(MIXED, DAY, timedelta()) == []
    assert slots_of(MIXED, DAY, -ONE_DAY) == []


def test_a_naive_moment_is_refused():
    with pytest.raises(ValueError, match="no zone"):
        slots_of(MIXED, DAY.replace(tzinfo=None))


def test_run_ids_are_unique():
    slots = slots_of(MIXED, length=3 * ONE_DAY)

    assert len({slot.run_id for slot in slots}) == len(slots)


def test_another_endpoint_moves_no_single_slot():
    alone = slots_of(make_fleet(make_endpoint("acme", "m1")))
    beside = slots_of(make_fleet(make_endpoint("acme", "m1"), make_endpoint("acme", "m2")))

    assert seconds_of(alone, Load.SINGLE) == seconds_of(beside, Load.SINGLE, endpoint="acme/m1")


def series(endpoint: str, region: str, load: Load) -> Series:
    return Series(endpoint=endpoint, region=region, workload="standard", load=load, simulated=False)


def test_a_new_endpoint_gets_one_single_run_a_region_at_once():
    new = [series("acme/m1", region, load) for region in ("r0", "r1") for load in Load]
    slots = first_slots(MIXED, new, DAY + timedelta(milliseconds=300))

    assert [(slot.region, slot.load, slot.purpose) for slot in slots] == [
        ("r0", Load.SINGLE, Purpose.FIRST),
        ("r1", Load.SINGLE, Purpose.FIRST),
    ]
    assert {slot.slot_at for slot in slots} == {DAY}


def test_first_runs_of_one_region_follow_each_other_by_a_second():
    new = [series(f"acme/m{n}", "r0", Load.SINGLE) for n in range(3)]
    moments = [slot.slot_at - DAY for slot in first_slots(MIXED, new, DAY)]

    assert moments == [timedelta(seconds=n) for n in range(3)]


def test_the_id_of_a_first_run_does_not_depend_on_the_moment():
    new = [series("acme/m1", "r0", Load.SINGLE)]
    ids = {first_slots(MIXED, new, DAY + n * ONE_DAY)[0].run_id for n in range(2)}

    assert len(ids) == 1


PAGED = make_fleet(
    make_endpoint("acme", "m1", importance=Importance.PAGE, price=PRICE),
    make_endpoint("acme", "m2", price=PRICE),
    regions=3,
)


def sentinels_of(slots: list[Slot]) -> list[Slot]:
    return [slot for slot in slots if slot.purpose is Purpose.SENTINEL]


def test_sentinels_come_every_five_minutes_from_one_region_after_another():
    slots = sentinels_of(slots_of(PAGED))

    assert {(s.endpoint, s.workload, s.load) for s in slots} == {
        ("acme/m1", "sentinel", Load.SINGLE)
    }
    assert len(slots) == 288
    assert {b.slot_at - a.slot_at for a, b in pairwise(slots)} == {timedelta(minutes=5)}
    assert all(len({slot.region for slot in slots[n : n + 3]}) == 3 for n in range(286))


def test_a_sentinel_is_valid_for_one_spacing():
    for every_s in (300, 600):
        fleet = replace(PAGED, schedule=replace(PAGED.schedule, sentinel_s=every_s))

        assert {s.valid_until - s.slot_at for s in sentinels_of(slots_of(fleet))} == {
            timedelta(seconds=every_s)
        }


@given(cuts=st.lists(st.integers(1, 86_399), max_size=4, unique=True))
def test_sentinels_are_the_same_however_a_day_is_cut(cuts):
    moments = [DAY + timedelta(seconds=s) for s in (0, *sorted(cuts), 86_400)]
    pieces = [s for a, b in pairwise(moments) for s in sentinels_of(slots_of(PAGED, a, b - a))]

    assert pieces == sentinels_of(slots_of(PAGED))


def test_a_series_of_sentinels_has_no_first_run():
    found = first_slots(PAGED, planned_series(PAGED), DAY)

    assert {slot.workload for slot in found} == {"standard"}
    assert sum(series.workload == "sentinel" for series in planned_series(PAGED)) == 3
