"""Calibration of judging on the fleet's own quiet time: read, reckoned, stored.

Quiet are all days but those of a confirmed incident that somebody acknowledged or accepted: what
nobody took as real is what thresholds are to keep still.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from aggregator.backtest.tallest import Tallest
from aggregator.db import Connection, queries, translated
from aggregator.detect.calibrate import allowed_in, multiplier_of
from aggregator.detect.watch import Watch
from aggregator.fleet_file import Orders
from aggregator.history import read_history
from aggregator.ruling import rules_of
from pacewatch.words.endpoint import Importance

LEARNT_DAYS = 16
"""Days of the schedule until an endpoint's season is known."""

LEAST_WEEKS, MOST_WEEKS = 4, 26
"""Quiet weeks of each endpoint, on the mean, that are enough; and that are looked at."""

REALITY_LASTS_DAYS = 1
"""After an incident that was real a day more is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What quiet time says of the thresholds."""

    endpoints: tuple[str, ...]
    """Those of importance `page`."""
    quiet_days: int
    """Of all endpoints together, from when their season was known."""
    left_out_days: int
    """Those of incidents that were real."""
    false_pages_a_month: float
    multiplier: float | None
    """None: there is too little quiet history."""
    highest: tuple[tuple[str, datetime, float], ...] = ()
    """The highest days: endpoint, day, share of today's threshold as the code has it."""

    @property
    def weeks(self) -> float:
        """Return the quiet weeks of an endpoint, on the mean."""
        return self.quiet_days / 7 / max(1, len(self.endpoints))


def calibrate(connection: Connection, orders: Orders, now: datetime) -> Calibration:
    """Return what the stored quiet time says; raises StoreError."""
    paging = [e.id for e in orders.fleet.endpoints if e.importance is Importance.PAGE]
    day_s = orders.fleet.schedule.day_s
    since = now - timedelta(seconds=day_s * (LEARNT_DAYS + 7 * MOST_WEEKS))
    tallest = {
        endpoint: Tallest(Watch(replace(rules_of(orders, endpoint), muted=True)))
        for endpoint in paging
    }
    with translated():
        for told in read_history(connection, orders.fleet, paging, since, now):
            tallest[told.endpoint].take([told.evidence], told.received_at.timestamp())
        real = _real_days(connection, day_s, now)
    quiet = [
        (endpoint, day, share) for endpoint, one in tallest.items() for day, share in _learnt(one)
    ]
    kept = [peak for peak in quiet if peak[:2] not in real]
    found = Calibration(
        endpoints=tuple(paging),
        quiet_days=len(kept),
        left_out_days=len(quiet) - len(kept),
        false_pages_a_month=orders.fleet.false_pages_a_month,
        multiplier=None,
        highest=_highest(kept, day_s, now),
    )
    if found.weeks < LEAST_WEEKS:
        return found
    allowed = allowed_in(found.weeks, orders.fleet.false_pages_a_month)
    return replace(found, multiplier=multiplier_of([s for *_, s in kept], allowed=allowed))


def store(connection: Connection, found: Calibration, now: datetime) -> None:
    """Have the judge go by a calibration from its next tick on; raises StoreError."""
    with translated(), connection.transaction():
        connection.execute(
            queries("history")["insert_calibration"],
            {
                "now": now,
                "multiplier": found.multiplier,
                "quiet_days": found.quiet_days,
                "false_pages_a_month": found.false_pages_a_month,
            },
        )


def read_multiplier(connection: Connection) -> float:
    """Return what thresholds are multiplied by: the latest calibration's, else 1."""
    row = connection.execute(queries("history")["select_calibration"]).fetchone()
    return 1.0 if row is None else float(row["multiplier"])


def _learnt(tallest: Tallest) -> list[tuple[int, float]]:
    """Return the days from when the season was known."""
    first = min(tallest.days, default=0)
    return [(day, s) for day, s in sorted(tallest.days.items()) if day >= first + LEARNT_DAYS]


def _real_days(connection: Connection, day_s: int, now: datetime) -> set[tuple[str, int]]:
    """Return the days of each endpoint that had an incident that was real."""
    found: set[tuple[str, int]] = set()
    for row in connection.execute(queries("history")["select_taken_as_real"], {"now": now}):
        first, last = (int(row[key].timestamp() / day_s) for key in ("since", "until"))
        found |= {(row["endpoint"], day) for day in range(first, last + REALITY_LASTS_DAYS + 1)}
    return found


def _highest(
    peaks: Iterable[tuple[str, int, float]], day_s: int, now: datetime
) -> tuple[tuple[str, datetime, float], ...]:
    ordered = sorted(peaks, key=lambda peak: -peak[2])[:5]
    return tuple(
        (endpoint, datetime.fromtimestamp(day * day_s, now.tzinfo), share)
        for endpoint, day, share in ordered
    )
