"""The median over regions, each having one vote, reckoned the plain way."""

from collections.abc import Mapping, Sequence
from math import sqrt

from aggregator.pooled import Median

_Z_95 = 1.959964
_ROUNDING = 1e-9


def pooled_median(samples: Mapping[str, Sequence[float]]) -> Median | None:
    """The median of the regions' samples, and its interval; None for no sample."""
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
    """The quantile q in 0..1 of (value, weight) pairs in order of value, at least one."""
    whole = sum(weight for _, weight in weighted)
    reached = 0.0
    for place, (value, weight) in enumerate(weighted):
        reached += weight / whole
        if reached >= q - _ROUNDING:
            after = weighted[min(place + 1, len(weighted) - 1)][0]
            return (value + after) / 2 if reached <= q + _ROUNDING else value
    return weighted[-1][0]
