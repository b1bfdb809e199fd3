from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fleets import PRICE, make_endpoint, make_fleet

from aggregator.plan import make_plan
from aggregator.schedule import slots_between
from aggregator.thin import Cap, MetCap, Rate
from pacewatch.words.endpoint import Importance, Price
from pacewatch.words.fleet import Fleet, Spending
from pacewatch.words.slot import WORKLOADS, Load, Purpose
from pacewatch.words.spending import Caps, demand_of

DAY = datetime(2026, 3, 8, tzinfo=UTC)
DEAR = Price(input_usd=5.0, output_usd=25.0, source="made up for a test")


def usd_of_day(fleet: Fleet, day: int = 0) -> float:
    """Return what the slots of a day cost, added up slot by slot."""
    known = {e.id: e for e in fleet.endpoints}
    start = DAY + timedelta(days=day)
    return sum(
        demand_of(
            known[slot.endpoint], WORKLOADS[slot.workload], fleet.schedule.requests(slot.load)
        ).usd
        or 0.0
        for slot in slots_between(fleet, make_plan(fleet), start, start + timedelta(days=1))
    )


def test_under_the_cap_the_schedule_is_whole():
    plan = make_plan(make_fleet(make_endpoint(price=PRICE), regions=3))
    row = plan.rows["acme/m1"]

    assert (row.single, row.parallel) == (Rate(per_day=8), Rate(per_day=2))
    assert row.requests_per_day == 3 * 28
    assert row.input_tokens_per_day == row.output_tokens_per_day == 3 * 28 * 1_000
    assert plan.usd_per_day == pytest.approx(3 * 28 * 0.002)


def test_the_plan_says_what_its_slots_cost():
    fleet = make_fleet(
        make_endpoint("a", price=PRICE), make_endpoint("b", price=DEAR), regions=3, usd_per_day=3
    )

    assert usd_of_day(fleet) == pytest.approx(make_plan(fleet).usd_per_day)


@pytest.mark.parametrize(
    ("cap", "single", "parallel"),
    [
        (0.056, 8, 2),
        (0.055, 7, 2),
        (0.048, 4, 2),
        (0.047, 8, 1),
        (0.028, 4, 1),
        (0.027, 8, 0),
        (0.015, 7, 0),
        (0.002, 1, 0),
    ],
)
def test_singles_are_thinned_to_half_before_a_parallel_slot_goes(cap, single, parallel):
    row = make_plan(make_fleet(make_endpoint(price=PRICE), usd_per_day=cap)).rows["acme/m1"]

    assert (row.single, row.parallel) == (Rate(per_day=single), Rate(per_day=parallel))


def test_below_one_slot_a_day_an_endpoint_is_probed_every_few_days():
    fleet = make_fleet(make_endpoint(price=PRICE), usd_per_day=0.001)
    slots = slots_between(fleet, make_plan(fleet), DAY, DAY + timedelta(days=8))

    assert make_plan(fleet).rows["acme/m1"].single == Rate(per_day=1, every_days=2)
    assert {b.slot_at - a.slot_at for a, b in pairwise(slots)} == {timedelta(days=2)}


def test_series_that_are_probed_every_few_days_take_turns():
    fleet = make_fleet(make_endpoint(price=PRICE), regions=4, usd_per_day=0.004)

    assert [usd_of_day(fleet, day) for day in range(6)] == pytest.approx([0.004] * 6)


def test_a_cap_of_nothing_leaves_what_costs_nothing():
    plan = make_plan(make_fleet(make_endpoint("a", price=PRICE), make_endpoint("b"), usd_per_day=0))

    assert plan.rows["a/m1"].requests_per_day == 0
    assert plan.rows["b/m1"].requests_per_day == 28
    assert plan.usd_per_day == 0


def test_an_endpoint_without_a_price_is_named_and_counts_as_nothing():
    plan = make_plan(make_fleet(make_endpoint("a", price=PRICE), make_endpoint("b")))

    assert plan.unpriced == ("b/m1",)
    assert plan.rows["b/m1"].usd_per_day is None
    assert plan.usd_per_day == pytest.approx(0.056)


