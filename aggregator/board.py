"""The board as values: models, under each its endpoints, under each its series with medians."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from aggregator.around import read_around
from aggregator.cells import Around, Cell, OverRegions, pooled_cell, region_cell
from aggregator.changes import Change, changes_of
from aggregator.db import Connection, queries
from aggregator.incident_views import Incident, read_open
from aggregator.pooled import read_pooled
from aggregator.rows import (
    EndpointRow,
    SeriesRow,
    WorkerRow,
    is_simulated,
    read_facts,
    read_rows,
    read_store,
)
from aggregator.standing import RegionStanding, region_standings
from aggregator.verdict_views import Believed, believed_of
from pacewatch.words.flag import Figure
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import Load

MOST_ENDPOINTS = 100
"""Endpoints of one part of the board."""

PoolKey = tuple[str, str, str]
"""Endpoint, workload, load."""


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
    changes: tuple[Change, ...] = ()
    """What its provider changed within the window, the latest first."""
    believed: Mapping[str, Believed] = field(default_factory=dict)
    """By region; `''`: over all of them."""


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
    next_after: str | None = None
    """The last model of this page, where further ones follow."""
    incidents: tuple[Incident, ...] = ()
    """Those that are open, of whatever endpoint; the latest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What of the board is asked for; an empty set asks for all."""

    endpoints: frozenset[str] = frozenset()
    models: frozenset[str] = frozenset()
    providers: frozenset[str] = frozenset()
    precisions: frozenset[str] = frozenset()
    regions: frozenset[str] = frozenset()
    workloads: frozenset[str] = frozenset()
    loads: frozenset[str] = frozenset()

    def values(self) -> dict[str, list[str]]:
        """Return the filters as the queries take them."""
        return {name: sorted(getattr(self, name)) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Which part of a long board is asked for: whole models, in the order of their names."""

    after: str = ""
    """The models after this one."""
    endpoints: int = MOST_ENDPOINTS
    """So many endpoints at most; but at least one model."""


Wanted = Sequence[tuple[EndpointRow, SeriesRow]]


def read_board(
    connection: Connection, fleet: Fleet, asked: Filter, now: datetime, part: Part = Part()
) -> Board:
    """Return a part of the board of the connection's one moment; raises StoreError."""
    window = timedelta(seconds=fleet.schedule.window_s)
    store = read_store(connection)
    values = {**asked.values(), "since": now - window}
    shown, next_after = _shown_models(connection, values, part)
    rows = read_rows(connection, SeriesRow, "select_board_series", **values, shown=shown)
    known = read_facts(connection, rows)
    wanted = [(known[row.endpoint], row) for row in rows]
    around = read_around(connection, rows, now, window)
    endpoints = {facts.endpoint for facts, _ in wanted}
    workers = read_rows(connection, WorkerRow, "select_workers")
    workloads = _workloads(connection, fleet)
    return Board(
        at=now,
        window=window,
        simulated=is_simulated(store, fleet),
        regions=region_standings(fleet.regions, workers, now),
        workloads=workloads,
        models=_models(
            wanted,
            around,
            _read_over_regions(connection, wanted, around),
            workloads,
            changes_of(connection, endpoints, since=now - window),
            believed_of(connection, endpoints),
        ),
        next_slot_at=_next_slot(connection),
        next_after=next_after,
        incidents=read_open(connection),
    )


def _shown_models(
    connection: Connection, values: Mapping[str, object], part: Part
) -> tuple[list[str], str | None]:
    """Return the models of the part, and the last one of them where others follow."""
    found = connection.execute(
        queries("read")["select_board_models"], {**values, "after": part.after}
    ).fetchall()
    shown: list[str] = []
    endpoints = 0
    for row in found:
        endpoints += row["endpoints"]
        if shown and endpoints > part.endpoints:
            return shown, shown[-1]
        shown.append(row["model"])
    return shown, None


def _read_over_regions(
    connection: Connection, wanted: Wanted, around: Around
) -> Mapping[PoolKey, OverRegions]:
    """Return the medians of what several regions have measured, each pool of series read once."""
    groups: dict[PoolKey, list[SeriesRow]] = {}
    for _, row in wanted:
        if row.is_in_window(around.now, around.window):
            groups.setdefault((row.endpoint, row.workload, row.load), []).append(row)
    several = {key: rows for key, rows in groups.items() if len(rows) > 1}
    pools = {key: pools_of(rows, around) for key, rows in several.items()}
    asked = list(dict.fromkeys(pool for its in pools.values() for pool in its if pool))
    found = read_pooled(connection, asked, now=around.now, window=around.window)
    medians = {(): {}, **dict(zip(asked, found, strict=True))}
    return {
        key: OverRegions(medians=medians[whole], among=medians[among], alone=medians[alone])
        for key, (whole, among, alone) in pools.items()
    }


Pool = tuple[int, ...]
"""Ids of series, one of each region."""


def pools_of(rows: Sequence[SeriesRow], around: Around) -> tuple[Pool, Pool, Pool]:
    """Return the ids of all these series; of parallel ones those of the regions that have measured
    both loads, and of the single series there. Pure.
    """
    both = [
        (row.series_id, told.alone_id)
        for row in rows
        if (told := around.together.get(row.series_id)) is not None
        and told.alone_id is not None
        and (row.speed_runs or row.ttft_runs)
        and (told.alone_speed_runs or told.alone_ttft_runs)
    ]
    among, alone = zip(*both, strict=True) if both else ((), ())
    return tuple(row.series_id for row in rows), among, alone


def _workloads(connection: Connection, fleet: Fleet) -> tuple[str, ...]:
    found = connection.execute(queries("read")["select_workloads"]).fetchall()
    planned = dict.fromkeys(fleet.schedule.workloads)
    return tuple(planned | dict.fromkeys(row["workload"] for row in found))


def _next_slot(connection: Connection) -> datetime | None:
    row = connection.execute(queries("read")["select_next_slot"]).fetchone()
    found: datetime | None = None if row is None else row["slot_at"]
    return found


def _models(  # noqa: PLR0913 - what a board is made of
    wanted: Wanted,
    around: Around,
    over: Mapping[PoolKey, OverRegions],
    workloads: tuple[str, ...],
    changes: Mapping[str, tuple[Change, ...]],
    believed: Mapping[str, Mapping[str, Believed]],
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
                series=_series([row for _, row in rows], around, over, workloads),
                changes=changes.get(facts.endpoint, ()),
                believed=believed.get(facts.endpoint, {}),
            )
        )
    return tuple(
        BoardModel(model=model, endpoints=tuple(sorted(found, key=_rank)))
        for model, found in sorted(models.items())
    )


def _series(
    rows: Sequence[SeriesRow],
    around: Around,
    over: Mapping[PoolKey, OverRegions],
    workloads: tuple[str, ...],
) -> tuple[BoardSeries, ...]:
    groups: dict[tuple[str, str], list[SeriesRow]] = {}
    for row in rows:
        groups.setdefault((row.workload, row.load), []).append(row)
    made = []
    for (workload, load), group in groups.items():
        cells = {row.region: region_cell(row, around) for row in group}
        made.append(
            BoardSeries(
                workload=workload,
                load=Load(load),
                pooled=pooled_cell(
                    cells, over.get((group[0].endpoint, workload, load), OverRegions())
                ),
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
