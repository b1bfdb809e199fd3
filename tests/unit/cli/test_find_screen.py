import json
from dataclasses import replace

import pytest
from support.fleets import PRICE, make_endpoint, make_fleet

from aggregator.backtest.study import TROUBLES as GENERATED
from aggregator.backtest.times import FILE, TROUBLES, Pace, expected, source
from aggregator.plan import make_plan
from pacewatch.cli.find_screen import find_json, find_notes, find_table
from pacewatch.cli.render import to_string
from pacewatch.words.endpoint import Importance
from pacewatch.words.fleet import DEMO_SCHEDULE, Fleet

PAGED = make_endpoint("a", price=PRICE, importance=Importance.PAGE)
FLEET = make_fleet(PAGED, make_endpoint("b", price=PRICE), regions=4)


def told(fleet: Fleet) -> list[dict]:
    return find_json(fleet, make_plan(fleet))["groups"]


def test_the_table_carries_its_day_and_its_seeds():
    made = json.loads(FILE.read_text("utf-8"))

    assert made["measured_on"] in source()
    assert str(made["seeds"][0]) in source()
    assert made["seeds"][0] >= 1_000, "the thresholds were fitted on the seeds below"
    assert set(TROUBLES) <= set(GENERATED)
    assert all(set(row["found"]) == set(TROUBLES) for row in made["rows"])


@pytest.mark.parametrize(
    ("pace", "nearest"),
    [
        ((4, 8, 2, 300), (3, 8, 2, 300)),
        ((3, 8, 2, 600), (3, 8, 2, 900)),
        ((3, 12, 2, 0), (3, 8, 2, 0)),
        ((3, 7, 1, 0), (3, 4, 1, 0)),
        ((2, 8, 1, 0), (2, 8, 0, 0)),
        ((1, 5, 1, 300), (1, 4, 0, 300)),
        ((1, 8, 2, 7_200), (1, 8, 2, 0)),
        ((3, 1, 0, 0), None),
    ],
)
def test_a_pace_stands_on_the_nearest_one_measured_that_is_no_faster(pace, nearest):
    found = expected(Pace(**dict(zip(Pace.__slots__, pace, strict=True))))

    if nearest is None:
        assert found is None
    else:
        assert found.pace == Pace(**dict(zip(Pace.__slots__, nearest, strict=True)))


def test_endpoints_with_sentinels_stand_apart_with_what_those_cost():
    often, seldom = told(FLEET)

    assert (often["endpoints"], often["sentinel_s"]) == (["a/m1"], 300)
    assert often["sentinel_usd_per_month"] == pytest.approx(30 * 288 * 84e-6)
    assert (seldom["endpoints"], seldom["sentinel_s"]) == (["b/m1"], None)
    outage = [group["found"]["outage, refusing"]["median_s"] for group in (often, seldom)]
    assert 60 < outage[0] < 600 < outage[1] < 3_600


def test_what_cannot_be_counted_on_is_said():
    notes = find_notes(FLEET, make_plan(FLEET))

    assert "a speed at 0.7 of the usual" in notes[1]
    assert notes[2].startswith("Half the speed in one region alone")
    alone = make_fleet(PAGED, regions=1)
    assert len(find_notes(alone, make_plan(alone))) == 2


def test_in_the_demo_the_hours_are_as_short_as_its_day():
    free = make_fleet(replace(PAGED, price=None), regions=4)
    demo = replace(free, schedule=DEMO_SCHEDULE, simulated=True)
    plain = replace(free, schedule=replace(free.schedule, sentinel_s=1_800))

    scaled, usual = (told(fleet)[0]["found"]["speed halved"]["median_s"] for fleet in (demo, plain))
    assert scaled == pytest.approx(usual / 180)
    assert " s " in to_string(find_table(demo, make_plan(demo)), width=120)


def test_what_was_not_measured_is_not_told():
    fleet = make_fleet(PAGED, single_per_day=1, parallel_per_day=0, sentinel_s=0)

    assert told(fleet)[0]["found"] is None
    assert find_notes(fleet, make_plan(fleet)) == [
        "So few runs a day were not measured: how soon trouble is found is not known"
    ]