def test_the_dearest_endpoint_is_thinned_and_the_cheap_one_is_not():
    plan = make_plan(
        make_fleet(make_endpoint("a", price=PRICE), make_endpoint("b", price=DEAR), usd_per_day=0.5)
    )

    assert plan.rows["a/m1"].requests_per_day == 28
    assert 0 < plan.rows["b/m1"].requests_per_day < 28
    assert plan.usd_per_day <= 0.5 < plan.asked_usd_per_day


def test_thinned_singles_are_evenly_spaced():
    fleet = make_fleet(make_endpoint(price=PRICE), usd_per_day=0.013)
    slots = slots_between(fleet, make_plan(fleet), DAY, DAY + timedelta(days=2))

    assert {b.slot_at - a.slot_at for a, b in pairwise(slots)} == {timedelta(hours=4)}


def test_a_demo_day_is_priced_by_the_real_one():
    """180 days of 480 s go into a day of 24 hours."""
    fleet = make_fleet(make_endpoint(price=PRICE), day_s=480, usd_per_day=1e9)

    assert make_plan(fleet).usd_per_day == pytest.approx(180 * 0.056)


prices = st.lists(st.floats(0.01, 100), min_size=1, max_size=8)


@given(prices=prices, cap=st.floats(0.01, 20), regions=st.integers(1, 4))
def test_the_plan_never_exceeds_the_cap(prices, cap, regions):
    endpoints = [
        make_endpoint(f"p{n}", price=Price(input_usd=usd, output_usd=usd, source="made up"))
        for n, usd in enumerate(prices)
    ]
    plan = make_plan(make_fleet(*endpoints, regions=regions, usd_per_day=cap))

    assert plan.usd_per_day <= cap + 1e-9
    assert plan.usd_per_day <= plan.asked_usd_per_day + 1e-9


@given(cap=st.floats(0.1, 3), regions=st.integers(1, 4))
def test_each_day_keeps_to_the_cap_where_every_series_has_its_slots_each_day(cap, regions):
    fleet = make_fleet(
        make_endpoint("a", price=PRICE), make_endpoint("b", price=DEAR), usd_per_day=cap
    )
    rows = make_plan(fleet).rows.values()
    if all(row.single.every_days == 1 for row in rows):
        assert usd_of_day(fleet) <= cap + 1e-9


def test_the_plan_is_the_same_for_the_same_fleet():
    endpoints = [make_endpoint(f"p{n}", price=replace(DEAR, output_usd=n + 1)) for n in range(9)]
    fleet = make_fleet(*endpoints, regions=3, usd_per_day=2)
    turned = replace(fleet, endpoints=fleet.endpoints[::-1])

    assert make_plan(fleet).rows == make_plan(turned).rows


def test_thinning_leaves_whole_slots():
    fleet = make_fleet(make_endpoint(price=PRICE), regions=2, usd_per_day=0.058)
    slots = slots_between(fleet, make_plan(fleet), DAY, DAY + timedelta(days=1))

    assert set(Counter((s.region, s.load) for s in slots).values()) == {4, 1}
    assert {s.load for s in slots} == set(Load)


def with_caps(fleet: Fleet, **caps: Any) -> Fleet:
    return replace(fleet, spending=Spending(**caps))


def test_a_cap_on_requests_leaves_out_whole_slots_of_unpriced_endpoints_too():
    plan = make_plan(with_caps(make_fleet(make_endpoint()), requests_per_day=14))
    row = plan.rows["acme/m1"]

    assert (row.single, row.parallel) == (Rate(per_day=4), Rate(per_day=1))
    assert row.is_thinned
    assert plan.met == (MetCap(cap=Cap(provider=None, unit="requests", most=14), asked=28),)


