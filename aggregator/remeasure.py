"""Figures made anew by today's definition, where the timelines of their runs are still kept.

Each figure keeps the version of the definition that it was made with. After an upgrade that brings
another one, this takes the past over to it, as far as there are timelines; what is older stays as
it was measured.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any
from uuid import UUID

from psycopg.types.json import Json

from aggregator import rolling
from aggregator.days import mark_due
from aggregator.db import Connection, Pool, queries, translated
from aggregator.measured import measure
from aggregator.partitions import days_there
from aggregator.reading import read_record, unpacked
from pacewatch.words.errors import WireError
from pacewatch.words.figures import DEFINITION
from pacewatch.words.slot import to_rfc3339

_AT_ONCE = 100
_FIRST = UUID(int=0)


def remeasure(pool: Pool, *, now: datetime, window: timedelta) -> int:
    """Make the figures of all runs anew that another definition made and whose timelines are kept,
    with the statistics over them; return how many runs they were.

    It may be repeated, and ended at any moment. Raises StoreError.
    """
    with translated(), pool.connection() as connection:
        days = days_there(connection, "timeline")
    done = 0
    for day in sorted(days):
        begin = datetime.combine(day, time(), UTC)
        after: UUID | None = _FIRST
        while after is not None:
            with translated(), pool.connection() as connection:
                rows = _find(connection, begin, after)
                done += _take_over(connection, rows, _day(begin), now=now, window=window)
            after = rows[-1]["run_id"] if len(rows) == _AT_ONCE else None
    return done


def _find(connection: Connection, begin: datetime, after: UUID) -> list[dict[str, Any]]:
    return connection.execute(
        queries("remeasure")["select_measured_otherwise"],
        {
            **_day(begin),
            "definition": DEFINITION,
            "after": after,
            "limit": _AT_ONCE,
        },
    ).fetchall()


def _day(begin: datetime) -> dict[str, datetime]:
    return {"since": begin, "until": begin + timedelta(days=1)}


def _take_over(
    connection: Connection,
    found: Sequence[dict[str, Any]],
    day: Mapping[str, datetime],
    *,
    now: datetime,
    window: timedelta,
) -> int:
    """Write the figures of runs of a day, and all that follows from them, in the caller's
    transaction.
    """
    runs: list[dict[str, Any]] = []
    timings: list[dict[str, Any]] = []
    series = sorted({row["series_id"] for row in found})
    for row in found:
        try:
            measured = measure(read_record(unpacked(row["record"])))
        except WireError:
            continue  # of an older version than this one reads: its figures stay as they are
        place = {"run_id": str(row["run_id"]), "slot_at": to_rfc3339(row["slot_at"])}
        runs.append({**measured.run, **place})
        timings += [{**timing, **place} for timing in measured.timings]
    if runs:
        rolling.lock_series(connection, series)
        connection.execute(queries("remeasure")["update_runs"], {"rows": Json(runs), **day})
        connection.execute(queries("remeasure")["update_timings"], {"rows": Json(timings), **day})
        rolling.refresh(connection, series, now=now, window=window)
        rolling.refresh_latest(connection, series)
        mark_due(connection, {row["slot_at"].astimezone(UTC).date() for row in found})
    return len(runs)
