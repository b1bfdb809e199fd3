"""A store of a given size in an embedded Postgres of its own, filled by SQL."""

import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
from support.servers import embedded_postgres

from aggregator import db, rolling
from aggregator.partitions import make_days
from pacewatch.words.outcome import MISSED_REASONS

WINDOW = timedelta(hours=72)

_AT_ONCE = timedelta(days=20)
"""Each day is three tables with their indexes, all of them locked to the end of the transaction."""

_WRITERS = 2
"""Parts of the history that are written at the same time."""

_NAMED = re.split(
    r"^-- name: (\w+)\n", Path(__file__).with_name("fill.sql").read_text("utf-8"), flags=re.M
)[1:]
QUERIES = dict(zip(_NAMED[::2], _NAMED[1::2], strict=True))


@dataclass(frozen=True, kw_only=True)
class Size:
    """How large the fleet is."""

    endpoints: int
    regions: int
    days: float = 3.0
    """Of history."""


@dataclass(frozen=True, kw_only=True)
class Store:
    """A filled store."""

    url: str
    pool: db.Pool
    now: datetime
    size: Size


@contextmanager
def filled_store(size: Size) -> Iterator[Store]:
    """Give a store of that size, as it is `now`; it goes afterwards."""
    now = datetime.now(UTC).replace(microsecond=0)
    with embedded_postgres() as url:
        db.migrate(url)
        with db.open_pool(url, size=8) as pool:
            with pool.connection() as connection:
                db.require_store(connection, simulated=False)
            fill(pool, url, size, now)
            yield Store(url=url, pool=pool, now=now, size=size)


def fill(pool: db.Pool, url: str, size: Size, now: datetime) -> None:
    """Fill an empty store, statistics and all."""
    values = {
        "now": now,
        "endpoints": size.endpoints,
        "regions": size.regions,
        "reasons": list(MISSED_REASONS),
    }
    with psycopg.connect(url) as connection:
        for name in ("endpoints", "versions", "series", "statistics", "counters"):
            connection.execute(QUERIES[name], values)
        connection.execute("update store set window_s = 259200, catalog_hash = 'bench'")
    add_history(pool, url, since=now - timedelta(days=size.days), until=now)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(QUERIES["latest"], {"since": now - WINDOW})
    rolling.refresh_all(pool, now=now, window=WINDOW)
    settle(url)


def settle(url: str) -> None:
    """Have what was filled in counted and written, so that no figure pays for it."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum analyze")
        connection.execute("checkpoint")


def add_history(pool: db.Pool, url: str, *, since: datetime, until: datetime) -> None:
    """Add the runs of a time, with their requests and slots."""
    started, parts = time.monotonic(), []
    while since < until:
        end = min(since + _AT_ONCE, until)
        with pool.connection() as connection:
            days = range((end - since).days + 2)
            make_days(connection, [(since + timedelta(days=n)).date() for n in days])
        parts.append((since, end))
        since = end

    def add(part: tuple[datetime, datetime]) -> str:
        asked = {"since": part[0], "until": part[1]}
        with psycopg.connect(url) as connection:
            done = [
                f"{connection.execute(QUERIES[name], asked).rowcount:,} {name}"
                for name in ("runs", "timings", "slots")
            ]
        return ", ".join(done)

    with ThreadPoolExecutor(_WRITERS) as writers:
        for done in writers.map(add, parts):
            say(f"  {done}, {time.monotonic() - started:.0f} s")


def say(text: str) -> None:
    """Tell how far it is, beside the figures."""
    sys.stderr.write(text + "\n")