def test_a_cap_on_tokens_counts_the_room_for_reasoning():
    fleet = make_fleet(make_endpoint(reasoning_tokens=2_000))
    plan = make_plan(with_caps(fleet, tokens_per_day=4_000 * 10))

    assert plan.rows["acme/m1"].requests_per_day == 8
    assert plan.rows["acme/m1"].output_tokens_per_day == 8 * 3_000


def test_a_providers_cap_thins_no_other_provider():
    fleet = make_fleet(make_endpoint("a"), make_endpoint("a", "m2"), make_endpoint("b"))
    plan = make_plan(with_caps(fleet, providers={"a": Caps(requests_per_day=20)}))

    assert plan.rows["a/m1"].requests_per_day + plan.rows["a/m2"].requests_per_day <= 20
    assert plan.rows["b/m1"].requests_per_day == 28


def test_under_a_cap_of_its_provider_and_one_of_the_fleet_both_hold():
    fleet = make_fleet(make_endpoint("a", price=PRICE), make_endpoint("b", price=DEAR))
    caps = {"a": Caps(usd_per_day=0.02)}
    plan = make_plan(with_caps(fleet, usd_per_day=0.2, providers=caps))

    assert 0 < (plan.rows["a/m1"].usd_per_day or 0) <= 0.02
    assert plan.usd_per_day <= 0.2


def test_a_cap_that_is_not_met_changes_nothing_and_is_not_told():
    plan = make_plan(with_caps(make_fleet(make_endpoint()), requests_per_day=28))

    assert plan.rows["acme/m1"].requests_per_day == 28
    assert plan.met == ()


def paged(**changes: Any) -> Fleet:
    return make_fleet(
        make_endpoint("a", price=PRICE, importance=Importance.PAGE, **changes),
        make_endpoint("b", price=PRICE),
        regions=3,
    )


def test_the_plan_prices_sentinels_with_their_room_for_reasoning():
    plain, reasons = make_plan(paged()), make_plan(paged(reasoning_tokens=2_048))

    assert plain.rows["b/m1"].sentinel_s == 0
    assert plain.rows["a/m1"].sentinel_s == 300
    assert plain.rows["a/m1"].sentinel_usd_per_day == pytest.approx(288 * 84e-6)
    assert reasons.rows["a/m1"].sentinel_usd_per_day == pytest.approx(288 * 2_132e-6)
    assert plain.rows["a/m1"].requests_per_day == 3 * 28 + 288
    assert plain.usd_per_day == pytest.approx(2 * 3 * 28 * 0.002 + 288 * 84e-6)


def test_the_plan_says_what_its_slots_cost_with_sentinels():
    fleet = paged()

    assert usd_of_day(fleet) == pytest.approx(make_plan(fleet).usd_per_day)


@pytest.mark.parametrize(
    ("cap", "sentinel_s", "single"),
    [(0.193, 300, 8), (0.19, 600, 8), (0.171, 3_600, 8), (0.163, 0, 7)],
)
def test_sentinels_come_ever_more_seldom_and_go_before_a_slot_of_the_schedule(
    cap, sentinel_s, single
):
    fleet = make_fleet(
        make_endpoint(price=PRICE, importance=Importance.PAGE), regions=3, usd_per_day=cap
    )
    row = make_plan(fleet).rows["acme/m1"]

    assert (row.sentinel_s, row.single.per_day, row.asked_sentinel_s) == (sentinel_s, single, 300)
    assert usd_of_day(fleet) == pytest.approx(make_plan(fleet).usd_per_day)
    assert make_plan(fleet).usd_per_day <= cap


def test_thinned_sentinels_are_spread_over_the_whole_day():
    fleet = make_fleet(
        make_endpoint(price=PRICE, importance=Importance.PAGE), regions=3, usd_per_day=0.171
    )
    slots = slots_between(fleet, make_plan(fleet), DAY, DAY + timedelta(days=1))
    hours = [slot.slot_at.hour for slot in slots if slot.purpose is Purpose.SENTINEL]

    assert hours == list(range(24))
