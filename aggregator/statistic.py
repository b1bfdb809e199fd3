"""A median with its interval, as pages, API and terminal tell it. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aggregator.days import Day
from aggregator.pooled import POOLED_PERCENT, Median
from aggregator.rows import SeriesRow
from aggregator.stats import interval, level_percent
from pacewatch.words.figures import percentile
from pacewatch.words.flag import Figure

STEMS = {
    Figure.SPEED: "speed",
    Figure.TTFT: "ttft",
    Figure.ANSWER: "answer",
    Figure.END_TO_END: "end_to_end",
    Figure.STALL: "stall",
}
"""What the columns of a figure's count and interval begin with."""

_MEDIAN = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """One figure over the window."""

    median: float | None = None
    """None: too few runs have the figure."""
    low: float | None = None
    high: float | None = None
    """Bounds of the median's interval; None where none can be given."""
    runs: int = 0
    """Runs that have the figure."""
    is_pooled: bool = False
    """True: over several regions, each weighing the same."""
    quantiles: tuple[float | None, ...] | None = None
    """p5, p25, p50, p75, p95; p50 over runs, the others over requests. None: too few, or untold."""

    @property
    def interval_percent(self) -> int | None:
        """Return how often such an interval holds the median; a pooled one is about as sure as the
        exact one of many runs. None where there is no interval.
        """
        if self.low is None or self.high is None:
            return None
        return POOLED_PERCENT if self.is_pooled else level_percent(self.runs)


def statistic_of(row: SeriesRow | Day, figure: Figure, enough: int) -> Statistic:
    """Return a figure's statistic of a row of the store; of too few runs only their number."""
    stored: Sequence[float | None] | None = getattr(row, figure)
    stem = STEMS[figure]
    runs: int = getattr(row, f"{stem}_runs")
    if stored is None or runs < enough:
        return Statistic(runs=runs)
    return Statistic(
        median=stored[_MEDIAN],
        low=getattr(row, f"{stem}_low"),
        high=getattr(row, f"{stem}_high"),
        runs=runs,
        quantiles=tuple(stored),
    )


def over_runs(
    median: float | None, low: float | None, high: float | None, *, runs: int, enough: int
) -> Statistic:
    """Return the statistic of a median over runs; of too few runs only their number."""
    if runs < enough:
        return Statistic(runs=runs)
    return Statistic(median=median, low=low, high=high, runs=runs)


def of_values(values: Iterable[float], enough: int) -> Statistic:
    """Return the statistic of a value of each run; of too few runs only their number."""
    ordered = sorted(values)
    low, high = interval(ordered) or (None, None)
    median = percentile(ordered, 0.5)
    return over_runs(median, low, high, runs=len(ordered), enough=enough)


def over_regions(median: Median | None, enough: int) -> Statistic:
    """Return the statistic of a median over several regions; of too few runs only their number."""
    if median is None:
        return Statistic()
    if median.runs < enough:
        return Statistic(runs=median.runs)
    return Statistic(
        median=median.value, low=median.low, high=median.high, runs=median.runs, is_pooled=True
    )
