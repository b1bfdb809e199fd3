from datetime import timedelta

import pytest
from support.centre import make_fleet
from support.fleets import make_endpoint
from support.shown import NOW

from aggregator.doctor import KEPT_UP_WITHIN, Condition, TableSize, expected_bytes, problems_of
from aggregator.plan import make_plan
from pacewatch.words.fleet import Region, Schedule, Spending
from pacewatch.words.retention import Retention

FLEET = make_fleet(
    regions={name: Region(name=name) for name in ("a", "b")},
    endpoints=(make_endpoint("own", "m"),),
    schedule=Schedule(),
    spending=Spending(usd_per_day=1_000),
    simulated=False,
)


LONG_AGO = NOW - KEPT_UP_WITHIN - timedelta(seconds=1)


def fleet_that_keeps(**days):
    return make_fleet(
        regions=FLEET.regions,
        endpoints=FLEET.endpoints,
        schedule=FLEET.schedule,
        spending=FLEET.spending,
        retention=Retention(**days),
    )


def condition(**changes):
    values = {
        "bytes": 40_000_000,
        "upkeep_at": NOW - timedelta(seconds=30),
        "kept_up_at": NOW - timedelta(seconds=30),
        "series": 4,
        "aside": 0,
        "tables": (TableSize(name="run", rows=1, bytes=30_000_000, in_a_year_bytes=50_000_000),),
        "lacks": (),
    } | changes
    return Condition(**values)


def test_a_year_of_a_plan_is_its_rows_times_what_each_takes():
    found = expected_bytes(FLEET, make_plan(FLEET), 4, {"run": 100.0, "timing": 10.0})

    runs_a_day, requests_a_day = 2 * (8 + 2), 2 * (8 + 20)
    assert found["run"] == runs_a_day * 365 * 100
    assert found["timing"] == requests_a_day * 365 * 10
    assert found["slot"] == runs_a_day * 365 * 235
    assert found["day_stat"] == 4 * 365 * 410
    assert found["timeline"] == round(requests_a_day * 1_000 * 3.3 * 14)


def test_what_is_kept_for_less_than_a_year_is_as_large_as_that():
    fleet = fleet_that_keeps(timelines_days=2, timings_days=30, rollups_days=100)
    kept = expected_bytes(fleet, make_plan(fleet), 4, {})
    usual = expected_bytes(FLEET, make_plan(FLEET), 4, {})

    assert kept["run"] == pytest.approx(usual["run"] * 30 / 365, rel=1e-6)
    assert kept["timeline"] == pytest.approx(usual["timeline"] * 2 / 14, rel=1e-6)
    assert kept["day_stat"] == pytest.approx(usual["day_stat"] * 100 / 365, rel=1e-6)


@pytest.mark.parametrize(
    ("changes", "size_gb", "sentence"),
    [
        ({"lacks": ("run_20261203",)}, None, "partition run_20261203 is missing"),
        (
            {"upkeep_at": None, "kept_up_at": None},
            None,
            "upkeep: no central worker has kept the store up yet",
        ),
        (
            {"upkeep_at": LONG_AGO, "kept_up_at": LONG_AGO},
            None,
            "upkeep: no central worker has kept the store up for 10 min",
        ),
        (
            {"kept_up_at": LONG_AGO},
            None,
            "upkeep: not finished for 10 min; the central workers' logs say which part fails",
        ),
        ({"aside": 3}, None, "3 records put aside"),
        ({"bytes": 95_000_000}, 0.1, "the database takes 95% of store.size_gb"),
        (
            {"tables": (TableSize(name="run", rows=1, bytes=1, in_a_year_bytes=200_000_000),)},
            0.1,
            "in a year the database will take 240% of store.size_gb",
        ),
    ],
)
def test_each_problem_of_the_store_is_one_sentence(changes, size_gb, sentence):
    (problem,) = problems_of(condition(**changes), fleet_that_keeps(size_gb=size_gb), NOW)

    assert problem.startswith(sentence)


def test_what_is_no_table_of_ours_takes_in_a_year_what_it_takes_now():
    tables = tuple(
        TableSize(name=name, rows=1, bytes=5_000_000, in_a_year_bytes=70_000_000)
        for name in ("run", "timing")
    )

    found = condition(bytes=18_000_000, tables=tables)

    assert (found.catalogs_bytes, found.in_a_year_bytes) == (8_000_000, 148_000_000)
    assert condition(bytes=1, tables=tables).catalogs_bytes == 0


def test_a_store_that_is_well_has_no_problem():
    assert problems_of(condition(), fleet_that_keeps(size_gb=0.1), NOW) == ()
