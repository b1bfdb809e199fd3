"""The worker's own folder: one SQLite file that journal, outbox and ledger share, and its lock.

Every commit is on the disk when it returns (WAL, synchronous FULL). One connection serves all
threads of the worker, one at a time; one process holds the folder, and the kernel lets go of it
when that process dies.
"""

import fcntl
import logging
import os
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from pacewatch.log import event
from pacewatch.words.errors import SettingsError, StoreError

logger = logging.getLogger(__name__)

LAYOUT = 2
"""Version of the tables below; an older one is brought up to it, a newer one refused."""

_SPOILT = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
_UNFIT = re.compile(r"[^A-Za-z0-9._-]")
_KIND = {True: "simulated", False: "real"}

_TABLES = """
create table if not exists note (name text primary key, value text not null) without rowid;

-- every run that was started; `lost` is what is reported where it is not finished
create table if not exists journal (
    place integer primary key,
    run_id blob not null unique,
    started_at text not null,
    execution blob not null,
    lost blob
);
create index if not exists journal_open on journal (place) where lost is not null;

-- finished runs that the centre has not committed; `record` is JSON, zlib
create table if not exists outbox (
    place integer primary key,
    execution blob not null unique,
    run_id blob not null,
    unpacked_bytes integer not null,
    packed_bytes integer not null,
    record blob not null
);
create index if not exists outbox_run on outbox (run_id, packed_bytes);

create table if not exists refused (
    place integer primary key,
    execution blob not null,
    run_id blob not null,
    refused_at text not null,
    reason text not null,
    record blob not null
);

-- what runs of a UTC day asked for: as expected until they are settled
create table if not exists spent (
    day text not null,
    execution blob not null,
    usd real not null,
    provider text not null default '',
    requests integer not null default 0,
    tokens integer not null default 0,
    primary key (day, execution)
) without rowid;

-- what a provider said to be left of a rate limit, until it is whole again
create table if not exists headroom (
    provider text not null,
    key_name text not null,              -- of the variable, never the key
    model text not null,
    unit text not null,                  -- requests or tokens
    left_ratio real not null,
    whole_at text not null,
    primary key (provider, key_name, model, unit)
) without rowid;
"""

_UPGRADES = {
    1: """
alter table spent add column provider text not null default '';
alter table spent add column requests integer not null default 0;
alter table spent add column tokens integer not null default 0;
"""
}
"""What brings a folder of an older layout to the next."""


class Disk:
    """The worker's file, held by this process; `with` closes it."""

    def __init__(self, folder: Path, *, simulated: bool) -> None:
        """Make the folder where there is none, and hold it.

        A spoilt file is set aside under another name, told in the log, and a new one begun. Raises
        StoreError where another worker holds it or it cannot be written, SettingsError where it is
        of another layout or kind.
        """
        self.folder = folder
        self.mutex = threading.RLock()
        self._depth = 0
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = _hold(folder)
        except OSError as error:
            raise StoreError(
                f"{folder}: {error.strerror} (allowed: a state folder that this user may write; "
                "PACEWATCH_STATE names it)"
            ) from error
        try:
            self._connection = self._open()
            self._check(_KIND[simulated])
        except BaseException:
            os.close(self._lock)
            raise

    def __enter__(self) -> Self:
        """Return the disk."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file and let go of the folder."""
        self.close()

    def close(self) -> None:
        """Close the file and let go of the folder."""
        with self.mutex:
            self._connection.close()
            os.close(self._lock)

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Give the connection inside a transaction that is on the disk when the block ends.

        A block inside a block is part of the outer one. Raises StoreError where the disk fails.
        """
        with self.mutex, self._translated():
            if self._depth:
                yield self._connection
                return
            self._connection.execute("begin immediate")
            self._depth = 1
            try:
                yield self._connection
                self._connection.execute("commit")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("rollback")
                raise
            finally:
                self._depth = 0

    def read(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query; raises StoreError where the disk fails."""
        with self.mutex, self._translated():
            return self._connection.execute(query, values).fetchall()

    def note(self, name: str) -> str | None:
        """Return what was noted under the name."""
        rows = self.read("select value from note where name = ?", name)
        return rows[0][0] if rows else None

    def keep_note(self, name: str, value: str) -> None:
        """Note a value under the name."""
        with self.write() as connection:
            connection.execute("insert or replace into note values (?, ?)", (name, value))

    def free_bytes(self) -> int:
        """Return how much room the file system has for this user."""
        try:
            found = os.statvfs(self.folder)
        except OSError as error:
            raise StoreError(f"{self.folder}: {error.strerror}") from error
        return found.f_bavail * found.f_frsize

    def worker_id(self, host: str) -> str:
        """Return the worker's id: the host's name and six digits, the same for as long as the
        folder stays.
        """
        found = self.note("worker")
        if found is None:
            found = f"{_UNFIT.sub('-', host)[:40] or 'host'}-{uuid4().hex[:6]}"
            self.keep_note("worker", found)
        return found

    def _open(self) -> sqlite3.Connection:
        file = self.folder / "worker.sqlite"
        with self._translated():
            try:
                return _connect(file)
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorcode not in _SPOILT:
                    raise
                why = str(error)
            _set_aside(file, why)
            return _connect(file)

    def _check(self, kind: str) -> None:
        layout = self.read("pragma user_version")[0][0]
        if layout > LAYOUT:
            raise SettingsError(
                f"{self.folder}: the worker's folder is of layout {layout}, this version's is "
                f"{LAYOUT} (allowed: the version that made it, or a new folder)"
            )
        with self.mutex, self._translated():
            upgrades = "".join(_UPGRADES[n] for n in range(layout or LAYOUT, LAYOUT))
            self._connection.executescript(
                f"begin;{upgrades}{_TABLES}pragma user_version = {LAYOUT};commit;"
            )
        found = self.note("kind")
        if found is None:
            self.keep_note("kind", kind)
        elif found != kind:
            raise SettingsError(
                f"{self.folder}: the worker's folder holds {found} runs, and {kind} ones never "
                "meet them (allowed: a folder of their own; PACEWATCH_STATE names it)"
            )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"{self.folder}: the worker's disk failed: {error}") from error


def _connect(file: Path) -> sqlite3.Connection:
    """Return a connection to a file that was looked through; raises DatabaseError."""
    connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = full")
        connection.execute("pragma cache_size = -1024")
        ((found,),) = connection.execute("pragma quick_check(1)").fetchall()
        if found != "ok":
            raise _spoilt(found)
    except BaseException:
        connection.close()
        raise
    return connection


def _spoilt(found: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(found)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def _set_aside(file: Path, why: str) -> None:
    """Rename a spoilt file with what belongs to it, so that the worker can begin a new one."""
    name = f"{file.name}.spoilt-{uuid4().hex[:6]}"
    for ending in ("", "-wal", "-shm"):
        part = file.with_name(file.name + ending)
        if part.exists():
            part.rename(file.with_name(name + ending))
    event(
        logger,
        "disk.set_aside",
        level=logging.ERROR,
        file=str(file.with_name(name)),
        reason=why[:200],
        holds="finished runs that were not pushed, the journal, and what was spent today",
    )


def _hold(folder: Path) -> int:
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.read(descriptor, 20).decode("ascii", "replace")
        os.close(descriptor)
        raise StoreError(
            f"{folder}: another worker of the region (process {holder or 'unknown'}) works from "
            "this folder (allowed: one worker a state folder; PACEWATCH_STATE names another)"
        ) from error
    os.truncate(descriptor, 0)
    os.write(descriptor, str(os.getpid()).encode())
    return descriptor
