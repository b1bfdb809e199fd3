"""Rolling statistics: recomputed from the raw rows for exactly the series that changed.

The row of `series_stat` is locked before its series' runs are inserted, and its statistics are
computed after that in the same transaction: whoever comes second sees what the first one wrote.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from psycopg.types.json import Json

from aggregator.db import Connection, Pool, queries, translated
from aggregator.stats import EXACT_UP_TO, ranks_text
from pacewatch.words.slot import to_rfc3339

_AT_ONCE = 200
"""Series that a sweep recomputes in one transaction."""


def lock_series(connection: Connection, series: Iterable[int]) -> None:
    """Lock the statistics of these series, in the order of their ids, for the transaction."""
    connection.execute(queries("rolling")["lock_series"], {"series": sorted(series)})


def refresh(
    connection: Connection, series: Iterable[int], *, now: datetime, window: timedelta
) -> None:
    """Recompute the statistics of these series over the window that ends now.

    The caller holds their locks.
    """
    connection.execute(
        queries("rolling")["refresh_series"],
        {
            "series": sorted(series),
            "now": now,
            "since": now - window,
            "window": window,
            "low_ranks": ranks_text(),
            "exact_up_to": EXACT_UP_TO,
        },
    )


def refresh_aged(pool: Pool, *, now: datetime, window: timedelta) -> int:
    """Recompute the series whose window has lost a run since; return how many they were."""
    done = 0
    while True:
        with translated(), pool.connection() as connection:
            found = connection.execute(
                queries("upkeep")["find_aged_series"], {"now": now, "limit": _AT_ONCE}
            ).fetchall()
            series = [row["series_id"] for row in found]
            if series:
                lock_series(connection, series)
                refresh(connection, series, now=now, window=window)
        done += len(series)
        if len(series) < _AT_ONCE:
            return done


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """What a refresh of everything found."""

    series: int
    changed: tuple[int, ...]
    """Ids of the series whose statistics were not what their raw rows say."""


def refresh_all(pool: Pool, *, now: datetime, window: timedelta) -> Refreshed:
    """Recompute every series from its raw rows, the latest run too: oracle and repair.

    Counters are left alone, since their rows may be pruned.
    """
    done, after = 0, -1
    changed: list[int] = []
    while True:
        with translated(), pool.connection() as connection:
            found = connection.execute(
                queries("upkeep")["find_all_series"], {"after": after, "limit": _AT_ONCE}
            ).fetchall()
            series = [row["series_id"] for row in found]
            if not series:
                return Refreshed(series=done, changed=tuple(changed))
            lock_series(connection, series)
            before = _told(connection, series)
            refresh(connection, series, now=now, window=window)
            refresh_latest(connection, series)
            told = _told(connection, series)
        changed += [one for one in series if before[one] != told[one]]
        done, after = done + len(series), series[-1]


def _told(connection: Connection, series: list[int]) -> dict[int, str]:
    """Return the whole rows of statistics as text, by series."""
    rows = connection.execute(queries("rolling")["select_told"], {"series": series}).fetchall()
    return {row["series_id"]: row["told"] for row in rows}


def refresh_latest(connection: Connection, series: list[int]) -> None:
    """Find the latest run and success of these series anew; the caller holds their locks."""
    named = queries("rolling")
    found = connection.execute(named["find_latest"], {"series": series}).fetchall()
    rows = [_latest_row(row) for row in found]
    connection.execute(named["clear_latest"], {"series": [row["series_id"] for row in rows]})
    connection.execute(named["advance_latest"], {"rows": Json(rows)})
    counts = [{**row, "tried": 0, "succeeded": 0} for row in rows]
    connection.execute(named["count_series"], {"rows": Json(counts)})


def _latest_row(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "run_id": str(row["run_id"]),
        "slot_at": to_rfc3339(row["slot_at"]),
        "success_at": row["success_at"] and to_rfc3339(row["success_at"]),
    }
