from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from support.fleets import make_endpoint, make_fleet

from aggregator.plan import make_plan
from aggregator.ring import lay_rings, place_s
from aggregator.schedule import slots_between
from pacewatch.words.endpoint import Limits
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import WORKLOADS, Load

DAY = datetime(2026, 3, 8, tzinfo=UTC)
MANY = tuple(make_endpoint("acme", f"m{n}", published_tokens_per_s=None) for n in range(10))
"""Ten endpoints whose places are 65 s long."""


def overlaps(fleet: Fleet, days: int) -> list[str]:
    """Return the parallel slots that begin before the one before them has had its place."""
    length = {e.id: e for e in fleet.endpoints}
    slots = [
        slot
        for slot in slots_between(fleet, make_plan(fleet), DAY, DAY + timedelta(days=days))
        if slot.load is Load.PARALLEL
    ]
    ends = [
        slot.slot_at
        + timedelta(seconds=place_s(length[slot.endpoint], fleet.workloads[slot.workload]))
        for slot in slots
    ]
    assert len(slots) > 10
    return [
        f"{b.slot_at} {b.endpoint}"
        for (_, end), (b, _) in pairwise(zip(slots, ends, strict=True))
        if b.slot_at < end
    ]


def test_a_place_is_as_long_as_the_run_at_the_published_speed_and_five_seconds():
    assert place_s(make_endpoint(published_tokens_per_s=300.0), WORKLOADS["standard"]) == 4 + 5


def test_a_place_holds_the_room_for_reasoning():
    reasons = make_endpoint(published_tokens_per_s=100.0, reasoning_tokens=1_000)

    assert place_s(reasons, WORKLOADS["standard"]) == 20 + 5


def test_an_unknown_speed_takes_a_minute():
    assert place_s(make_endpoint(published_tokens_per_s=None), WORKLOADS["standard"]) == 60 + 5


def test_no_run_is_expected_to_last_longer_than_its_limit():
    slow = make_endpoint(published_tokens_per_s=1.0, limits=Limits(total_s=20.0))

    assert place_s(slow, WORKLOADS["standard"]) == 20 + 5


@pytest.mark.parametrize("regions", [1, 3, 8])
def test_parallel_slots_of_a_provider_do_not_overlap(regions):
    endpoints = (make_endpoint("acme", "fast"), make_endpoint("acme", "other"), *MANY)

    assert overlaps(make_fleet(*endpoints, regions=regions), days=2) == []


def short_days(regions: int) -> Fleet:
    """Return a fleet with days of an hour, two turns of 1,800 s each, and no singles."""
    return make_fleet(*MANY, regions=regions, day_s=3_600, single_per_day=0)


def test_parallel_slots_do_not_overlap_on_a_nearly_full_ring():
    """20 places of 65 s take 1,300 of a turn's 1,800 seconds."""
    assert lay_rings(short_days(2))["acme"].turns == 2
    assert overlaps(short_days(2), days=1) == []


def test_an_over_full_ring_is_thinned_to_one_turn_a_day():
    ring = lay_rings(short_days(5))["acme"]

    assert (ring.turns, ring.groups, ring.needed_s) == (1, 1, 3_250)
    assert overlaps(short_days(5), days=1) == []


def test_a_ring_that_a_day_cannot_hold_turns_over_several_days():
    fleet = short_days(6)
    two_days = slots_between(fleet, make_plan(fleet), DAY, DAY + timedelta(hours=2))

    assert lay_rings(fleet)["acme"].groups == 2
    assert len({(slot.endpoint, slot.region) for slot in two_days}) == len(two_days) == 60
    assert overlaps(fleet, days=1) == []


def test_the_two_parallel_slots_of_a_series_are_half_a_day_apart():
    fleet = make_fleet(make_endpoint())
    moments = [
        slot.slot_at
        for slot in slots_between(fleet, make_plan(fleet), DAY, DAY + timedelta(days=2))
        if slot.load is Load.PARALLEL
    ]

    assert {b - a for a, b in pairwise(moments)} == {timedelta(hours=12)}


def test_the_regions_of_an_endpoint_are_spread_over_the_ring():
    ring = lay_rings(make_fleet(make_endpoint(), regions=4))["acme"]
    starts = sorted(place.start_s for place in ring.places.values())

    assert {b - a for a, b in pairwise(starts)} == {43_200 // 4}


def test_providers_have_rings_of_their_own_that_begin_apart():
    fleet = make_fleet(*(make_endpoint(f"p{n}") for n in range(20)))
    starts = {place.start_s for ring in lay_rings(fleet).values() for place in ring.places.values()}

    assert len(starts) > 15


def test_a_schedule_without_parallel_runs_has_no_place():
    fleet = make_fleet(parallel_per_day=0)

    assert lay_rings(fleet)["acme"].places == {}
    assert {
        slot.load for slot in slots_between(fleet, make_plan(fleet), DAY, DAY + timedelta(days=1))
    } == {Load.SINGLE}
