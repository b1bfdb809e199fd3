from dataclasses import replace

import pytest
from support.fleets import make_endpoint
from support.judged import REGIONS, feed, learnt, make_watch

from aggregator.detect.others import look_around, others_of
from aggregator.detect.rules import make_rules
from aggregator.detect.scope import classify
from aggregator.detect.standing import Met
from aggregator.detect.watch import Watch
from pacewatch.words.judging import Limits
from pacewatch.words.verdict import Blame, Trouble

MINE = make_endpoint("acme", "m1")
FLEET = [MINE, make_endpoint("acme", "m2"), *(make_endpoint(p) for p in ("b", "c", "d", "e"))]
SINCE = 100.0


def points(**zs):
    """One run of each region after the trouble began, slower by z, and one of before."""
    return {r: [(50.0, 0.0, 0.0, False), (150.0, z, z, False)] for r, z in zs.items()}


def looked(mine, others, region="", doubted=frozenset()):
    """What is around a trouble of the endpoint, each other provider's as given."""
    watch = Watch(make_rules(("x", "y"), runs_a_day=20), recent=mine)
    met = Met(trouble=Trouble.FIRST_TOKEN, region=region, since=SINCE)
    recent = {f"{provider}/m1": zs for provider, zs in others.items()}
    return look_around(watch, met, others_of(FLEET, recent, MINE, met, SINCE), doubted)


def test_endpoints_of_the_same_provider_and_unknown_ones_are_no_others():
    _, suspect = looked(points(x=0.8, y=0.7), {})
    around, _ = looked(points(x=0.8, y=0.7), {"acme": points(x=2.0), "b": points(x=0.1, y=0.2)})

    assert suspect == "x"
    assert around.others_z == pytest.approx([-0.1])
    assert (around.providers, around.providers_slow) == (1, 0)
    assert around.other_regions_z == [0.7]


def test_most_providers_slow_from_everywhere_are_ours():
    around, _ = looked(points(x=0.8, y=0.7), {p: points(x=0.9, y=0.8) for p in "bcd"})

    assert (around.providers, around.providers_slow) == (3, 3)
    assert classify(around).blame is Blame.OURS


def test_providers_slow_from_the_region_alone_make_it_the_prober():
    around, suspect = looked(points(x=0.8, y=0.0), {p: points(x=0.8, y=0.0) for p in "bcd"}, "x")

    assert (suspect, classify(around).blame) == ("x", Blame.PROBER)
    assert around.providers_slow == 0


def test_a_trouble_that_other_regions_share_is_the_providers_whatever_few_others_say():
    around, _ = looked(points(x=0.9, y=0.7), {"b": points(x=0.9, y=0.0)})

    assert classify(around).blame is Blame.PROVIDER


@pytest.mark.parametrize(
    ("mine", "doubted", "expected"),
    [
        (points(x=0.9, y=0.7), {"x"}, Blame.PROVIDER),
        (points(x=0.9, y=0.0), {"x"}, Blame.PROBER),
        (points(x=0.9, y=0.7), {"x", "y"}, Blame.PROBER),
        (points(x=0.9, y=0.0), {"y"}, Blame.REGION_PATH),
        (points(x=0.9, y=0.7), {"y"}, Blame.PROVIDER),
    ],
)
def test_a_doubted_region_testifies_only_to_what_is_well(mine, doubted, expected):
    around, suspect = looked(mine, {}, doubted=doubted)
    found = classify(replace(around, prober_suspect=suspect in doubted))

    assert found.blame is expected
    alone = "or the path to it: one region cannot tell"
    assert (alone in found.speaks_against) is (expected is Blame.PROVIDER and "y" in doubted)


def test_providers_that_are_slow_from_a_doubted_region_alone_do_not_make_it_ours():
    around, _ = looked(points(x=0.9), {p: points(x=0.9) for p in "bcd"}, doubted={"x"})

    assert (around.providers, around.providers_slow) == (3, 0)


LIMITS = Limits(slow_ttft_s=0.45)
"""Ten per cent below what is usual in the watches of these tests."""


def slower_than_a_limit(watch, doubted=frozenset()):
    """Whose fault it looks like that the first token is slower than a limit."""
    found = Met(trouble=Trouble.FIRST_TOKEN, region="", since=0.0)
    around, suspect = look_around(watch, found, (), doubted)
    return classify(replace(around, prober_suspect=suspect in doubted))


@pytest.mark.parametrize("watch", [learnt(limits=LIMITS), make_watch(limits=LIMITS)], ids=str)
def test_as_slow_as_usual_and_slower_than_a_limit_from_everywhere_is_the_provider(watch):
    feed(watch, 72, 9)
    found = slower_than_a_limit(watch)

    assert found.blame is Blame.PROVIDER
    assert found.speaks_for == ("other regions see it too (slower than the limit)",)
    assert slower_than_a_limit(watch, set(REGIONS)).blame is Blame.PROBER


def test_slower_than_a_limit_from_one_region_alone_is_its_path():
    watch = learnt(limits=Limits(slow_ttft_s=0.55))
    for hour in range(72, 99, 3):
        feed(watch, hour, 3)
        feed(watch, hour + 0.1, 1, ttft_s=0.6)

    assert slower_than_a_limit(watch).blame is Blame.REGION_PATH


def test_where_nothing_was_heard_since_nothing_is_said():
    around, suspect = looked({}, {"b": {"x": [(50.0, 0.9, 0.9, False)]}})

    assert (suspect, around.suspect_z, around.others_z) == ("", (), [])
    assert classify(around).blame is Blame.UNKNOWN
