"""Medians over several regions, each region having one vote however many samples it sent. Pure.

A sample weighs 1 / (samples of its region). In the plain pool the regions that probe most decide,
and a median moves when they stop though nothing got slower.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from pacewatch.words.slot import Load

FEWEST_RUNS = {Load.SINGLE: 6, Load.PARALLEL: 5}
"""From so many runs on a median is shown."""

POOLED_PERCENT = 95
"""How often the interval of a pooled median holds it, about."""

_Z_95 = 1.959964
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Median:
    """A median over runs, with an interval where one can be given."""

    value: float
    low: float | None
    high: float | None
    runs: int


def fewest_runs(load: Load) -> int:
    """Return from how many runs on a median of that load is shown."""
    return FEWEST_RUNS[load]


def pooled_median(samples: Mapping[str, Sequence[float]]) -> Median | None:
    """Return the median of the regions' samples with each region weighing the same; None for none.

    The interval holds the median in about 95 % of cases: the weighted quantiles at
    0.5 -+ 1.96 sd, with the greatest sd that the weighted share below a point can have,
    sqrt(sum of 0.25 / n of each region) / regions.
    """
    regions = [values for values in samples.values() if values]
    if not regions:
        return None
    weighted = sorted((value, 1 / len(values)) for values in regions for value in values)
    half_width = _Z_95 * sqrt(sum(0.25 / len(values) for values in regions)) / len(regions)
    value = weighted_quantile(weighted, 0.5)
    if half_width >= 0.5:
        return Median(value=value, low=None, high=None, runs=len(weighted))
    return Median(
        value=value,
        low=weighted_quantile(weighted, 0.5 - half_width),
        high=weighted_quantile(weighted, 0.5 + half_width),
        runs=len(weighted),
    )


def weighted_quantile(weighted: Sequence[tuple[float, float]], q: float) -> float:
    """Return the quantile q in 0..1 of (value, weight) pairs in order of value, at least one.

    It is the first value up to which the weights reach the share q; where they reach it exactly,
    the mean of that value and the next, so that with equal weights the median is the usual one.
    """
    goal = q * sum(weight for _, weight in weighted)
    reached = 0.0
    for place, (value, weight) in enumerate(weighted):
        reached += weight
        if reached >= goal * (1 - _ROUNDING):
            is_exact = reached <= goal * (1 + _ROUNDING)
            after = weighted[min(place + 1, len(weighted) - 1)][0]
            return (value + after) / 2 if is_exact else value
    return weighted[-1][0]
