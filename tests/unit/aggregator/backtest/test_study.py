from random import Random

import pytest
from support.judged import REGIONS, bad, good, played

from aggregator.backtest.fleet import calibrate_fleet
from aggregator.backtest.noise import World
from aggregator.backtest.plain import Regions, Threshold
from aggregator.backtest.play import Rate, schedule
from aggregator.backtest.study import Found, summary
from aggregator.detect.calibrate import HIGHEST, LOWEST
from aggregator.detect.state import state_of
from pacewatch.words.slot import Load


def test_the_same_seed_is_the_same_history_and_another_seed_another():
    assert state_of(played(1, days=2).rule) == state_of(played(1, days=2).rule)
    assert state_of(played(1, days=2).rule) != state_of(played(2, days=2).rule)


def test_a_day_has_the_runs_of_its_rate_however_it_is_cut():
    rate = Rate(regions=3, sentinel_s=300)
    whole = list(schedule(rate, 0, 24))
    parts = [*schedule(rate, 0, 7.3), *schedule(rate, 7.3, 24)]

    assert len(whole) == rate.runs_a_day == 318
    assert sorted(parts) == sorted(whole)
    assert rate.requests_a_day == 318 + 54
    assert sum(load is Load.PARALLEL for _, _, _, load, _ in whole) == 6


def test_what_is_sampled_lies_about_the_endpoints_own_level():
    world = World(Random(4), 2)  # noqa: S311 - a simulation
    samples = [world.sample(hour, hour % 2) for hour in range(1500)]
    ttfts = sorted(sample.ttft_s for sample in samples)

    assert world.ttft_s * 0.8 < ttfts[750] < world.ttft_s * 1.3
    assert 3 < sum(sample.failed for sample in samples) < 40


def test_a_plain_threshold_takes_more_than_a_day_to_see_a_halved_speed():
    rule, found = Threshold(), []
    for hour in range(300):
        now = hour * 3600.0
        found += rule.take([good(hour, speed=100 if hour < 200 else 50)], now)

    assert [change.at / 3600 for change in found] == [pytest.approx(236, abs=2)]
    assert rule.orders(0.0, 12) == []


def test_the_rule_of_regions_needs_two_of_three_at_once():
    rule = Regions(regions=3)
    for hour in range(9):
        assert rule.take([good(hour, REGIONS[hour % 3])], hour * 3600.0) == []

    assert rule.take([good(10, "r00", ttft_s=3.0)], 10 * 3600.0) == []
    assert rule.take([good(100, "r02", ttft_s=None)], 100 * 3600.0) == []
    assert len(rule.take([bad(101, "r01")], 101 * 3600.0)) == 1
    assert rule.orders(0.0, 12) == []


def test_a_summary_counts_what_was_not_found_as_late():
    found = [Found(hours=h) for h in (1.0, 2.0, 3.0, None)]

    assert summary(found) == (2.5, pytest.approx(34.5), 48.0, 0.25)
    assert summary(found[3:]) == (None, None, 48.0, 1.0)


def test_a_fleet_is_calibrated_on_the_weeks_before_those_it_is_judged_by():
    done = calibrate_fleet(Rate(regions=1), range(2), 2)

    assert LOWEST <= done.multiplier <= HIGHEST
    assert done.pages <= 2 * done.allowed + 1
