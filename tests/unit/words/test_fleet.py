from dataclasses import replace
from datetime import timedelta

import pytest
from support.fleets import make_endpoint, make_fleet

from pacewatch.words.endpoint import Importance
from pacewatch.words.fleet import DEMO_SCHEDULE, Region, Schedule, Spending
from pacewatch.words.retention import Retention
from pacewatch.words.slot import Load
from pacewatch.words.spending import Caps


def test_a_worker_is_heard_of_for_three_heartbeats():
    assert Schedule(heartbeat_s=30).fresh_s == 90


@pytest.mark.parametrize(
    ("window_s", "upkeep_s"),
    [(72 * 3600, 60), (DEMO_SCHEDULE.window_s, 5), (288 * 20, 20)],
)
def test_the_store_is_kept_up_each_minute_or_sooner_for_a_short_window(window_s, upkeep_s):
    assert upkeep_s == Schedule(window_s=window_s).upkeep_s


@pytest.mark.parametrize(("load", "per_day"), [(Load.SINGLE, 8), (Load.PARALLEL, 2)])
def test_a_series_is_asked_eight_times_a_day_alone_and_twice_under_load(load, per_day):
    assert per_day == Schedule().per_day(load)


@pytest.mark.parametrize(("load", "requests"), [(Load.SINGLE, 1), (Load.PARALLEL, 10)])
def test_a_parallel_run_is_ten_requests(load, requests):
    assert requests == Schedule().requests(load)


def test_days_of_retention_are_spans_of_time():
    kept = Retention(timelines_days=3, timings_days=40)
    assert (timedelta(days=3), timedelta(days=40)) == (kept.timelines, kept.timings)


def test_a_fleet_has_no_cap_on_requests_unless_one_is_set():
    spending = Spending(usd_per_day=7, requests_per_day=100)
    assert spending.caps == Caps(usd_per_day=7, requests_per_day=100, tokens_per_day=None)


def test_endpoints_that_page_have_sentinels_and_others_none():
    paged = make_endpoint(importance=Importance.PAGE)
    fleet = make_fleet(paged, make_endpoint("other"))

    assert [fleet.sentinel_s(endpoint) for endpoint in fleet.endpoints] == [300, 0]
    assert make_fleet(paged, sentinel_s=0).sentinel_s(paged) == 0


def test_the_regions_that_rest_are_known_by_name():
    regions = {name: Region(name=name, paused=name == "b") for name in ("a", "b")}

    assert replace(make_fleet(), regions=regions).paused == {"b"}
