"""Medians of an endpoint as a line of a table, and the tabs above such tables. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from aggregator.board import Board
from aggregator.cells import Cell
from aggregator.page import Moment, moment_of
from aggregator.statistic import Statistic
from aggregator.tabs import Tab
from aggregator.tones import Remark
from pacewatch.words.flag import Figure
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import Load
from pacewatch.words.text import count_text, plural, seconds_text, speed_text


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticText:
    """A median with its interval."""

    median: str
    interval: str
    """Empty where there is none."""
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
    found = cell.statistics
    return FigureLine(
        where=where,
        address=address,
        speed=statistic_text(found[Figure.SPEED], Figure.SPEED),
        ttft=statistic_text(found[Figure.TTFT], Figure.TTFT),
        answer=statistic_text(found[Figure.ANSWER], Figure.ANSWER),
        whole=statistic_text(found[Figure.END_TO_END], Figure.END_TO_END),
        runs=count_text(cell.runs),
        good=f"{cell.good:,} of {cell.requests:,}",
        newest=moment_of(cell.newest_at, now),
        remarks=remarks,
    )


def statistic_text(statistic: Statistic, figure: Figure) -> StatisticText:
    """Return a median with its interval, as a table tells it."""
    write = speed_text if figure is Figure.SPEED else seconds_text
    percent = statistic.interval_percent
    return StatisticText(
        median=write(statistic.median),
        interval="" if percent is None else f"{write(statistic.low)}\u2013{write(statistic.high)}",
        title=plural(statistic.runs, "run")
        + ("" if percent is None else f", {percent} % interval"),
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
