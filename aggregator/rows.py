"""What is read of the store for metrics, board and status, at one moment."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from psycopg import Cursor
from psycopg.rows import class_row

from aggregator.db import Connection, Pool, queries, translated
from pacewatch.words.fleet import Fleet

WAIT_S = 3.0
"""How long a reader waits for a connection before it says that Postgres is away."""

_AT_ONCE = 2_000
"""Rows of a large table that are in memory at once."""

LONGEST_READ_MS = 10_000
"""After this a query is given up: nobody waits longer for a page or a scrape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRow:
    """What the store is."""

    simulated: bool
    catalog_hash: str | None
    ticked_at: datetime | None
    judged_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointRow:
    """What the centre's catalog says of an endpoint."""

    endpoint: str
    provider: str
    provider_name: str
    model: str
    precision: str
    protocol: str
    importance: str
    base_host: str
    location: str | None
    account: str | None
    tier: str | None
    price_input_usd: float | None
    price_output_usd: float | None
    active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesRow:
    """A series with its rolling statistics, its latest run and its counters."""

    series_id: int
    endpoint: str
    region: str
    workload: str
    load: str
    simulated: bool
    runs: int
    requests: int
    good: int
    ttft_s: list[float | None] | None
    answer_s: list[float | None] | None
    output_tokens_per_s: list[float | None] | None
    end_to_end_s: list[float | None] | None
    ttft_runs: int
    ttft_low: float | None
    ttft_high: float | None
    answer_runs: int
    answer_low: float | None
    answer_high: float | None
    speed_runs: int
    speed_low: float | None
    speed_high: float | None
    end_to_end_runs: int
    end_to_end_low: float | None
    end_to_end_high: float | None
    newest_at: datetime | None
    latest_at: datetime | None
    latest_run_id: UUID | None
    latest_outcome: str | None
    latest_ttft_s: float | None
    latest_output_tokens_per_s: float | None
    latest_end_to_end_s: float | None
    last_success_at: datetime | None
    tried: int
    succeeded: int
    definition_low: int | None
    definition_high: int | None
    """Versions of the definitions that measured the runs of the window; None: not noted yet."""

    @property
    def place(self) -> tuple[str, str, bool]:
        """Return the endpoint, the region, and whether it is simulated."""
        return self.endpoint, self.region, self.simulated

    def is_in_window(self, now: datetime, window: timedelta) -> bool:
        """Tell whether the window holds a run at `now`, whoever refreshed the row last."""
        return is_in_window(self.newest_at, now, window)


class ScrapedSeries(NamedTuple):
    """Of a series what metrics tell: a tuple, since there are tens of thousands."""

    endpoint: str
    region: str
    workload: str
    load: str
    simulated: bool
    runs: int
    ttft_s: Sequence[float | None] | None
    answer_s: Sequence[float | None] | None
    output_tokens_per_s: Sequence[float | None] | None
    end_to_end_s: Sequence[float | None] | None
    ttft_runs: int
    answer_runs: int
    speed_runs: int
    end_to_end_runs: int
    newest_at: datetime | None
    latest_at: datetime | None
    latest_ttft_s: float | None
    latest_output_tokens_per_s: float | None
    latest_end_to_end_s: float | None
    last_success_at: datetime | None
    tried: int
    succeeded: int


