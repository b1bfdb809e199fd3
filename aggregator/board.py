"""The board as values: models, under each its endpoints, under each its series with medians."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from aggregator.cells import Around, Cell, pooled_cell, region_cell
from aggregator.db import Connection, queries
from aggregator.rows import (
    EndpointRow,
    LastRun,
    RunFigures,
    SeriesRow,
    WorkerRow,
    read_rows,
    read_store,
)
from aggregator.standing import RegionStanding, failing_series, region_standings, suspects
from pacewatch.words.flag import Figure
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import Load


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardSeries:
    """One workload and load of an endpoint."""

    workload: str
    load: Load
    pooled: Cell
    regions: Mapping[str, Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardEndpoint:
    """An endpoint with its series."""

    facts: EndpointRow
    simulated: bool
    series: tuple[BoardSeries, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardModel:
    """A model with the endpoints that serve it, the fastest first."""

    model: str
    endpoints: tuple[BoardEndpoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """All that was asked for, at one moment."""

    at: datetime
    window: timedelta
    simulated: bool
    regions: tuple[RegionStanding, ...]
    """Every region of the fleet, asked for or not."""
    workloads: tuple[str, ...]
    """Every workload there is a series of, asked for or not."""
    models: tuple[BoardModel, ...]
    next_slot_at: datetime | None
    """When the next planned run is due."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What of the board is asked for; an empty set asks for all."""

    models: frozenset[str] = frozenset()
    providers: frozenset[str] = frozenset()
    regions: frozenset[str] = frozenset()
    workloads: frozenset[str] = frozenset()
    loads: frozenset[str] = frozenset()

    def wants(self, facts: EndpointRow, row: SeriesRow) -> bool:
        """Tell whether a series of an endpoint is asked for."""
        return all(
            not asked or name in asked
            for asked, name in (
                (self.models, facts.model),
                (self.providers, facts.provider),
                (self.regions, row.region),
                (self.workloads, row.workload),
                (self.loads, row.load),
            )
        )


Wanted = Sequence[tuple[EndpointRow, SeriesRow]]


def read_board(connection: Connection, fleet: Fleet, asked: Filter, now: datetime) -> Board:
    """Return the board of the connection's one moment; raises StoreError."""
    window = timedelta(seconds=fleet.schedule.window_s)
    store = read_store(connection)
    known = {row.endpoint: row for row in read_rows(connection, EndpointRow, "select_endpoints")}
    series = read_rows(connection, SeriesRow, "select_series")
    wanted = [
        (known[row.endpoint], row)
        for row in series
        if row.endpoint in known
        and (known[row.endpoint].active or row.is_in_window(now, window))
        and asked.wants(known[row.endpoint], row)
    ]
    around = _read_around(connection, wanted, now, window)
    figures = _read_figures(connection, wanted, around)
    workers = read_rows(connection, WorkerRow, "select_workers")
    workloads = _workloads(fleet, series)
    return Board(
        at=now,
        window=window,
        simulated=fleet.simulated if store is None else store.simulated,
        regions=region_standings(fleet.regions, workers, now),
        workloads=workloads,
        models=_models(wanted, around, figures, workloads),
        next_slot_at=_next_slot(connection),
    )


def _read_around(
    connection: Connection, wanted: Wanted, now: datetime, window: timedelta
) -> Around:
    rows = [row for _, row in wanted]
    last = read_rows(
        connection, LastRun, "select_last_runs", series=suspects(rows), after=now - window
    )
    measured = [row for row in rows if row.latest_at is not None]
    hidden = connection.execute(
        queries("read")["select_hidden_series"],
        {
            "series": [row.series_id for row in measured],
            "runs": [row.latest_run_id for row in measured],
            "latest": [row.latest_at for row in measured],
        },
    ).fetchall()
    return Around(
        now=now,
        window=window,
        failing=failing_series(last),
        answer_only=frozenset(row["series_id"] for row in hidden),
    )


def _read_figures(
    connection: Connection, wanted: Wanted, around: Around
) -> Mapping[int, RunFigures]:
    """Return the figures of the runs of all series whose endpoint has them from several regions."""
    groups: dict[tuple[str, str, str], list[int]] = {}
    for _, row in wanted:
        if row.is_in_window(around.now, around.window):
            groups.setdefault((row.endpoint, row.workload, row.load), []).append(row.series_id)
    pooled = [one for series in groups.values() if len(series) > 1 for one in series]
    found = read_rows(
        connection,
        RunFigures,
        "select_run_figures",
        series=pooled,
        after=around.now - around.window,
        now=around.now,
    )
    return {figures.series_id: figures for figures in found}


def _workloads(fleet: Fleet, series: Iterable[SeriesRow]) -> tuple[str, ...]:
    planned = dict.fromkeys(fleet.schedule.workloads)
    return tuple(planned | dict.fromkeys(sorted({row.workload for row in series})))


def _next_slot(connection: Connection) -> datetime | None:
    row = connection.execute(queries("read")["select_next_slot"]).fetchone()
    found: datetime | None = None if row is None else row["slot_at"]
    return found


def _models(
    wanted: Wanted,
    around: Around,
    figures: Mapping[int, RunFigures],
    workloads: tuple[str, ...],
) -> tuple[BoardModel, ...]:
    endpoints: dict[str, list[tuple[EndpointRow, SeriesRow]]] = {}
    for facts, row in wanted:
        endpoints.setdefault(facts.endpoint, []).append((facts, row))
    models: dict[str, list[BoardEndpoint]] = {}
    for rows in endpoints.values():
        facts = rows[0][0]
        models.setdefault(facts.model, []).append(
            BoardEndpoint(
                facts=facts,
                simulated=any(row.simulated for _, row in rows),
                series=_series([row for _, row in rows], around, figures, workloads),
            )
        )
    return tuple(
        BoardModel(model=model, endpoints=tuple(sorted(found, key=_rank)))
        for model, found in sorted(models.items())
    )


def _series(
    rows: Sequence[SeriesRow],
    around: Around,
    figures: Mapping[int, RunFigures],
    workloads: tuple[str, ...],
) -> tuple[BoardSeries, ...]:
    groups: dict[tuple[str, str], list[SeriesRow]] = {}
    for row in rows:
        groups.setdefault((row.workload, row.load), []).append(row)
    made = []
    for (workload, load), group in groups.items():
        cells = {row.region: region_cell(row, around) for row in group}
        found = {row.region: figures[row.series_id] for row in group if row.series_id in figures}
        made.append(
            BoardSeries(
                workload=workload,
                load=Load(load),
                pooled=pooled_cell(cells, found),
                regions=cells,
            )
        )
    loads = list(Load)
    return tuple(
        sorted(made, key=lambda one: (workloads.index(one.workload), loads.index(one.load)))
    )


def _rank(endpoint: BoardEndpoint) -> tuple[bool, bool, float, str]:
    """Order by the median speed of the first series, the fastest first; a speed of the answer alone
    is not ranked against speeds that hold the reasoning, and stands after them.
    """
    cell = endpoint.series[0].pooled
    median = cell.statistics[Figure.SPEED].median
    answer_only = cell.latest is not None and cell.latest.answer_only
    return median is None, answer_only, -(median or 0), endpoint.facts.endpoint
