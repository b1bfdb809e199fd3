"""The day's ledger: what the fleet may still be asked for, in US$ as reckoned before it is sent."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from aggregator.db import Connection, queries
from pacewatch.words.slot import Slot

_PARTS_OF_A_CENT = 1e-9
"""What sums of floats may be off by, US$."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """A slot and what its run is expected to cost."""

    slot: Slot
    cost_usd: float | None
    """None: no price is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What of the asked slots the cap lets through."""

    granted: tuple[Priced, ...]
    over: tuple[Priced, ...]


def day_start(now: datetime) -> datetime:
    """Return the start of the UTC day of a moment."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def read_spent(connection: Connection, now: datetime) -> float:
    """Return the US$ that what was sent this UTC day is reckoned at; a slot sent twice counts
    twice.
    """
    row = connection.execute(
        queries("slots")["read_spent"], {"day_start": day_start(now)}
    ).fetchone()
    return 0.0 if row is None else float(row["spent_usd"])


def share(asked: Iterable[Priced], *, spent_usd: float, cap_usd: float) -> Share:
    """Return which slots fit under the cap, in the order they are asked.

    One that costs too much does not keep back a cheaper one after it, and one without a known
    price costs nothing here.
    """
    granted, over = [], []
    for priced in asked:
        cost = priced.cost_usd or 0.0
        if cost and spent_usd + cost > cap_usd + _PARTS_OF_A_CENT:
            over.append(priced)
        else:
            granted.append(priced)
            spent_usd += cost
    return Share(granted=tuple(granted), over=tuple(over))
