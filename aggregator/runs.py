"""One run as the store has it: its slot, the execution that won with its requests, and those that
took no part in the figures.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from aggregator.db import Connection, queries
from aggregator.reading import read_record, unpacked
from pacewatch.words.errors import WireError
from pacewatch.words.timing import Run

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRun:
    """A slot and what was done for it; rows have the names of the store's columns."""

    slot: Row
    won: Row | None
    """The execution whose figures count; None: none came in yet."""
    timings: Sequence[Row]
    """Its requests, in order."""
    record: Run | None
    """What its worker saw, chunk by chunk; None where that is not kept any more, or of a version
    that only a newer centre beside this one reads.
    """
    unrun: Sequence[Row]
    """Executions that measured nothing: declined, or failed by a fault of our own."""
    duplicates: Sequence[Row]
    """Executions that came after the one that won."""
    aside: Sequence[Row]
    """Executions whose records are kept and not known here yet, each with the reason."""


def read_run(connection: Connection, run_id: UUID) -> OneRun | None:
    """Return the run of that id; None for one that was never planned, or is no longer kept."""
    slots = _rows(connection, "select_run_slot", run=run_id)
    if not slots:
        return None
    (slot,) = slots
    place = {"run": run_id, "slot_at": slot["slot_at"]}
    won = _rows(connection, "select_run", **place)
    records = _rows(connection, "select_timeline", **place)
    return OneRun(
        slot=slot,
        won=won[0] if won else None,
        timings=_rows(connection, "select_run_timings", **place),
        record=_read(records[0]["record"]) if records else None,
        unrun=_rows(connection, "select_unrun", run=run_id),
        duplicates=_rows(connection, "select_duplicates", run=run_id),
        aside=_rows(connection, "select_aside", run=run_id),
    )


def _read(record: bytes) -> Run | None:
    try:
        return read_record(unpacked(record))
    except WireError:
        return None


def _rows(connection: Connection, name: str, **values: object) -> list[Row]:
    return connection.execute(queries("runs")[name], values).fetchall()
