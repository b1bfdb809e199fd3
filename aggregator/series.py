"""Series one by one, each with the statistics of its window, a page at a time."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from aggregator.around import read_around
from aggregator.board import Filter
from aggregator.cells import Cell, region_cell
from aggregator.db import Connection, queries
from aggregator.rows import EndpointRow, SeriesRow, is_simulated, read_facts, read_rows, read_store
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import Load


@dataclass(frozen=True, slots=True, kw_only=True)
class OneSeries:
    """A series with its endpoint's facts and its statistics."""

    facts: EndpointRow
    row: SeriesRow
    cell: Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesPage:
    """Some of the series that were asked for, at one moment."""

    at: datetime
    window: timedelta
    simulated: bool
    series: tuple[OneSeries, ...]
    """In the order of their ids."""
    next_after: int | None
    """The last id, where further ones follow."""


def read_series(  # noqa: PLR0913 - a page of them
    connection: Connection, fleet: Fleet, asked: Filter, now: datetime, *, after: int, limit: int
) -> SeriesPage:
    """Return at most so many series whose ids come after that one; raises StoreError."""
    window = timedelta(seconds=fleet.schedule.window_s)
    store = read_store(connection)
    values = {**asked.values(), "after": after, "limit": limit + 1}
    found = read_rows(connection, SeriesRow, "select_series_page", **values)
    rows = found[:limit]
    known = read_facts(connection, rows)
    around = read_around(connection, rows, now, window)
    return SeriesPage(
        at=now,
        window=window,
        simulated=is_simulated(store, fleet),
        series=tuple(
            OneSeries(facts=known[row.endpoint], row=row, cell=region_cell(row, around))
            for row in rows
        ),
        next_after=rows[-1].series_id if len(found) > limit else None,
    )


def read_load(connection: Connection, series: int) -> Load | None:
    """Return the load of the series of that id; None where there is none."""
    row = connection.execute(queries("read")["select_load"], {"series": series}).fetchone()
    return None if row is None else Load(row["load"])
