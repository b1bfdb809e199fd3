"""Confirming probes: what a suspicion orders, as slots that the dispatcher's next tick sends."""

from datetime import datetime, timedelta

from aggregator.db import Connection, queries
from aggregator.detect.rules import daily_budget
from aggregator.detect.watch import Watch
from aggregator.fleet_file import Orders
from aggregator.incident_rows import Incidents
from aggregator.ruling import requests_a_day
from aggregator.slots import insert_slots
from pacewatch.words.endpoint import Endpoint
from pacewatch.words.slot import Load, Purpose, Slot, run_id


def order(  # noqa: PLR0913 - who is asked about what, and when
    connection: Connection,
    orders: Orders,
    endpoint: Endpoint,
    watch: Watch,
    incident: int,
    now: datetime,
) -> list[Slot]:
    """Write the probes that are due now as slots; the provider's budget of a day bounds them.

    The caller holds the lock of incidents. Caps in US$ are the dispatcher's.
    """
    schedule, named = orders.fleet.schedule, queries("judge")
    since = now - timedelta(seconds=schedule.day_s)
    row = connection.execute(
        named["select_ordered"],
        {"provider": endpoint.provider, "incident": incident, "since": since},
    ).fetchone()
    of_provider, before = (0, 0) if row is None else (row["of_provider"], row["of_incident"])
    allowed = int(daily_budget(requests_a_day(orders, endpoint.provider))) - of_provider
    wanted = watch.orders(now.timestamp(), allowed)
    slot_at = now.replace(microsecond=0)
    slots = [
        Slot(
            run_id=run_id(
                purpose=Purpose.CONFIRM,
                endpoint=endpoint.id,
                region=one.region,
                workload=one.workload,
                load=Load.SINGLE,
                at=str(incident),
                ordinal=before + number,
            ),
            endpoint=endpoint.id,
            region=one.region,
            workload=one.workload,
            load=Load.SINGLE,
            purpose=Purpose.CONFIRM,
            slot_at=slot_at,
            valid_until=slot_at + timedelta(seconds=schedule.validity_s),
        )
        for number, one in enumerate(wanted)
    ]
    if slots:
        insert_slots(connection, slots)
        connection.execute(
            named["insert_confirm_order"],
            {
                "incident": incident,
                "endpoint": endpoint.id,
                "runs": [slot.run_id for slot in slots],
                "regions": [slot.region for slot in slots],
                "now": now,
            },
        )
        regions = ", ".join(slot.region for slot in slots)
        Incidents(connection, now).event(
            incident, "probes", f"{endpoint.id}: confirming probes ordered from {regions}"
        )
    return slots
