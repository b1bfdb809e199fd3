from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.stats import EXACT_UP_TO, low_ranks


def missed(samples: int, rank: int) -> Fraction:
    """The probability that the interval from that rank to its mirror misses the median."""
    return Fraction(2 * sum(comb(samples, i) for i in range(rank)), 2**samples)


@pytest.mark.parametrize(
    ("samples", "rank"),
    # from published tables of the sign test's interval
    [(1, 0), (4, 0), (5, 1), (6, 1), (8, 1), (9, 2), (10, 2), (12, 3), (20, 6), (24, 7), (100, 40)],
)
def test_the_rank_of_the_low_end_is_the_tables(samples, rank):
    assert low_ranks()[samples - 1] == rank


@given(st.integers(6, EXACT_UP_TO))
def test_the_interval_covers_95_percent_and_one_rank_narrower_would_not(samples):
    rank = low_ranks()[samples - 1]

    assert missed(samples, rank) <= Fraction(5, 100)
    assert missed(samples, rank + 1) > Fraction(5, 100)


def test_five_samples_cover_90_percent():
    assert missed(5, low_ranks()[4]) <= Fraction(10, 100)


@given(st.integers(1, EXACT_UP_TO))
def test_the_low_end_is_below_the_high_end(samples):
    rank = low_ranks()[samples - 1]

    assert rank == 0 or rank < samples + 1 - rank
