from random import Random

import pytest
from support.judged import REGIONS, bad, good, played

from aggregator.backtest.fleet import calibrate_fleet
from aggregator.backtest.noise import World
from aggregator.backtest.plain import Regions, Threshold
from aggregator.backtest.play import Rate, schedule
from aggregator.backtest.study import RULES, Found, play_of, starts, summary
from aggregator.backtest.trouble import Injected
from aggregator.detect.calibrate import HIGHEST, LOWEST
from aggregator.detect.state import state_of
from aggregator.detect.suspicion import Order
from pacewatch.words.slot import Load, Purpose


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


class Asks:
    """Hears runs, and has so many probes made after each that was planned."""

    def __init__(self, probes):
        self.probes, self.heard, self.left = probes, [], 0

    def take(self, runs, now):
        self.heard += runs
        self.left = self.probes if runs[0].purpose is not Purpose.CONFIRM else 0
        return []

    def orders(self, now, allowed):
        left, self.left = self.left, 0
        return [Order(region="r01", workload="standard")] * left


def test_every_rule_meets_the_same_history_whatever_probes_it_orders():
    failing = Injected(ttft=2.0, failed=0.3, limited=0.1)
    heard = []
    for probes in (0, 2):
        play = play_of(Rate(regions=3), 5, lambda rate, probes=probes: Asks(probes))
        play.run(0, 300)
        play.run(300, 400, failing)
        planned = [run for run in play.rule.heard if run.purpose is not Purpose.CONFIRM]
        heard.append(planned)
        assert len(play.rule.heard) - len(planned) == probes * len(planned) == play.extra

    assert len(heard[0]) > 400
    assert heard[0] == heard[1]


def test_troubles_begin_at_the_same_moments_for_every_rule():
    hours = [{hour for _, hour in starts(Rate(regions=3), 7, 4, make)} for make in RULES.values()]

    assert max(map(len, hours)) == 4
    assert all(one <= max(hours, key=len) for one in hours)


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
