import pytest

from aggregator.detect.regions import compare_regions
from aggregator.detect.rules import make_rules
from aggregator.detect.standing import Met
from aggregator.detect.watch import Watch
from pacewatch.words.verdict import Trouble

REGIONS = ("a", "b", "c")


def watch_with(**recent: list[tuple[float, float | None, float | None, bool]]) -> Watch:
    return Watch(make_rules(REGIONS, runs_a_day=30), recent=recent)


def test_runs_of_before_the_trouble_say_nothing_of_it():
    watch = watch_with(
        a=[(10.0, 0.0, 0.0, False), (110.0, 0.8, 0.0, False)],
        b=[(20.0, 0.0, 0.0, False)],
        c=[(120.0, 0.6, 0.0, False)],
    )
    found = compare_regions(watch, Met(trouble=Trouble.FIRST_TOKEN, region="", since=100.0))

    assert (found.suspect, found.others) == ("a", ("c",))


@pytest.mark.parametrize(
    ("trouble", "z"),
    [(Trouble.FIRST_TOKEN, 0.5), (Trouble.OUTPUT_SPEED, 0.3), (Trouble.FAILURES, 0.0)],
)
def test_a_region_has_the_z_of_the_figure_in_trouble(trouble, z):
    found = compare_regions(
        watch_with(b=[(1.0, 0.5, 0.3, False)]), Met(trouble=trouble, region="a", since=0.0)
    )

    assert found.zs == {"b": z}


def test_a_failed_run_counts_as_slow():
    found = compare_regions(
        watch_with(b=[(1.0, None, None, True)]),
        Met(trouble=Trouble.FAILURES, region="a", since=0.0),
    )

    assert found.zs == {"b": 2.0}
