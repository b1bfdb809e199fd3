"""Thresholds from a fleet's own quiet weeks and its budget of false pages. Pure.

A replay of quiet weeks whose charts never alarm leaves the highest share of a threshold that the
charts of each endpoint reached each day. High peaks of a CUSUM thin out exponentially, so the
share that only as many exceed as the budget allows follows from those of the weeks, even where
the weeks are too few to have shown it.
"""

from collections.abc import Sequence
from math import log

TAIL = 30
"""Peaks that the tail is fitted to, at most."""

LOWEST, HIGHEST = 1.0, 4.0
"""What calibration may make of the thresholds: it raises them. Few quiet weeks say too little of
the highest peaks to lower them.
"""


def multiplier_of(peaks: Sequence[float], *, allowed: float) -> float:
    """Return what to multiply the thresholds by so that about `allowed` of such peaks exceed them
    in as long a time.
    """
    highest = sorted(peaks, reverse=True)[: TAIL + 1]
    if len(highest) < 2:
        return 1.0
    *tail, start = highest
    scale = sum(peak - start for peak in tail) / len(tail)
    found = start + scale * log(len(tail) / allowed)
    return min(max(found, LOWEST), HIGHEST)


def allowed_in(weeks: float, pages_a_month: float) -> float:
    """Return how many false pages the budget allows in that time."""
    return pages_a_month * weeks * 12 * 7 / 365.25
