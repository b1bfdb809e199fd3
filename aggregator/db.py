"""The store's door: connection pool, named queries, migrations under one lock.

SQL stands in `aggregator/sql/*.sql`; a query is asked for by file and name and never built from
pieces.
"""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any

import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg_pool import ConnectionPool

from pacewatch import log
from pacewatch.words.errors import StoreError

logger = logging.getLogger(__name__)

Connection = psycopg.Connection[DictRow]
Pool = ConnectionPool[Connection]

MIGRATION_LOCK = 8_420_001
"""Key of the advisory lock that one migrating process holds."""

_OPTIONS = (
    "-c timezone=UTC -c application_name=pacewatch -c lock_timeout=10s -c statement_timeout=60s"
    " -c idle_in_transaction_session_timeout=60s"
)

_PATIENCE: dict[str, Any] = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""So that a host that is gone without a word is noticed within a minute; seconds, and ms."""

_WAIT_S = 10.0
"""How long a caller waits for a connection before it is told that Postgres does not answer."""

_NAMED = re.compile(r"^-- name: ([a-z_0-9]+)\n", re.MULTILINE)


def open_pool(url: str, *, size: int = 8) -> Pool:
    """Return an open pool of connections whose rows are dicts; raises StoreError where none
    answers in 10 s.
    """
    pool: Pool = ConnectionPool(
        url,
        min_size=1,
        max_size=size,
        kwargs={"row_factory": dict_row, "options": _OPTIONS, **_PATIENCE},
        check=ConnectionPool.check_connection,
        connection_class=psycopg.Connection[DictRow],
        timeout=_WAIT_S,
        open=False,
    )
    with translated():
        pool.open(wait=True, timeout=10)
    return pool


@contextmanager
def open_store(url: str, *, simulated: bool, size: int = 8) -> Iterator[Pool]:
    """Give a pool on the store, brought to this version's tables, while a process that serves from
    it runs.

    Any number of processes may start at once. Raises StoreError where Postgres does not answer in
    10 s, and for a store that is newer or of the other kind.
    """
    with open_pool(url, size=size) as pool:
        if made := migrate(url):
            log.event(logger, "store.migrated", made=made)
        with pool.connection() as connection:
            require_store(connection, simulated)
        yield pool


@contextmanager
def connect(url: str) -> Iterator[Connection]:
    """Give one connection, whose work is committed at the end and undone by an error.

    Raises StoreError where Postgres does not answer or refuses.
    """
    with (
        translated(),
        psycopg.Connection[DictRow].connect(
            url, row_factory=dict_row, options=_OPTIONS, connect_timeout=10, **_PATIENCE
        ) as connection,
    ):
        yield connection


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
    with translated(), psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        connection.execute("select pg_advisory_lock(%s)", (MIGRATION_LOCK,))
        connection.execute(
            "create table if not exists migration"
            " (name text primary key, made_at timestamptz not null default now())"
        )
        texts = migrations()
        if newer := sorted(_made(connection) - texts.keys()):
            raise StoreError(
                f"the store is of a newer version: it has {newer[-1]}, unknown here "
                "(allowed: a version at least as new as the one that made it)"
            )
        missing = missing_migrations(connection)
        for name in missing:
            with connection.transaction():
                connection.execute(texts[name])
                connection.execute("insert into migration (name) values (%s)", (name,))
        return missing


def missing_migrations(connection: Connection) -> list[str]:
    """Return the migrations of this version that the store lacks, in order."""
    made = _made(connection)
    return [name for name in migrations() if name not in made]


def require_migrated(connection: Connection) -> None:
    """Raise StoreError where the store lacks a migration of this version."""
    if missing := missing_migrations(connection):
        raise StoreError(f"the store lacks migration {missing[0]} (pacewatch migrate makes it)")


def require_store(connection: Connection, simulated: bool) -> None:  # noqa: FBT001 - the store's kind
    """Make sure that the store is migrated and holds this kind of measurements alone.

    A store without a kind takes it. Raises StoreError for a store of the other kind, and for one
    that lacks a migration.
    """
    require_migrated(connection)
    connection.execute(
        "insert into store (simulated) values (%s) on conflict do nothing", (simulated,)
    )
    row = connection.execute("select simulated from store").fetchone()
    if row is None or row["simulated"] != simulated:
        kinds = ("real", "simulated")
        raise StoreError(
            f"the store holds {kinds[not simulated]} measurements and this fleet is "
            f"{kinds[simulated]} (allowed: a database of its own for each)"
        )


def _made(connection: Connection) -> set[str]:
    row = connection.execute("select to_regclass('migration') is not null as there").fetchone()
    if row is None or not row["there"]:
        return set()
    return {row["name"] for row in connection.execute("select name from migration")}


@cache
def migrations() -> dict[str, str]:
    """Return the text of every migration of this version, by name, in order."""
    folder = files("aggregator").joinpath("sql", "migrations")
    found = sorted(
        (entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda e: e.name
    )
    return {entry.name.removesuffix(".sql"): entry.read_text(encoding="utf-8") for entry in found}
