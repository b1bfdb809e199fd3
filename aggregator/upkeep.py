"""What the store needs each minute: partitions ahead and behind, windows that age, late knowledge.

Everything here may be repeated, and done by two at once: the second finds nothing to do.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from psycopg_pool import PoolTimeout

from aggregator import rolling
from aggregator.admission import Pushed, Result, Status, read_pushed
from aggregator.days import roll_up
from aggregator.db import Connection, Pool, queries, translated
from aggregator.ingest import take_in
from aggregator.intake import knowledge
from aggregator.partitions import days_ahead, drop_old_days, make_days
from aggregator.reading import unpacked
from pacewatch import log
from pacewatch.words.errors import StoreError, WireError
from pacewatch.words.fleet import Fleet

logger = logging.getLogger(__name__)

Given = TypeVar("Given")

KEPT_WORKERS = timedelta(days=7)
"""How long a silent worker is shown, where its region has been heard of since."""

KEPT_OTHERS = timedelta(hours=1)
"""How long a silent worker is shown whose region is not in the file."""

LEAP = timedelta(days=7)
"""Upkeep that comes so long after the one before, or before it, may have a clock that is wrong."""

STEADY = timedelta(days=1)
"""How long after a leap nothing is deleted: a clock that was set wrong would take the history."""

_SLOTS_AT_ONCE = 10_000
_ASIDE_AT_ONCE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What one upkeep did."""

    made: tuple[str, ...]
    """Partitions."""
    dropped: tuple[str, ...]
    refreshed: int
    """Series whose window had lost a run."""
    taken_up: int
    """Records that had been put aside and are known now."""
    rolled_up: int
    """Days whose statistics were made."""


class _Tries:
    """Parts that are done although another one has failed, unless Postgres is not there at all."""

    def __init__(self) -> None:
        self.failed: list[StoreError] = []

    def give(self, part: Callable[[], Given]) -> Given | None:
        """Return what the part gives; None where the store failed it."""
        try:
            return part()
        except StoreError as error:
            if isinstance(error.__cause__, PoolTimeout):
                raise
            self.failed.append(error)
            return None


def keep_up(pool: Pool, fleet: Fleet, now: datetime) -> Kept:
    """Do whatever is to be done by now; raises StoreError where Postgres does not do its part.

    A part that fails keeps none of the others from its turn, however long it goes on failing: on a
    full disk room is made all the same. What is too old is deleted only once upkeep has gone on for
    a day without a leap of its clock.
    """
    tries = _Tries()
    since = kept_up_since(pool, now)
    made = tries.give(lambda: make_ahead(pool, fleet, now)) or []
    refreshed = tries.give(lambda: age_windows(pool, fleet, now)) or 0
    taken_up = tries.give(lambda: take_up_aside(pool, fleet, now)) or 0
    rolled_up = tries.give(lambda: roll_up(pool, fleet.retention, now)) or 0
    is_steady = now - since >= STEADY
    dropped = (tries.give(lambda: drop_old(pool, fleet, now)) if is_steady else None) or []
    noted = {"now": now, "since": since, "finished": not tries.failed}
    with translated(), pool.connection() as connection:
        connection.execute(queries("upkeep")["note_upkeep"], noted)
    if tries.failed:
        raise tries.failed[0]
    return Kept(
        made=tuple(made),
        dropped=tuple(dropped),
        refreshed=refreshed,
        taken_up=taken_up,
        rolled_up=rolled_up,
    )


def kept_up_since(pool: Pool, now: datetime) -> datetime:
    """Return since when upkeep has gone on without a leap of the clock; now, where it leaps now."""
    with translated(), pool.connection() as connection:
        row = connection.execute(queries("upkeep")["find_upkeep"]).fetchone()
    if row is None or row["kept_up_since"] is None or abs(now - row["upkeep_at"]) >= LEAP:
        return now
    since: datetime = row["kept_up_since"]
    return min(now, since)


def make_ahead(pool: Pool, fleet: Fleet, now: datetime) -> list[str]:
    """Make the partitions of the days that come; return their names."""
    with translated(), pool.connection() as connection:
        return make_days(connection, days_ahead(now))


