"""An endpoint's figures for one workload and load: in one region, or pooled over several. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from aggregator.pooled import Pooled, fewest_runs
from aggregator.rows import SeriesRow, TogetherRow
from aggregator.statistic import Statistic, over_regions, statistic_of
from aggregator.together import Together, in_region, in_regions
from pacewatch.words.flag import Figure
from pacewatch.words.slot import Load

FIGURES = (Figure.SPEED, Figure.TTFT, Figure.ANSWER, Figure.END_TO_END)
"""The figures that are shown, in their order."""


class State(StrEnum):
    """How much there is to show."""

    SHOWN = "shown"
    INSUFFICIENT = "insufficient"
    """There are runs, and no figure has enough of them for a median."""
    UNMEASURED = "unmeasured"


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
    together: Together | None
    """Of parallel runs; None: of single ones."""
    newest_at: datetime | None
    latest: Latest | None
    last_success_at: datetime | None
    failing_in: tuple[str, ...]
    """Regions whose latest runs failed."""
    definitions: tuple[int, ...]
    """Versions of the definitions that its runs were measured by, the lowest and the highest."""

    @property
    def is_mixed(self) -> bool:
        """Tell whether its figures are over runs that were measured differently."""
        return len(self.definitions) > 1


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
        together=_together(row, statistics, around) if row.load == Load.PARALLEL else None,
        newest_at=row.newest_at if within else None,
        latest=_latest(row, around),
        last_success_at=row.last_success_at,
        failing_in=(row.region,) if row.series_id in around.failing else (),
        definitions=_ends((row.definition_low, row.definition_high)) if within else (),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OverRegions:
    """What cannot be told from the cells of single regions."""

    medians: Pooled = field(default_factory=dict)
    among: Pooled = field(default_factory=dict)
    """Of parallel runs: over the regions that have measured both loads."""
    alone: Pooled = field(default_factory=dict)
    """Of single runs, over the same regions."""


def pooled_cell(cells: Mapping[str, Cell], over: OverRegions) -> Cell:
    """Return the cell over regions, given by region with what is over them; of a single measured
    region it is that region's own.
    """
    measured = [cell for cell in cells.values() if cell.runs]
    first = next(iter(cells.values()))
    if len(cells) == 1:
        return first
    if len(measured) == 1:
        statistics, together = measured[0].statistics, measured[0].together
    else:
        statistics = {
            figure: over_regions(over.medians.get(figure), first.fewest_runs) for figure in FIGURES
        }
        together = first.together and in_regions(over.medians, over.among, over.alone)
    runs = sum(cell.runs for cell in measured)
    return Cell(
        state=_state(runs, statistics),
        runs=runs,
        fewest_runs=first.fewest_runs,
        requests=sum(cell.requests for cell in measured),
        good=sum(cell.good for cell in measured),
        statistics=statistics,
        together=together,
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
        definitions=_ends(version for cell in measured for version in cell.definitions),
    )


def _ends(versions: Iterable[int | None]) -> tuple[int, ...]:
    """Return the lowest and the highest version, one where they are the same."""
    known = sorted({version for version in versions if version is not None})
    return tuple(dict.fromkeys((known[0], known[-1]))) if known else ()


def _together(row: SeriesRow, statistics: Mapping[Figure, Statistic], around: Around) -> Together:
    within = row.is_in_window(around.now, around.window)
    return in_region(around.together.get(row.series_id) if within else None, statistics)


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
