"""The store's door: connection pool, named queries, migrations under one lock.

SQL stands in `aggregator/sql/*.sql`; a query is asked for by file and name and never built from
pieces.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any

import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg_pool import ConnectionPool

from pacewatch.words.errors import StoreError

Connection = psycopg.Connection[DictRow]
Pool = ConnectionPool[Connection]

MIGRATION_LOCK = 8_420_001
"""Key of the advisory lock that one migrating process holds."""

_NAMED = re.compile(r"^-- name: ([a-z_0-9]+)\n", re.MULTILINE)


def open_pool(url: str, *, size: int = 8) -> Pool:
    """Return an open pool of connections whose rows are dicts; raises StoreError where none
    answers in 10 s.
    """
    pool: Pool = ConnectionPool(
        url,
        min_size=1,
        max_size=size,
        kwargs={"row_factory": dict_row, "options": "-c timezone=UTC"},
        check=ConnectionPool.check_connection,
        connection_class=psycopg.Connection[DictRow],
        open=False,
    )
    with translated():
        pool.open(wait=True, timeout=10)
    return pool


@contextmanager
def translated() -> Iterator[None]:
    """Turn psycopg's errors into StoreError, without the connection string."""
    try:
        yield
    except psycopg.Error as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise StoreError(f"Postgres: {said[0]}") from error


@cache
def queries(file: str) -> dict[str, str]:
    """Return the named queries of `aggregator/sql/<file>.sql`."""
    text = files("aggregator").joinpath("sql", f"{file}.sql").read_text(encoding="utf-8")
    pieces = _NAMED.split(text)[1:]
    return {name: query.strip() for name, query in zip(pieces[::2], pieces[1::2], strict=True)}


def migrate(url: str) -> list[str]:
    """Bring the store to this version's tables; return the migrations that were made, by name.

    One process migrates at a time; the others wait and find nothing to do. Raises StoreError
    where the store is newer.
    """
    with translated(), psycopg.connect(url, autocommit=True) as connection:
        connection.execute("select pg_advisory_lock(%s)", (MIGRATION_LOCK,))
        return [name for name, text in _missing(connection) if _make(connection, name, text)]


def _missing(connection: psycopg.Connection[Any]) -> list[tuple[str, str]]:
    connection.execute(
        "create table if not exists migration"
        " (name text primary key, made_at timestamptz not null default now())"
    )
    made = {row[0] for row in connection.execute("select name from migration").fetchall()}
    known = {name: text for name, text in _migrations()}
    if newer := sorted(made - known.keys()):
        raise StoreError(
            f"the store is of a newer version: it has {newer[-1]}, unknown here "
            "(allowed: a version at least as new as the one that made it)"
        )
    return [(name, text) for name, text in known.items() if name not in made]


def _migrations() -> list[tuple[str, str]]:
    folder = files("aggregator").joinpath("sql", "migrations")
    found = sorted(
        (entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda e: e.name
    )
    return [(entry.name.removesuffix(".sql"), entry.read_text(encoding="utf-8")) for entry in found]


def _make(connection: psycopg.Connection[Any], name: str, text: str) -> bool:
    with connection.transaction():
        connection.execute(text)
        connection.execute("insert into migration (name) values (%s)", (name,))
    return True
