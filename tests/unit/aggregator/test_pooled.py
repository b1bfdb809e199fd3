from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.pooled import pooled_median, weighted_quantile

SAMPLES = st.lists(st.floats(0.01, 5000), min_size=1, max_size=40)


def test_a_worked_example():
    # in order: 50 weighs 1/2, then 100 and 101 1/4 each: there half of the whole 2 is reached
    near, far = [100.0, 101.0, 102.0, 103.0], [110.0, 50.0]

    pooled = pooled_median({"near": near, "far": far})

    assert pooled is not None
    assert pooled.value == 101.5
    assert pooled.runs == 6


@given(SAMPLES)
def test_of_one_region_it_is_the_usual_median(values):
    pooled = pooled_median({"only": values})

    assert pooled is not None
    assert median(values) == pytest.approx(pooled.value)


@given(SAMPLES, st.integers(2, 5))
def test_a_region_that_probes_more_has_no_greater_say(values, times):
    other = [value * 1.5 for value in values]

    once = pooled_median({"a": values, "b": other})
    often = pooled_median({"a": values * times, "b": other})

    assert once is not None
    assert often is not None
    assert once.value == pytest.approx(often.value)


def test_the_plain_pool_moves_when_near_regions_fall_away_and_this_one_does_not():
    near, far = [100.0 + i for i in range(30)], [200.0 + i for i in range(30)]
    before = pooled_median({"a": near, "b": near, "c": far})
    after = pooled_median({"a": near[::3], "b": near[::3], "c": far})

    assert before is not None
    assert after is not None
    assert before.value == pytest.approx(after.value, rel=0.02)
    assert median(near + near + far) != pytest.approx(median(near[::3] + near[::3] + far), rel=0.02)


@given(st.dictionaries(st.sampled_from("abcd"), SAMPLES, min_size=1))
def test_the_interval_holds_the_median_and_lies_within_the_samples(samples):
    pooled = pooled_median(samples)

    assert pooled is not None
    everything = [value for values in samples.values() for value in values]
    if pooled.low is not None and pooled.high is not None:
        assert min(everything) <= pooled.low <= pooled.value <= pooled.high <= max(everything)


def test_too_few_samples_have_no_interval():
    pooled = pooled_median({"a": [1.0, 2.0], "b": [1.5]})

    assert pooled is not None
    assert (pooled.low, pooled.high) == (None, None)


def test_no_sample_has_no_median():
    assert pooled_median({"a": [], "b": []}) is None


def test_where_the_weights_reach_the_share_exactly_the_mean_of_two_is_taken():
    weighted = [(1.0, 0.5), (2.0, 0.5), (4.0, 1.0)]

    assert weighted_quantile(weighted, 0.5) == 3.0
    assert weighted_quantile(weighted, 0.51) == 4.0
    assert weighted_quantile(weighted, 1.0) == 4.0
