"""The numbers that the rule stands on. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, sqrt

from aggregator.detect.chart import Chart
from pacewatch.words.judging import NO_LIMITS, Limits

SUSPECTED, SUSPECTED_SHARE, CLEARED = 2.5, 1 / 3, 0.5
"""A slow chart is a suspicion with S above this and above this share of its threshold; below so
much of that level the suspicion is gone.
"""

MOST_ORDERED = 6
"""Confirming probes of one suspicion; as many of a day's are kept for failures."""

BUDGET_SHARE, BUDGET_A_DAY = 0.05, 12
"""Confirming probes a day and provider: the greater of this share of its requests and this many."""

POOLED: Mapping[Chart, tuple[float, float]] = {
    Chart.TTFT: (0.0, 6.4),
    Chart.TTFT_BIG: (2.7, 0.45),
    Chart.SPEED: (0.4, 3.6),
    Chart.SPEED_BIG: (2.6, 0.6),
    Chart.FAILURES: (9.2, 0.9),
    Chart.QUOTA: (5.0, 0.0),
    Chart.TTFT_LIMIT: (0.0, 6.4),
    Chart.SPEED_LIMIT: (0.4, 3.6),
}
"""Thresholds as a + b root, `root_of` the runs a day; a fleet calibrates them anew."""

ALONE, ALIKE = 100, 150
"""Up to so many runs a day the thresholds rise with their root; from that many more on they rise
with the runs themselves, for runs so close meet the same load.
"""

_FAILURES = (Chart.FAILURES, Chart.QUOTA)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How one endpoint is judged."""

    regions: tuple[str, ...]
    pooled: tuple[float, ...]
    """Thresholds by chart of the charts over all regions."""
    regional: tuple[float, ...]
    """Those of the charts of one region."""
    limits: Limits = NO_LIMITS
    day_s: float = 86_400
    """Length of a day; the demo's is shorter, and the hours of the rule with it."""
    window_s: float = 72 * 3600
    late_s: float = 3 * 3600
    """A run that comes in later than this does not vote."""
    muted: bool = False
    """True: no chart ever alarms, so that calibration sees how high they would go."""
    spacing_s: float = 2_880
    """Mean time between two scheduled or sentinel runs of the endpoint."""

    def scaled(self, seconds: float) -> float:
        """Return how long so much of a whole day is on a day of the schedule, seconds."""
        return seconds * self.day_s / 86_400


def make_rules(  # noqa: PLR0913 - what an endpoint is judged by
    regions: tuple[str, ...],
    *,
    runs_a_day: float,
    multiplier: float = 1.0,
    limits: Limits = NO_LIMITS,
    day_s: float = 86_400,
    window_s: float = 72 * 3600,
    late_s: float = 3 * 3600,
) -> Rules:
    """Return the rules of an endpoint with so many scheduled and sentinel runs a day in all.

    The multiplier is the fleet's, from calibration; the lengths are those of its schedule.
    """
    here = runs_a_day / len(regions)
    return Rules(
        regions=regions,
        pooled=thresholds(runs_a_day, multiplier),
        regional=thresholds(here, multiplier * regional_times(len(regions))),
        limits=limits,
        day_s=day_s,
        window_s=window_s,
        late_s=late_s,
        spacing_s=day_s / runs_a_day,
    )


def regional_times(regions: int) -> float:
    """Return how much higher the thresholds of one region are: the more there are, the more often
    one of them is high by chance.
    """
    return 1.0 if regions == 1 else 1.2 + 0.22 * log(regions)


def root_of(runs_a_day: float) -> float:
    """Return what the thresholds rise with."""
    return sqrt(runs_a_day / 10 * (1 + max(0.0, runs_a_day - ALONE) / ALIKE))


def thresholds(runs_a_day: float, multiplier: float) -> tuple[float, ...]:
    """Return the thresholds by chart for so many runs a day; those of failures and of the quota
    have no multiplier."""
    root = root_of(runs_a_day)
    return tuple(
        (base + slope * root) * (1.0 if chart in _FAILURES else multiplier)
        for chart, (base, slope) in sorted(POOLED.items())
    )


def suspected_at(threshold: float) -> float:
    """Return the S of a slow chart above which it is a suspicion."""
    return max(SUSPECTED, threshold * SUSPECTED_SHARE)


def daily_budget(scheduled_requests: float) -> float:
    """Return how many confirming probes a provider may be asked for a day."""
    return max(BUDGET_SHARE * scheduled_requests, BUDGET_A_DAY)