def drop_old(pool: Pool, fleet: Fleet, now: datetime) -> list[str]:
    """Drop partitions, slots, executions and workers that are too old; return the partitions'
    names.
    """
    named, retention = queries("upkeep"), fleet.retention
    before = now - retention.timings
    with translated(), pool.connection() as connection:
        dropped = drop_old_days(connection, retention, now)
        while True:
            with connection.transaction():
                deleted = connection.execute(
                    named["delete_old_slots"], {"before": before, "limit": _SLOTS_AT_ONCE}
                ).rowcount
            if deleted < _SLOTS_AT_ONCE:
                break
        for name in ("delete_old_unrun", "delete_old_aside", "delete_old_duplicates"):
            with connection.transaction():
                connection.execute(named[name], {"before": before})
        with connection.transaction():
            connection.execute(queries("answered")["delete_old_changes"], {"before": before})
        with connection.transaction():
            window = timedelta(seconds=fleet.schedule.window_s)
            connection.execute(queries("answered")["delete_old_answered"], {"before": now - window})
        _drop_judged(connection, fleet, now)
        with connection.transaction():
            connection.execute(named["delete_old_workers"], {"before": now - KEPT_WORKERS})
            others = {"regions": sorted(fleet.regions), "before": now - KEPT_OTHERS}
            connection.execute(named["delete_other_workers"], others)
        if retention.rollups_days is not None:
            old = now.date() - timedelta(days=retention.rollups_days)
            with connection.transaction():
                connection.execute(queries("days")["delete_old_days"], {"before": old})
    return dropped


def _drop_judged(connection: Connection, fleet: Fleet, now: datetime) -> None:
    """Delete ended incidents with the runs they were made of, and what judging needs no more."""
    window = now - timedelta(seconds=fleet.schedule.window_s)
    for name, before in {
        "delete_old_incidents": now - fleet.retention.timings,
        "delete_old_judgements": now - fleet.retention.timings,
        "delete_old_silences": now - fleet.retention.timings,
        "delete_old_advisories": window,
        "delete_unjudged": window,
    }.items():
        with connection.transaction():
            connection.execute(queries("incidents")[name], {"before": before})


def age_windows(pool: Pool, fleet: Fleet, now: datetime) -> int:
    """Recompute the series whose window has lost a run; all of them after the window's length
    changed. Returns how many they were.
    """
    window_s = fleet.schedule.window_s
    window = timedelta(seconds=window_s)
    with translated(), pool.connection() as connection:
        row = connection.execute(queries("upkeep")["find_window"]).fetchone()
    if row is None or row["window_s"] == window_s:
        return rolling.refresh_aged(pool, now=now, window=window)
    refreshed = rolling.refresh_all(pool, now=now, window=window).series
    with translated(), pool.connection() as connection:
        connection.execute(queries("upkeep")["note_window"], {"window_s": window_s})
    return refreshed


def take_up_aside(pool: Pool, fleet: Fleet, now: datetime) -> int:
    """Take in what was put aside by a version or a catalog that did not know it; return how many
    records are known now. Each is tried once by each version and catalog; one that is damaged is
    told, and stays.
    """
    window, taken_up = timedelta(seconds=fleet.schedule.window_s), 0
    with translated(), pool.connection() as connection:
        while True:
            with connection.transaction():
                tried_with = knowledge(connection)
                rows = connection.execute(
                    queries("upkeep")["find_aside"],
                    {"tried_with": tried_with, "limit": _ASIDE_AT_ONCE},
                ).fetchall()
            if not rows:
                return taken_up
            batch, damaged = _read_aside(rows)
            results = take_in(connection, batch, now=now, window=window)
            with connection.transaction():
                taken_up += _settle(connection, [*results, *damaged], tried_with)


def _read_aside(rows: Sequence[Mapping[str, Any]]) -> tuple[list[Pushed], list[Result]]:
    """Return the records that can be read, and for the others what is said of each."""
    batch, damaged = list[Pushed](), list[Result]()
    for row in rows:
        try:
            batch.append(read_pushed(unpacked(row["record"]), row["region"]))
        except WireError as error:
            facts = {"execution": str(row["execution"]), "region": row["region"], "why": str(error)}
            log.event(logger, "aside.damaged", level=logging.ERROR, **facts)
            left = Result(
                run=None, execution=facts["execution"], status=Status.ASIDE, reason=facts["why"]
            )
            damaged.append(left)
    return batch, damaged


def _settle(connection: Connection, results: list[Result], tried_with: str) -> int:
    """Take out what was taken in; of the rest, note why not and by whom."""
    left = [r for r in results if r.status in (Status.ASIDE, Status.REFUSED)]
    known = [r.execution for r in results if r not in left]
    connection.execute(queries("upkeep")["delete_aside"], {"executions": known})
    connection.execute(
        queries("upkeep")["mark_aside"],
        {
            "executions": [result.execution for result in left],
            "reasons": [result.reason for result in left],
            "tried_with": tried_with,
        },
    )
    return len(known)
