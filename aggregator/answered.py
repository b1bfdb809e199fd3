"""What answers say of who made them, and when that has changed.

A value that none of an endpoint's answers told for a window is a change once three runs have told
it, where another value was known for a window before. So a fingerprint that goes to and fro between
the same few values, or is another one each time, changes nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from aggregator.db import Connection, queries
from aggregator.measured import Planned
from pacewatch.words.timing import Identity, Run

ENOUGH_RUNS = 3
"""Runs that tell a new value, before it is believed."""

MOST_VALUES = 100
"""Values of a facet that are kept of an endpoint; one that has more tells nothing by a new one."""

RENEW_PART = 72
"""A value's last moment is written anew after so small a part of the window: an hour of 72."""


class Facet(StrEnum):
    """What of an answer's maker is looked at; the value is the word in the store."""

    MODEL = "model"
    FINGERPRINT = "fingerprint"
    TIER = "tier"


Told = tuple[str, Facet, str]
"""Endpoint, facet, value."""


@dataclass(slots=True, kw_only=True)
class Spell:
    """Runs of a batch that told the same."""

    runs: int
    first_at: datetime
    last_at: datetime


@dataclass(slots=True)
class Answered:
    """What the runs of a batch told."""

    spells: dict[Told, Spell] = field(default_factory=dict)

    def add(self, run: Run, planned: Planned) -> None:
        """Add a run; what several of its requests told counts once."""
        at = planned.slot_at
        for facet, value in {told for t in run.timings for told in _told(t.identity)}:
            key = planned.endpoint, facet, value
            spell = self.spells.setdefault(key, Spell(runs=0, first_at=at, last_at=at))
            spell.runs += 1
            spell.first_at, spell.last_at = min(spell.first_at, at), max(spell.last_at, at)

    def write(self, connection: Connection, *, now: datetime, window: timedelta) -> None:
        """Note what is new, and the changes that follow; mostly that is nothing.

        The last that a batch locks: rows are taken in the order of their keys.
        """
        if not self.spells:
            return
        named, keys = queries("answered"), sorted(self._unknown(connection, window))
        if not keys:
            return
        spells = [self.spells[key] for key in keys]
        connection.execute(
            named["note_answered"],
            {
                **_columns(keys),
                "runs": [spell.runs for spell in spells],
                "firsts": [spell.first_at for spell in spells],
                "lasts": [spell.last_at for spell in spells],
                "most": MOST_VALUES,
                "window": window,
            },
        )
        connection.execute(
            named["note_changes"],
            {**_columns(keys), "enough": ENOUGH_RUNS, "window": window, "now": now},
        )

    def _unknown(self, connection: Connection, window: timedelta) -> Iterator[Told]:
        """Give what the store does not know yet, or not of this time."""
        rows = connection.execute(
            queries("answered")["find_answered"], _columns(sorted(self.spells))
        ).fetchall()
        known = {(row["endpoint"], Facet(row["facet"]), row["value"]): row for row in rows}
        for key, spell in self.spells.items():
            row = known.get(key)
            is_fresh = row is not None and spell.last_at - row["last_at"] < window / RENEW_PART
            if row is None or not row["noted"] or not is_fresh:
                yield key


def _told(identity: Identity) -> Iterator[tuple[Facet, str]]:
    for facet in Facet:
        value: str | None = getattr(identity, facet)
        if value:
            yield facet, value


def _columns(keys: list[Told]) -> dict[str, Any]:
    return {
        "endpoints": [endpoint for endpoint, _, _ in keys],
        "facets": [str(facet) for _, facet, _ in keys],
        "values": [value for _, _, value in keys],
    }
