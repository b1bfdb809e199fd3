"""Where nothing is heard of an endpoint: no heartbeat of a region, no run for two spacings, or a
region that rests.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from aggregator.db import Connection, queries
from aggregator.fleet_file import Orders
from aggregator.ruling import spacings_of
from aggregator.standing import SILENT_AFTER

Silent = Mapping[str, datetime]
"""By region that is silent, when it was last heard of."""


def find_silent(
    connection: Connection, orders: Orders, now: datetime
) -> tuple[dict[str, dict[str, datetime]], dict[str, set[str]]]:
    """Return the silent regions of each endpoint, and those that its verdicts tell of.

    After a time without ticks the heartbeats are old because nobody took them, so for as long as a
    heartbeat stands all is as it was told.
    """
    named = queries("judge")
    told: dict[str, dict[str, datetime]] = {}
    for row in connection.execute(named["find_told_silent"]):
        told.setdefault(row["endpoint"], {})[row["region"]] = row["silent_since"]
    regions = {endpoint: set(found) for endpoint, found in told.items()}
    if not _is_settled(connection, orders, now):
        return told, regions
    found, paused = _silent_now(connection, orders, now), orders.fleet.paused
    for endpoint in orders.fleet.endpoints:
        for region in paused:
            since = told.get(endpoint.id, {}).get(region, now)
            found.setdefault(endpoint.id, {}).setdefault(region, since)
    return found, regions


def _is_settled(connection: Connection, orders: Orders, now: datetime) -> bool:
    store = connection.execute(queries("fleet")["read_store"]).fetchone()
    if store is None or store["ticked_at"] is None:
        return False
    fresh = timedelta(seconds=orders.fleet.schedule.fresh_s)
    resumed_at = store["resumed_at"]
    return now - store["ticked_at"] <= fresh and (resumed_at is None or now - resumed_at >= fresh)


def _silent_now(
    connection: Connection, orders: Orders, now: datetime
) -> dict[str, dict[str, datetime]]:
    fleet, named = orders.fleet, queries("judge")
    asked = [
        (endpoint.id, workload, spacing_s)
        for endpoint in fleet.endpoints
        for workload, spacing_s in spacings_of(orders, endpoint.id).items()
    ]
    found: dict[str, dict[str, datetime]] = {}
    for row in connection.execute(
        named["find_silent"],
        {
            "endpoints": [endpoint for endpoint, _, _ in asked],
            "workloads": [workload for _, workload, _ in asked],
            "spacings_s": [float(spacing_s) for _, _, spacing_s in asked],
            "validity_s": fleet.schedule.validity_s,
            "regions": sorted(fleet.regions),
            "now": now,
        },
    ):
        found.setdefault(row["endpoint"], {})[row["region"]] = row["last_at"]
    for row in connection.execute(named["find_heard"]):
        if row["region"] in fleet.regions and now - row["last_seen_at"] > SILENT_AFTER:
            for endpoint in fleet.endpoints:
                found.setdefault(endpoint.id, {})[row["region"]] = row["last_seen_at"]
    return found
