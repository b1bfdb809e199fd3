from aggregator.pooled import Median
from aggregator.statistic import Statistic, of_values, over_regions


def test_few_values_have_no_median_and_many_the_interval_of_their_ranks():
    assert of_values([1.0] * 5, 6) == Statistic(runs=5)
    assert of_values([], 6) == Statistic()
    told = of_values([3.0, 1.0, 2.0, 6.0, 5.0, 4.0], 6)
    assert told == Statistic(median=3.5, low=1.0, high=6.0, runs=6)
    assert told.interval_percent == 95


def test_a_median_over_regions_is_about_as_sure_whatever_its_runs():
    five = Median(value=2.0, low=1.0, high=3.0, runs=5)

    assert over_regions(five, 5).interval_percent == 95
    assert over_regions(five, 6) == Statistic(runs=5)
    assert over_regions(None, 6) == Statistic()
    assert over_regions(Median(value=2.0, low=None, high=None, runs=6), 6).interval_percent is None