def is_in_window(newest_at: datetime | None, now: datetime, window: timedelta) -> bool:
    """Tell whether a window holds a run at `now`, by its newest one."""
    return newest_at is not None and newest_at > now - window


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceRow:
    """The counters of an endpoint in a region."""

    endpoint: str
    region: str
    simulated: bool
    recovered: int
    duplicate: int
    cost_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRow:
    """How many requests of an endpoint in a region ended so."""

    endpoint: str
    region: str
    simulated: bool
    outcome: str
    purpose: str
    requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedRow:
    """How many slots of an endpoint in a region nobody ran, for one reason."""

    endpoint: str
    region: str
    simulated: bool
    reason: str
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRow:
    """What a worker's latest heartbeat said."""

    region: str
    worker: str
    version: str
    catalog: str
    last_seen_at: datetime
    clock_offset_s: float
    in_hand: int
    outbox_runs: int
    budget_left_usd: float | None
    rate_limits: list[dict[str, Any]] = field(default_factory=list)
    """By provider, key and unit: `left_ratio`."""
    calibration: dict[str, float | str | None] | None = None
    """What the worker's own calibration found, in its own words; None: it has made none since it
    started.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class TogetherRow:
    """What a parallel series' requests get together, and what its single series' requests get."""

    series_id: int
    system_tokens_per_s: float | None
    system_runs: int
    system_low: float | None
    system_high: float | None
    alone_id: int | None
    """Of the single series; None: nothing of it is in the window."""
    alone_tokens_per_s: float | None
    alone_speed_runs: int
    alone_speed_low: float | None
    alone_speed_high: float | None
    alone_ttft_s: float | None
    alone_ttft_runs: int
    alone_ttft_low: float | None
    alone_ttft_high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclinedRow:
    """How many runs of a provider a region's workers did not make, for one reason."""

    region: str
    provider: str
    reason: str
    runs: int
    ended: int
    """Slots of the provider there that were run or missed in that time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UntoldRow:
    """Notices of incidents that a channel did not take."""

    channel: str
    notices: int
    since: datetime
    error: str
    """Of the last of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeRow:
    """How many notices wait for a channel, and were given up within a day."""

    channel: str
    waiting: int
    given_up: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    """One of the latest runs of a series."""

    series_id: int
    slot_at: datetime
    requests: int
    good: int

    @property
    def has_failed(self) -> bool:
        """Tell whether at least half of its requests ended badly."""
        return 2 * self.good <= self.requests


Row = TypeVar("Row")


@contextmanager
def one_moment(pool: Pool) -> Iterator[Connection]:
    """Give a connection all of whose queries see the store at one moment.

    Raises StoreError where Postgres does not answer in WAIT_S.
    """
    with translated(), pool.connection(timeout=WAIT_S) as connection, connection.transaction():
        connection.execute("set transaction isolation level repeatable read, read only")
        connection.execute(f"set local statement_timeout = {LONGEST_READ_MS}")
        yield connection


def read_rows(connection: Connection, kind: type[Row], query: str, **values: object) -> list[Row]:
    """Return the rows of a query of `read.sql` as values of that kind."""
    with connection.cursor(row_factory=class_row(kind)) as cursor:
        return cursor.execute(queries("read")[query], values, binary=True).fetchall()


def stream_rows(connection: Connection, kind: type[Row], query: str) -> Iterator[Row]:
    """Give the rows of a query of `read.sql`, a few thousand at a time read."""
    with connection.cursor(query, row_factory=class_row(kind)) as cursor:
        cursor.itersize = _AT_ONCE
        yield from cursor.execute(queries("read")[query].rstrip(";"), binary=True)


def stream_series(connection: Connection) -> Iterator[ScrapedSeries]:
    """Give what metrics tell of every series, a few thousand at a time read."""
    with connection.cursor("series", row_factory=_scraped) as cursor:
        cursor.itersize = _AT_ONCE
        yield from cursor.execute(queries("read")["select_scraped_series"], binary=True)


def _scraped(cursor: Cursor[Any]) -> Callable[[Sequence[Any]], ScrapedSeries]:
    return ScrapedSeries._make


def read_store(connection: Connection) -> StoreRow | None:
    """Return what the store is; None where no centre has started on it yet."""
    found = read_rows(connection, StoreRow, "select_store")
    return found[0] if found else None


def is_simulated(store: StoreRow | None, fleet: Fleet) -> bool:
    """Tell whether figures are simulated: as the store holds them, else as the fleet will."""
    return fleet.simulated if store is None else store.simulated


def read_facts(connection: Connection, rows: Iterable[SeriesRow]) -> dict[str, EndpointRow]:
    """Return what the catalog says of the endpoints of these series, by endpoint."""
    names = sorted({row.endpoint for row in rows})
    found = read_rows(connection, EndpointRow, "select_endpoints", endpoints=names)
    return {row.endpoint: row for row in found}


def read_size(connection: Connection) -> int:
    """Return what the database takes on disk, bytes."""
    row = connection.execute(queries("read")["select_size"]).fetchone()
    return int(row["bytes"]) if row else 0
