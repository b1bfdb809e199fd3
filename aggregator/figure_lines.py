"""Medians of an endpoint as a line of a table, and the tabs above such tables. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from aggregator.board import Board
from aggregator.cells import FIGURES, Cell
from aggregator.page import Moment, moment_of
from aggregator.tabs import Tab
from aggregator.tones import Remark
from pacewatch.words.flag import Figure
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import Load
from pacewatch.words.text import UNKNOWN, count_text, plural, seconds_text, speed_text


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticText:
    """A median with its interval."""

    median: str
    interval: str
    """In place of the interval of too few runs: how many there are; empty where there is none."""
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureLine:
    """The figures of one region, or of one endpoint."""

    where: str
    address: str
    """Of a page that tells more; empty: there is none."""
    speed: StatisticText
    ttft: StatisticText
    answer: StatisticText
    whole: StatisticText
    runs: str
    good: str
    newest: Moment
    remarks: tuple[Remark, ...]


def figure_line(
    where: str, cell: Cell, remarks: tuple[Remark, ...], now: datetime, address: str = ""
) -> FigureLine:
    """Return the line of a cell, named by where it was measured, or by what it is of."""
    found = {figure: statistic_text(cell, figure) for figure in FIGURES}
    return FigureLine(
        where=where,
        address=address,
        speed=found[Figure.SPEED],
        ttft=found[Figure.TTFT],
        answer=found[Figure.ANSWER],
        whole=found[Figure.END_TO_END],
        runs=count_text(cell.runs),
        good=f"{cell.good:,} of {cell.requests:,}",
        newest=moment_of(cell.newest_at, now),
        remarks=remarks,
    )


def statistic_text(cell: Cell, figure: Figure) -> StatisticText:
    """Return a cell's median of a figure with its interval, as a table tells it."""
    write = speed_text if figure is Figure.SPEED else seconds_text
    statistic, enough = cell.statistics[figure], cell.fewest_runs
    runs, percent = plural(statistic.runs, "run"), statistic.interval_percent
    if statistic.median is None and statistic.runs:
        told = f"{statistic.runs} of {enough} runs"
        return StatisticText(
            median=UNKNOWN, interval=told, title=f"{runs}; a median needs {enough}"
        )
    if percent is None:
        return StatisticText(median=write(statistic.median), interval="", title=runs)
    return StatisticText(
        median=write(statistic.median),
        interval=f"{write(statistic.low)}\u2013{write(statistic.high)}",
        title=f"{runs}, {percent} % interval",
    )


def series_tabs(
    address: Callable[..., str], board: Board, fleet: Fleet, workload: str, load: Load
) -> tuple[tuple[Tab, ...], tuple[Tab, ...]]:
    """Return the workloads, none where there is only one, and the loads to choose from."""
    names = {
        Load.SINGLE: "one request",
        Load.PARALLEL: f"{fleet.schedule.parallel_requests} at once",
    }
    workloads = tuple(
        Tab(text=name, address=address(workload=name, load=str(load)), chosen=name == workload)
        for name in board.workloads
    )
    loads = tuple(
        Tab(text=names[one], address=address(workload=workload, load=str(one)), chosen=one is load)
        for one in Load
    )
    return workloads if len(workloads) > 1 else (), loads
