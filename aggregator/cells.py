"""An endpoint's figures for one workload and load: in one region, or pooled over several. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from aggregator.days import Day
from aggregator.pooled import POOLED_PERCENT, Median, Pooled, fewest_runs
from aggregator.rows import SeriesRow, TogetherRow
from aggregator.stats import level_percent
from pacewatch.words.figures import Pace, Slowdown, percentile, slowdown
from pacewatch.words.flag import Figure
from pacewatch.words.slot import Load

FIGURES = (Figure.SPEED, Figure.TTFT, Figure.ANSWER, Figure.END_TO_END)
"""The figures that are shown, in their order."""

STEMS = {
    Figure.SPEED: "speed",
    Figure.TTFT: "ttft",
    Figure.ANSWER: "answer",
    Figure.END_TO_END: "end_to_end",
    Figure.STALL: "stall",
}
"""What the columns of a figure's count and interval begin with."""

_MEDIAN = 2


class State(StrEnum):
    """How much there is to show."""

    SHOWN = "shown"
    INSUFFICIENT = "insufficient"
    """There are runs, and no figure has enough of them for a median."""
    UNMEASURED = "unmeasured"


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
    quantiles: tuple[float | None, ...] | None = None
    """p5, p25, p50, p75, p95; p50 over runs, the others over requests. None: pooled, or too few."""

    @property
    def interval_percent(self) -> int | None:
        """Return how often such an interval holds the median; a pooled one is about as sure as the
        exact one of many runs. None where there is no interval.
        """
        if self.low is None or self.high is None:
            return None
        return POOLED_PERCENT if self.quantiles is None else level_percent(self.runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Latest:
    """The latest run of a series."""

    at: datetime
    region: str
    outcome: str
    ttft_s: float | None
    output_tokens_per_s: float | None
    end_to_end_s: float | None
    answer_only: bool
    """True: the reasoning was hidden, so the speed is of the answer alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The figures of an endpoint for one workload and load, in one region or over several."""

    state: State
    runs: int
    fewest_runs: int
    """So many runs a median needs."""
    requests: int
    good: int
    statistics: Mapping[Figure, Statistic]
    system_tokens_per_s: float | None
    """Of parallel runs: the median of all their tokens over the whole time; over several regions
    the median of theirs.
    """
    slowdown: Slowdown | None
    """Of parallel runs; over several regions the median of theirs."""
    newest_at: datetime | None
    latest: Latest | None
    last_success_at: datetime | None
    failing_in: tuple[str, ...]
    """Regions whose latest runs failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What a series' row does not tell of itself."""

    now: datetime
    window: timedelta
    failing: frozenset[int] = frozenset()
    """Ids of the series whose latest runs failed."""
    answer_only: frozenset[int] = frozenset()
    """Ids of the series whose latest run hid its reasoning."""
    together: Mapping[int, TogetherRow] = field(default_factory=dict)
    """Of the parallel series, by their ids."""


def region_cell(row: SeriesRow, around: Around) -> Cell:
    """Return the cell of one series; a window that emptied holds nothing, whatever the row says."""
    within = row.is_in_window(around.now, around.window)
    enough = fewest_runs(Load(row.load))
    statistics = {
        figure: statistic_of(row, figure, enough) if within else Statistic() for figure in FIGURES
    }
    runs = row.runs if within else 0
    return Cell(
        state=_state(runs, statistics),
        runs=runs,
        fewest_runs=enough,
        requests=row.requests if within else 0,
        good=row.good if within else 0,
        statistics=statistics,
        system_tokens_per_s=_system(row, around) if within else None,
        slowdown=_slowdown(row, statistics, around),
        newest_at=row.newest_at if within else None,
        latest=_latest(row, around),
        last_success_at=row.last_success_at,
        failing_in=(row.region,) if row.series_id in around.failing else (),
    )


def pooled_cell(cells: Mapping[str, Cell], pooled: Pooled) -> Cell:
    """Return the cell over regions, given by region with the medians over them; of a single
    measured region it is that region's own.
    """
    measured = [cell for cell in cells.values() if cell.runs]
    first = next(iter(cells.values()))
    if len(cells) == 1:
        return first
    if len(measured) == 1:
        statistics = measured[0].statistics
    else:
        statistics = {name: _pooled(pooled.get(name), first.fewest_runs) for name in FIGURES}
    runs = sum(cell.runs for cell in measured)
    return Cell(
        state=_state(runs, statistics),
        runs=runs,
        fewest_runs=first.fewest_runs,
        requests=sum(cell.requests for cell in measured),
        good=sum(cell.good for cell in measured),
        statistics=statistics,
        system_tokens_per_s=percentile(
            (c.system_tokens_per_s for c in measured if c.system_tokens_per_s is not None), 0.5
        ),
        slowdown=_pooled_slowdown([cell.slowdown for cell in cells.values()]),
        newest_at=max((cell.newest_at for cell in measured if cell.newest_at), default=None),
        latest=max(
            (cell.latest for cell in cells.values() if cell.latest),
            key=lambda latest: latest.at,
            default=None,
        ),
        last_success_at=max(
            (cell.last_success_at for cell in cells.values() if cell.last_success_at), default=None
        ),
        failing_in=tuple(region for cell in cells.values() for region in cell.failing_in),
    )


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


def _system(row: SeriesRow, around: Around) -> float | None:
    told = around.together.get(row.series_id)
    if told is None or told.system_runs < fewest_runs(Load.PARALLEL):
        return None
    return told.system_tokens_per_s


def _slowdown(
    row: SeriesRow, statistics: Mapping[Figure, Statistic], around: Around
) -> Slowdown | None:
    if Load(row.load) is not Load.PARALLEL:
        return None
    told, enough = around.together.get(row.series_id), fewest_runs(Load.SINGLE)
    if told is None:
        return Slowdown()
    alone = Pace(
        output_tokens_per_s=told.alone_tokens_per_s if told.alone_speed_runs >= enough else None,
        ttft_s=told.alone_ttft_s if told.alone_ttft_runs >= enough else None,
    )
    among = Pace(
        output_tokens_per_s=statistics[Figure.SPEED].median, ttft_s=statistics[Figure.TTFT].median
    )
    return slowdown(alone, among)


def _pooled_slowdown(regions: Sequence[Slowdown | None]) -> Slowdown | None:
    known = [one for one in regions if one is not None]
    if not known:
        return None
    speeds = (one.output_tokens_per_s for one in known)
    ttfts = (one.ttft_s for one in known)
    return Slowdown(
        output_tokens_per_s=percentile((times for times in speeds if times is not None), 0.5),
        ttft_s=percentile((times for times in ttfts if times is not None), 0.5),
    )


def _pooled(median: Median | None, enough: int) -> Statistic:
    if median is None:
        return Statistic()
    if median.runs < enough:
        return Statistic(runs=median.runs)
    return Statistic(median=median.value, low=median.low, high=median.high, runs=median.runs)


def _state(runs: int, statistics: Mapping[Figure, Statistic]) -> State:
    if not runs:
        return State.UNMEASURED
    shown = any(statistic.median is not None for statistic in statistics.values())
    return State.SHOWN if shown else State.INSUFFICIENT


def _latest(row: SeriesRow, around: Around) -> Latest | None:
    if row.latest_at is None:
        return None
    return Latest(
        at=row.latest_at,
        region=row.region,
        outcome=row.latest_outcome or "ok",
        ttft_s=row.latest_ttft_s,
        output_tokens_per_s=row.latest_output_tokens_per_s,
        end_to_end_s=row.latest_end_to_end_s,
        answer_only=row.series_id in around.answer_only,
    )
