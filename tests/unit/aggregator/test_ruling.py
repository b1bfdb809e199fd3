from dataclasses import replace

import pytest
from support.fleets import make_endpoint, make_fleet

from aggregator.detect.rules import make_rules
from aggregator.fleet_file import Orders, orders_of
from aggregator.ruling import requests_a_day, rules_of, spacings_of
from pacewatch.words.endpoint import Importance
from pacewatch.words.fleet import DEMO_SCHEDULE
from pacewatch.words.judging import Limits

PAGED = make_endpoint("acme", "m1", importance=Importance.PAGE)
FLEET = make_fleet(PAGED, make_endpoint("acme", "m2"), regions=3)


def orders(**changes: object) -> Orders:
    return orders_of(replace(FLEET, **changes))


def test_rules_follow_from_the_runs_a_day_sentinels_included():
    usual = rules_of(orders(), "acme/m2")
    paged = rules_of(orders(), "acme/m1")

    assert usual == make_rules(("r0", "r1", "r2"), runs_a_day=30)
    assert paged == make_rules(("r0", "r1", "r2"), runs_a_day=30 + 288)


def test_rules_have_the_limits_of_the_endpoint_and_the_multiplier_of_the_fleet():
    limits = Limits(slow_ttft_s=2.0)
    found = rules_of(orders(limits={"acme/m2": limits}), "acme/m2", 1.5)

    assert found == make_rules(("r0", "r1", "r2"), runs_a_day=30, multiplier=1.5, limits=limits)
    assert rules_of(orders(limits={"acme/m2": limits}), "acme/m1").limits == Limits()


def test_the_demo_scales_sentinels_with_its_day():
    rules = rules_of(orders(schedule=DEMO_SCHEDULE, simulated=True), "acme/m1")

    assert (rules.day_s, rules.window_s, rules.late_s) == (480, 1_440, 300)
    assert rules.spacing_s == pytest.approx(480 / (30 + 48))


def test_a_region_is_silent_by_its_sentinels_too():
    assert spacings_of(orders(), "acme/m1") == {"standard": 10_800, "sentinel": 900}
    assert spacings_of(orders(), "acme/m2") == {"standard": 10_800}


def test_requests_of_a_provider_are_those_of_all_its_endpoints():
    assert requests_a_day(orders(), "acme") == 2 * 3 * 28 + 288
