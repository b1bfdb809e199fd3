"""Our own workers under suspicion: a calibration over its limit, or flags on their latest runs.

Either opens an incident of class `prober` of the worker's region by itself, which eases when
neither holds any more, or nothing is heard of the region. A worker that has not calibrated since it
started neither opens one nor eases one: how exact it is is not known yet.
"""

from collections.abc import Iterable, Set
from datetime import datetime, timedelta

from aggregator import telling
from aggregator.db import Connection, queries
from aggregator.fleet_file import Orders
from aggregator.incident_rows import Incidents
from pacewatch.words.endpoint import Importance
from pacewatch.words.verdict import UnusualEnd

Worker = tuple[str, str]
"""Region and id."""


def find_doubted(connection: Connection, orders: Orders, now: datetime) -> frozenset[str]:
    """Return the regions that have a worker whose own calibration is over its limit."""
    since = {"fresh_since": _fresh_since(orders, now)}
    rows = connection.execute(queries("judge")["find_doubted"], since)
    return frozenset(row["region"] for row in rows if row["region"] in orders.fleet.regions)


def follow_probers(
    connection: Connection,
    orders: Orders,
    doubted: frozenset[str],
    flagged: Iterable[Worker],
    now: datetime,
) -> None:
    """Open, ease and reopen the incidents of our own workers.

    `doubted` are the regions by calibration, `flagged` workers whose latest runs have flags.
    """
    incidents = Incidents(connection, now)
    with connection.transaction():
        held = {row["region"]: row for row in incidents.rows("find_of_probers")}
        workers = sorted({*flagged, *_workers_of(connection, held.keys())})
        if not (doubted or workers):
            return
        incidents.lock()
        held = {row["region"]: row for row in incidents.rows("find_of_probers")}
        found = dict.fromkeys(
            _flagged_regions(connection, orders, workers, now),
            "three of a worker's latest ten runs are flagged by itself",
        ) | dict.fromkeys(doubted, "a worker's own calibration is over its limit")
        for region, why in sorted(found.items()):
            _stand(incidents, orders, region, why, held.get(region))
        heard, unknown = _heard(connection, orders, now), _unknown(connection, orders, now)
        for region in sorted(held.keys() - found.keys() - unknown):
            _ease(incidents, held[region], *_eased(region, orders, heard))


def _stand(
    incidents: Incidents, orders: Orders, region: str, why: str, held: dict[str, object] | None
) -> None:
    told = f"workers of {region}: {why}"
    if held is None:
        order = list(Importance)
        gravest = min((e.importance for e in orders.fleet.endpoints), key=order.index)
        row = incidents.rows(
            "insert_of_probers",
            region=region,
            importance=str(gravest),
            simulated=orders.fleet.simulated,
            why=[why],
        )[0]
        incidents.event(row["incident_id"], "confirmed", told)
    elif held["state"] == "eased":
        incidents.run("reopen_incident", incident=held["incident_id"])
        incidents.event(int(str(held["incident_id"])), "again", told)


def _ease(
    incidents: Incidents, held: dict[str, object], why: str, unusual: UnusualEnd | None
) -> None:
    """Ease an incident; one that eased since nothing was heard, and is well now, eases as usual."""
    incident = int(str(held["incident_id"]))
    if incidents.rows("ease_of_probers", incident=incident, unusual=unusual):
        incidents.event(incident, "eased", why)
    elif unusual is None and held["unusual_end"] == UnusualEnd.UNHEARD:
        incidents.hear(incident, f"heard again, and {why}")


def _eased(region: str, orders: Orders, heard: Set[str]) -> tuple[str, UnusualEnd | None]:
    """Return why a region's workers are no longer in doubt, and what is unusual about that."""
    if region not in orders.fleet.regions:
        return telling.left(region), UnusualEnd.LEFT
    if region not in heard:
        return telling.unheard((region,), frozenset(), is_all=True), UnusualEnd.UNHEARD
    return "its timings are exact again", None


def _heard(connection: Connection, orders: Orders, now: datetime) -> frozenset[str]:
    """Return the regions that have a worker that lives."""
    rows = connection.execute(queries("judge")["find_heard"])
    since = _fresh_since(orders, now)
    return frozenset(row["region"] for row in rows if row["last_seen_at"] > since)


def _unknown(connection: Connection, orders: Orders, now: datetime) -> frozenset[str]:
    """Return the regions that have a living worker that has not calibrated since it started."""
    since = {"fresh_since": _fresh_since(orders, now)}
    rows = connection.execute(queries("judge")["find_unknown"], since)
    return frozenset(row["region"] for row in rows if row["region"] in orders.fleet.regions)


def _fresh_since(orders: Orders, now: datetime) -> datetime:
    return now - timedelta(seconds=orders.fleet.schedule.fresh_s)


def _workers_of(connection: Connection, regions: Iterable[str]) -> list[Worker]:
    rows = connection.execute(queries("judge")["find_workers"], {"regions": sorted(regions)})
    return [(row["region"], row["worker"]) for row in rows]


def _flagged_regions(
    connection: Connection, orders: Orders, workers: list[Worker], now: datetime
) -> set[str]:
    rows = connection.execute(
        queries("judge")["find_flagged"],
        {
            "regions": [region for region, _ in workers],
            "workers": [worker for _, worker in workers],
            "since": now - timedelta(seconds=orders.fleet.schedule.late_s),
        },
    )
    return {row["region"] for row in rows}
