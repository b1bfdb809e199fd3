"""One model as a person reads it: the endpoints that serve it, side by side. Pure."""

from dataclasses import dataclass
from functools import partial

from aggregator.board import Board, BoardEndpoint
from aggregator.cells import Cell
from aggregator.figure_lines import (
    FigureLine,
    StatisticText,
    figure_line,
    series_tabs,
    statistic_text,
)
from aggregator.places import endpoint_address, model_address
from aggregator.remarks import remarks_of
from aggregator.tabs import Tab
from pacewatch.words.flag import Figure
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import Load
from pacewatch.words.text import plural, span_text

_MATRICES = {
    Figure.SPEED: "Output speed by region, tokens/s",
    Figure.TTFT: "Time to first token by region",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """One endpoint: a median in each region."""

    endpoint: str
    address: str
    medians: tuple[StatisticText | None, ...]
    """None: it is not measured there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """One figure of all endpoints in all regions."""

    title: str
    rows: tuple[MatrixRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPage:
    """All that stands on the page of a model."""

    model: str
    summary: str
    simulated: bool
    workloads: tuple[Tab, ...]
    loads: tuple[Tab, ...]
    window: str
    empty: str
    """What stands in place of figures where there are none."""
    lines: tuple[FigureLine, ...]
    """Over all regions, the fastest first."""
    regions: tuple[str, ...]
    """The columns of the matrices; empty where there is one region."""
    matrices: tuple[Matrix, ...]


def model_page(board: Board, model: str, fleet: Fleet, workload: str, load: Load) -> ModelPage:
    """Return the page of a model of which the board of a workload and load was read."""
    endpoints = board.models[0].endpoints if board.models else ()
    workloads, loads = series_tabs(partial(model_address, model), board, fleet, workload, load)
    regions = sorted({region for one in endpoints for region in one.series[0].regions})
    several = tuple(regions) if len(regions) > 1 else ()
    return ModelPage(
        model=model,
        summary=f"{plural(len(endpoints), 'endpoint')}, {_where(regions)}",
        simulated=board.simulated,
        workloads=workloads,
        loads=loads,
        window=span_text(board.window.total_seconds()),
        empty=""
        if endpoints
        else f"No endpoint of it is measured with workload {workload} and load {load}.",
        lines=tuple(_line(one, board) for one in endpoints),
        regions=several,
        matrices=tuple(
            Matrix(title=title, rows=tuple(_row(one, several, figure) for one in endpoints))
            for figure, title in _MATRICES.items()
            if several
        ),
    )


def _where(regions: list[str]) -> str:
    return f"from {regions[0]}" if len(regions) == 1 else plural(len(regions), "region")


def _line(endpoint: BoardEndpoint, board: Board) -> FigureLine:
    series, facts = endpoint.series[0], endpoint.facts
    return figure_line(
        facts.endpoint,
        series.pooled,
        remarks_of(facts, series, board.at, endpoint.changes, endpoint.believed.get("")),
        board.at,
        _address(endpoint),
    )


def _address(endpoint: BoardEndpoint) -> str:
    series = endpoint.series[0]
    return endpoint_address(
        endpoint.facts.endpoint, workload=series.workload, load=str(series.load)
    )


def _row(endpoint: BoardEndpoint, regions: tuple[str, ...], figure: Figure) -> MatrixRow:
    cells = endpoint.series[0].regions
    return MatrixRow(
        endpoint=endpoint.facts.endpoint,
        address=_address(endpoint),
        medians=tuple(_median(cells.get(region), figure) for region in regions),
    )


def _median(cell: Cell | None, figure: Figure) -> StatisticText | None:
    return None if cell is None else statistic_text(cell, figure)
