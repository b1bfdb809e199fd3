"""The one file as the central worker holds it: read at its start, read again when it changed."""

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from aggregator.fleet_sync import Wanted, wanted_rows
from aggregator.plan import Plan, make_plan
from aggregator.schedule import slots_between
from pacewatch import log
from pacewatch.config import load_fleet
from pacewatch.words.errors import SettingsError
from pacewatch.words.fleet import Fleet

logger = logging.getLogger(__name__)

_REFERENCE_DAY = datetime(2026, 1, 1, tzinfo=UTC)
_REFERENCE_DAYS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """What the dispatcher works by: a fleet, and what follows from it, reckoned once."""

    fleet: Fleet
    plan: Plan
    wanted: Wanted
    schedule_hash: str
    """Over rates and slots of two fixed days: whatever moves, adds or removes a slot changes it."""


def orders_of(fleet: Fleet) -> Orders:
    """Return the orders of a fleet."""
    plan = make_plan(fleet)
    end = _REFERENCE_DAY + timedelta(seconds=fleet.schedule.day_s * _REFERENCE_DAYS)
    slots = sorted(
        f"{slot.run_id} {(slot.valid_until - slot.slot_at).total_seconds()}"
        for slot in slots_between(fleet, plan, _REFERENCE_DAY, end)
    )
    # what comes on one of many days only may be on neither of these
    rates = sorted(
        f"{row.endpoint} {row.single} {row.parallel} {row.sentinel_s}" for row in plan.rows.values()
    )
    return Orders(
        fleet=fleet,
        plan=plan,
        wanted=wanted_rows(fleet),
        schedule_hash=hashlib.sha256("\n".join((*slots, *rates)).encode()).hexdigest()[:16],
    )


class FleetFile:
    """The file, and the last good reading of it."""

    def __init__(self, path: Path | None, environment: Mapping[str, str], now: datetime) -> None:
        """Read the file; raises SettingsError with all its faults."""
        self._path, self.environment = path, environment
        self._seen = self._mark(now)
        self._orders = self._read(now)

    def current(self, now: datetime) -> Orders:
        """Return the orders of the file as it is; where it cannot be read, those before it.

        The file is read again where it changed, and on each new UTC day, since an endpoint's
        service may have an end. What is wrong with it is logged once a change.
        """
        mark = self._mark(now)
        if mark != self._seen:
            self._seen = mark
            self._read_again(now)
        return self._orders

    def _read(self, now: datetime) -> Orders:
        today = now.astimezone(UTC).date()
        return orders_of(load_fleet(self._path, self.environment, today=today))

    def _read_again(self, now: datetime) -> None:
        try:
            orders = self._read(now)
        except SettingsError as error:
            log.event(
                logger,
                "fleet.unreadable",
                level=logging.WARNING,
                file=str(self._path),
                faults=list(error.faults),
                kept="the last good reading",
            )
            return
        if orders.schedule_hash != self._orders.schedule_hash:
            log.event(logger, "fleet.changed", schedule=orders.schedule_hash)
        self._orders = orders

    def _mark(self, now: datetime) -> tuple[date, tuple[int, int, int] | None]:
        day = now.astimezone(UTC).date()
        if self._path is None:
            return day, None
        try:
            status = self._path.stat()
        except OSError:
            return day, None
        return day, (status.st_mtime_ns, status.st_size, status.st_ino)
