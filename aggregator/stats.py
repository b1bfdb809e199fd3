"""The exact, distribution-free interval of a median. Pure; whole numbers, so nothing is rounded.

Between the l-th smallest and the l-th largest of n independent samples lies the true median with
probability 1 - 2 P(B < l), B binomial of n and one half, whatever the samples' distribution.
"""

from collections.abc import Sequence
from functools import cache
from math import comb

FEWEST = 5
"""Below this many samples there is no interval: five reach 94 %, four would reach 88 %."""

EXACT_UP_TO = 1_000
"""Samples up to which the rank is exact; beyond, the same share of the samples is left outside,
which makes the interval a little wider than it need be.
"""


def one_in(samples: int) -> int:
    """Return how rarely the median may lie below the interval: one time in so many.

    It may lie above it as rarely: 90 % at five samples, 95 % from six on.
    """
    return 20 if samples == FEWEST else 40


def level_percent(samples: int) -> int:
    """Return how often the interval of that many samples holds the median, percent."""
    return 100 - 200 // one_in(samples)


@cache
def low_ranks() -> tuple[int, ...]:
    """Return, for 1 to EXACT_UP_TO samples, the rank l of the interval's low end, counted from 1.

    The high end is the l-th from above; 0 says that the samples are too few for an interval.
    """
    ranks = []
    rank, tail = 0, 0  # of the 2^n ways that n samples fall, those with fewer than `rank` below
    for samples in range(1, EXACT_UP_TO + 1):
        if rank:
            tail = 2 * tail - comb(samples - 1, rank - 1)
        if samples >= FEWEST:
            while (tail + comb(samples, rank)) * one_in(samples) <= 2**samples:
                tail += comb(samples, rank)
                rank += 1
        ranks.append(rank)
    return tuple(ranks)


@cache
def ranks_text() -> str:
    """Return the ranks as Postgres reads an array: a list would be written anew for each batch."""
    return f"{{{','.join(map(str, low_ranks()))}}}"


def low_rank(samples: int) -> int:
    """Return the rank of the interval's low end for any number of samples; 0 for too few."""
    if samples <= EXACT_UP_TO:
        return low_ranks()[samples - 1] if samples else 0
    return samples * low_ranks()[-1] // EXACT_UP_TO


def interval(ordered: Sequence[float]) -> tuple[float, float] | None:
    """Return the ends of the interval of sorted values' median; None of too few."""
    rank = low_rank(len(ordered))
    return (ordered[rank - 1], ordered[-rank]) if rank else None
