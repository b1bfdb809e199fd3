"""Plans slots into the store: the schedule's up to a horizon, and a new endpoint's first runs."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from aggregator.db import Connection, queries
from aggregator.fleet_file import Orders
from aggregator.schedule import first_slots, slots_between
from pacewatch.words.fleet import Fleet, Schedule
from pacewatch.words.slot import Load, Purpose, Series, Slot

HORIZON_DAYS = 1 / 8
"""How far ahead slots are planned, in days of the schedule."""

_BY_SCHEDULE = [str(Purpose.SCHEDULED), str(Purpose.SENTINEL)]


def plan(
    connection: Connection,
    orders: Orders,
    store: Mapping[str, Any],
    new_series: Collection[Series],
    now: datetime,
) -> int:
    """Insert the slots that the schedule asks for and the store lacks; return how many were asked.

    Slots before now, of a time when the centre was down, are planned too, so that what nobody ran
    is recorded as missed; not those of series that are new. A changed schedule replaces the
    future slots that were not sent. `store` says how far and by which schedule they are planned.
    """
    schedule = orders.fleet.schedule
    horizon = timedelta(seconds=schedule.day_s * HORIZON_DAYS)
    planned_until = store["planned_until"]
    changed = store["schedule_hash"] != orders.schedule_hash
    if not changed and planned_until is not None and planned_until > now + horizon / 2:
        return 0
    start = plan_start(schedule, planned_until=planned_until, changed=changed, now=now)
    slots = [
        slot
        for slot in slots_between(orders.fleet, orders.plan, start, now + horizon)
        if slot.slot_at >= now or series_of(slot, orders.fleet) not in new_series
    ]
    if changed:
        connection.execute(
            queries("slots")["drop_slots"],
            {"purposes": _BY_SCHEDULE, "now": now, "run_id": [slot.run_id for slot in slots]},
        )
    insert_slots(connection, slots)
    connection.execute(
        queries("slots")["note_plan"],
        {"planned_until": now + horizon, "schedule_hash": orders.schedule_hash},
    )
    return len(slots)


def plan_start(
    schedule: Schedule, *, planned_until: datetime | None, changed: bool, now: datetime
) -> datetime:
    """Return from when on slots are to be planned; at most a window behind now."""
    if planned_until is None:
        return now
    behind = max(planned_until, now - timedelta(seconds=schedule.window_s))
    return min(behind, now) if changed else behind


def plan_first(
    connection: Connection, fleet: Fleet, new_series: Iterable[Series], now: datetime
) -> int:
    """Plan one run at once for each new (endpoint, region, workload); return how many."""
    slots = first_slots(fleet, new_series, now)
    insert_slots(connection, slots)
    return len(slots)


def insert_slots(connection: Connection, slots: Collection[Slot]) -> None:
    """Write slots; those that are there stay as they are."""
    if not slots:
        return
    connection.execute(
        queries("slots")["insert_slots"],
        {
            "run_id": [slot.run_id for slot in slots],
            "endpoint": [slot.endpoint for slot in slots],
            "region": [slot.region for slot in slots],
            "workload": [slot.workload for slot in slots],
            "load": [str(slot.load) for slot in slots],
            "purpose": [str(slot.purpose) for slot in slots],
            "slot_at": [slot.slot_at for slot in slots],
            "valid_until": [slot.valid_until for slot in slots],
        },
    )


def series_of(slot: Slot, fleet: Fleet) -> Series:
    """Return the series that a slot's run enters."""
    return Series(
        endpoint=slot.endpoint,
        region=slot.region,
        workload=slot.workload,
        load=slot.load,
        simulated=fleet.simulated,
    )


def slot_of_row(row: dict[str, Any]) -> Slot:
    """Return the slot of a row of the store."""
    return Slot(
        run_id=row["run_id"],
        endpoint=row["endpoint"],
        region=row["region"],
        workload=row["workload"],
        load=Load(row["load"]),
        purpose=Purpose(row["purpose"]),
        slot_at=row["slot_at"],
        valid_until=row["valid_until"],
    )


def miss(
    connection: Connection, missed: Sequence[tuple[UUID, str]], *, simulated: bool
) -> Counter[str]:
    """Record slots as missed, each for its reason, and count them; return how many by reason."""
    if missed:
        connection.execute(
            queries("slots")["miss_slots"],
            {
                "run_id": [run for run, _ in missed],
                "reason": [reason for _, reason in missed],
                "simulated": simulated,
            },
        )
    return Counter(reason for _, reason in missed)
