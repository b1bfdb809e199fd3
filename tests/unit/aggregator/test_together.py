from dataclasses import replace

import pytest

from aggregator.pooled import Median
from aggregator.rows import TogetherRow
from aggregator.statistic import Statistic
from aggregator.together import Times, in_region, in_regions
from pacewatch.words.flag import Figure

TOLD = TogetherRow(
    series_id=1,
    system_tokens_per_s=2_100.0,
    system_runs=12,
    system_low=2_000.0,
    system_high=2_200.0,
    alone_id=2,
    alone_tokens_per_s=480.0,
    alone_speed_runs=24,
    alone_speed_low=450.0,
    alone_speed_high=500.0,
    alone_ttft_s=0.3,
    alone_ttft_runs=24,
    alone_ttft_low=0.25,
    alone_ttft_high=0.4,
)
AMONG = {
    Figure.SPEED: Statistic(median=240.0, low=200.0, high=250.0, runs=12),
    Figure.TTFT: Statistic(median=0.6, low=0.5, high=0.8, runs=12),
}


def test_a_slowdown_lies_between_the_ends_of_both_intervals():
    slower = in_region(TOLD, AMONG).slower

    told = {"interval_percent": 90, "runs": 12, "runs_alone": 24}
    assert slower[Figure.SPEED] == Times(times=2.0, low=450 / 250, high=500 / 200, **told)
    assert slower[Figure.TTFT] == Times(times=2.0, low=0.5 / 0.4, high=0.8 / 0.25, **told)


def test_a_slowdown_of_five_parallel_runs_is_less_sure():
    few = {figure: replace(found, runs=5) for figure, found in AMONG.items()}

    assert in_region(TOLD, few).slower[Figure.TTFT].interval_percent == 85


@pytest.mark.parametrize(
    ("told", "among", "runs"),
    [
        (replace(TOLD, alone_speed_runs=5), AMONG, (12, 5)),
        (TOLD, AMONG | {Figure.SPEED: Statistic(runs=4)}, (4, 24)),
        (None, AMONG, (12, 0)),
    ],
)
def test_of_too_few_runs_of_either_load_only_their_number_is_told(told, among, runs):
    slower = in_region(told, among).slower[Figure.SPEED]

    assert slower == Times(runs=runs[0], runs_alone=runs[1])


def test_a_median_without_an_interval_gives_a_slowdown_without_one():
    wide = replace(TOLD, alone_speed_low=None, alone_speed_high=None)
    slower = in_region(wide, AMONG).slower[Figure.SPEED]

    assert (slower.times, slower.low, slower.high, slower.interval_percent) == (
        2.0,
        None,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("runs", "throughput"),
    [
        (12, Statistic(median=2_100.0, low=2_000.0, high=2_200.0, runs=12)),
        (4, Statistic(runs=4)),
    ],
)
def test_throughput_is_a_median_over_runs_with_its_interval(runs, throughput):
    assert in_region(replace(TOLD, system_runs=runs), AMONG).throughput == throughput


def test_over_regions_all_medians_are_pooled_and_the_slowdown_is_of_those_that_have_both_loads():
    pooled = {"system_tokens_per_s": Median(value=900.0, low=800.0, high=1_000.0, runs=18)}
    among = {Figure.SPEED: Median(value=100.0, low=80.0, high=125.0, runs=12)}
    alone = {Figure.SPEED: Median(value=200.0, low=100.0, high=240.0, runs=48)}

    found = in_regions(pooled, among, alone)

    assert found.throughput.interval_percent == 95
    assert found.slower[Figure.SPEED] == Times(
        times=2.0, low=0.8, high=3.0, interval_percent=90, runs=12, runs_alone=48
    )
    assert found.slower[Figure.TTFT] == Times()
