"""Day partitions of run, timing and timeline: made before they are needed, dropped when too old.

A day's partition is made as a table of its own and then attached, so that readers and writers of
the other days go on meanwhile.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta

import psycopg
from psycopg import sql

from aggregator.db import Connection, queries
from pacewatch.words.retention import Retention

PARTITION_LOCK = 8_420_002
"""Key of the advisory lock that one process holds while it makes or drops partitions."""

TABLES = ("run", "timing", "timeline")
"""The tables that have partitions of a day."""

AHEAD = 3
"""Days from today on whose partitions stand ready."""


def days_ahead(now: datetime) -> list[date]:
    """Return the UTC days whose partitions should stand ready."""
    today = now.astimezone(UTC).date()
    return [today + timedelta(days=day) for day in range(AHEAD)]


def make_days(connection: Connection, days: Iterable[date]) -> list[str]:
    """Make the partitions of these UTC days that are missing; return their names.

    Takes a transaction of its own; the connection must not be in one.
    """
    wanted = sorted(set(days))
    with connection.transaction():
        connection.execute("select pg_advisory_xact_lock(%s)", (PARTITION_LOCK,))
        there = {row["partition"] for row in _partitions(connection)}
        missing = [
            (table, day)
            for table in TABLES
            for day in wanted
            if partition_name(table, day) not in there
        ]
        for table, day in missing:
            _make(connection, table, day)
    return [partition_name(table, day) for table, day in missing]


def drop_old_days(connection: Connection, retention: Retention, now: datetime) -> list[str]:
    """Drop the partitions whose last moment is older than their table keeps; return their names.

    One transaction a partition; one that is in use for longer than two seconds is left for the
    next time.
    """
    kept = {"run": retention.timings, "timing": retention.timings, "timeline": retention.timelines}
    with connection.transaction():
        found = _partitions(connection)
    old = [
        row["partition"]
        for row in found
        if _day(row["partition"]) < (now - kept[row["parent"]]).astimezone(UTC).date()
    ]
    return [name for name in old if _drop(connection, name)]


def days_there(connection: Connection, table: str) -> list[date]:
    """Return the UTC days of which a table has a partition."""
    return [_day(row["partition"]) for row in _partitions(connection) if row["parent"] == table]


def _partitions(connection: Connection) -> list[dict[str, str]]:
    return connection.execute(
        queries("upkeep")["list_partitions"], {"parents": list(TABLES)}
    ).fetchall()


def partition_name(table: str, day: date) -> str:
    """Return the name of a table's partition of that UTC day."""
    return f"{table}_{day:%Y%m%d}"


def _day(partition: str) -> date:
    return datetime.strptime(partition.rpartition("_")[2] + "Z", "%Y%m%d%z").date()


def _make(connection: Connection, table: str, day: date) -> None:
    name, parent = sql.Identifier(partition_name(table, day)), sql.Identifier(table)
    connection.execute(sql.SQL("create table {} (like {} including all)").format(name, parent))
    connection.execute(
        sql.SQL("alter table {} attach partition {} for values from ({}) to ({})").format(
            parent, name, *(f"{edge} 00:00:00+00" for edge in (day, day + timedelta(days=1)))
        )
    )


def _drop(connection: Connection, name: str) -> bool:
    try:
        with connection.transaction():
            connection.execute("select pg_advisory_xact_lock(%s)", (PARTITION_LOCK,))
            connection.execute("set local lock_timeout = '2s'")
            connection.execute(sql.SQL("drop table if exists {}").format(sql.Identifier(name)))
    except psycopg.errors.LockNotAvailable:
        return False
    return True
