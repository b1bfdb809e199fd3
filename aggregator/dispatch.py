"""One tick of the dispatcher: plan, claim what is due, send again what was lost, record the missed.

All of it is one transaction under one lock, so any number of dispatchers may tick at once. What is
to be sent is committed as sent first and handed to the broker afterwards: a task that is lost in
between, or by the broker, is found again by the one re-send, as is every other loss.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from aggregator import fleet_sync, slots
from aggregator.db import Connection, Pool, queries, translated
from aggregator.fleet_file import Orders
from aggregator.ledger import Priced, Share, read_spent, share
from pacewatch.words.fleet import Fleet
from pacewatch.words.outcome import Decline
from pacewatch.words.slot import Series, Slot
from pacewatch.words.spending import demand_of

TICK_LOCK = 8_420_003
"""Key of the advisory lock that one ticking dispatcher holds."""

MOST = 500
"""Slots of one kind that one tick takes; the next tick takes the rest."""

NOTHING = Share(granted=(), over=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """What one tick did, committed."""

    planned: int = 0
    sent: tuple[Slot, ...] = ()
    """To be handed to the broker, each once."""
    resent: tuple[Slot, ...] = ()
    """To be handed to the broker for the second and last time."""
    missed: Mapping[str, int] = field(default_factory=dict)
    """By reason."""


def tick(pool: Pool, orders: Orders, now: datetime) -> Tick | None:
    """Do one tick and commit it; None where another dispatcher is at it or has just been.

    The caller sends what it says. Raises StoreError.
    """
    with translated(), pool.connection() as connection, connection.transaction():
        row = connection.execute(queries("slots")["take_tick_lock"], {"key": TICK_LOCK}).fetchone()
        if row is None or not row["taken"]:
            return None
        store = fleet_sync.read_store(connection, simulated=orders.fleet.simulated)
        if _is_recent(store["ticked_at"], now, orders.fleet.schedule.tick_s):
            return None
        return _tick(connection, orders, store, now)


def _is_recent(ticked_at: datetime | None, now: datetime, tick_s: float) -> bool:
    """Tell whether a tick is not due yet, as when ticks had piled up; a clock set back is no
    reason.
    """
    if ticked_at is None:
        return False
    return timedelta() <= now - ticked_at < timedelta(seconds=tick_s / 2)


def _tick(connection: Connection, orders: Orders, store: dict[str, Any], now: datetime) -> Tick:
    fleet = orders.fleet
    new_series: frozenset[Series] = frozenset()
    if store["fleet_hash"] != orders.wanted.fleet_hash:
        new_series = frozenset(fleet_sync.sync(connection, orders.wanted, now))
    planned = slots.plan_first(connection, fleet, new_series, now)
    planned += slots.plan(connection, orders, store, new_series, now)
    resumed_at = resumed(store["ticked_at"], store["resumed_at"], fleet.schedule.fresh_s, now)
    heard = resumed_at is None or now - resumed_at >= timedelta(seconds=fleet.schedule.fresh_s)
    found, paused = _due(connection, now), fleet.paused
    due = _send(connection, fleet, [slot for slot in found if slot.region not in paused], now)
    over = [
        *((slot.run_id, f"declined:{Decline.PAUSED}") for slot in found if slot.region in paused),
        *((priced.slot.run_id, f"declined:{Decline.BUDGET}") for priced in due.over),
    ]
    again = _send_again(connection, fleet, now) if heard else NOTHING
    expired = _expired(connection, fleet, now, settled=heard)
    missed = slots.miss(connection, [*over, *expired], simulated=fleet.simulated)
    connection.execute(queries("slots")["note_tick"], {"now": now, "resumed_at": resumed_at})
    return Tick(
        planned=planned,
        sent=tuple(priced.slot for priced in due.granted),
        resent=tuple(priced.slot for priced in again.granted),
        missed=missed,
    )


def resumed(
    ticked_at: datetime | None, resumed_at: datetime | None, fresh_s: float, now: datetime
) -> datetime | None:
    """Return when the latest time without ticks ended; None: there was none.

    After one the heartbeats in the store are old because nobody took them, not because the
    workers are gone, so for as long as a heartbeat stands nothing is concluded from them.
    """
    if ticked_at is not None and now - ticked_at > timedelta(seconds=fresh_s):
        return now
    return resumed_at


def _due(connection: Connection, now: datetime) -> list[Slot]:
    rows = connection.execute(
        queries("slots")["lock_due_slots"], {"now": now, "most": MOST}
    ).fetchall()
    return [slots.slot_of_row(row) for row in rows]


def _send_again(connection: Connection, fleet: Fleet, now: datetime) -> Share:
    schedule = fleet.schedule
    rows = connection.execute(
        queries("slots")["lock_unanswered_slots"],
        {
            "now": now,
            "sent_before": now - timedelta(seconds=schedule.resend_s),
            "fresh_since": now - timedelta(seconds=schedule.fresh_s),
            "most": MOST,
        },
    ).fetchall()
    lost = [
        slots.slot_of_row(row)
        for row in rows
        if now - row["sent_at"] >= timedelta(seconds=resend_after_s(fleet, row["endpoint"]))
    ]
    return _send(connection, fleet, lost, now)


def resend_after_s(fleet: Fleet, endpoint: str) -> float:
    """Return how long after its first send a slot of the endpoint may be sent again, seconds."""
    known = fleet.catalog.get(endpoint)
    longest = 0.0 if known is None else known.limits.total_s
    return max(fleet.schedule.resend_s, longest)


def _send(connection: Connection, fleet: Fleet, due: Sequence[Slot], now: datetime) -> Share:
    """Mark slots as sent as far as the day's cap allows; a simulated fleet has none."""
    if not due:
        return NOTHING
    shared = share(
        [Priced(slot=slot, cost_usd=cost_of(fleet, slot)) for slot in due],
        spent_usd=0.0 if fleet.simulated else read_spent(connection, now),
        cap_usd=float("inf") if fleet.simulated else fleet.spending.usd_per_day,
    )
    connection.execute(
        queries("slots")["send_slots"],
        {
            "run_id": [priced.slot.run_id for priced in shared.granted],
            "cost_usd": [priced.cost_usd for priced in shared.granted],
            "now": now,
        },
    )
    return shared


def cost_of(fleet: Fleet, slot: Slot) -> float | None:
    """Return what a slot's run is expected to cost, US$; None where no price is known."""
    endpoint, workload = fleet.catalog.get(slot.endpoint), fleet.workloads.get(slot.workload)
    if endpoint is None or workload is None:
        return None
    return demand_of(endpoint, workload, fleet.schedule.requests(slot.load)).usd


def _expired(
    connection: Connection, fleet: Fleet, now: datetime, *, settled: bool
) -> list[tuple[UUID, str]]:
    rows = connection.execute(
        queries("slots")["lock_expired_slots"],
        {
            "now": now,
            "fresh_since": now - timedelta(seconds=fleet.schedule.fresh_s),
            "settled": settled,
            "most": MOST,
        },
    ).fetchall()
    return [(row["run_id"], row["reason"]) for row in rows]
