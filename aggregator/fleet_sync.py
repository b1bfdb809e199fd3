"""Writes into the store what the file says: endpoints, their versions, series and their counters.

Nothing is ever taken away: an endpoint that is no longer picked becomes inactive, and every version
that was ever asked for is kept, so that a run of an old one is still known.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from aggregator.db import Connection, queries, require_store
from pacewatch.words.endpoint import Endpoint, endpoint_hash
from pacewatch.words.fleet import Fleet, catalog_hash
from pacewatch.words.outcome import Missed
from pacewatch.words.slot import SENTINEL, Load, Series

_SENTINELS = (SENTINEL, Load.SINGLE)


def read_store(connection: Connection, *, simulated: bool) -> dict[str, Any]:
    """Return the store's one row, made where there is none.

    Raises StoreError where the store holds the other kind of measurement.
    """
    row = connection.execute(queries("fleet")["read_store"]).fetchone()
    if row is None or row["simulated"] != simulated:
        require_store(connection, simulated)
        row = connection.execute(queries("fleet")["read_store"]).fetchone()
    return row or {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The rows that a fleet asks for."""

    endpoints: tuple[dict[str, Any], ...]
    versions: tuple[tuple[str, str, str], ...]
    """(hash, endpoint, workload)"""
    series: tuple[Series, ...]
    catalog_hash: str
    fleet_hash: str
    """16 hex digits over all the rows; where the store has the same, there is nothing to write."""


def wanted_rows(fleet: Fleet) -> Wanted:
    """Return the rows of a fleet: its probed endpoints, each with every known workload."""
    endpoints = tuple(_endpoint_row(endpoint) for endpoint in fleet.endpoints)
    versions = tuple(
        (endpoint_hash(endpoint, workload), endpoint.id, name)
        for endpoint in fleet.endpoints
        for name, workload in sorted(fleet.workloads.items())
    )
    series = planned_series(fleet)
    known = catalog_hash(fleet)
    return Wanted(
        endpoints=endpoints,
        versions=versions,
        series=series,
        catalog_hash=known,
        fleet_hash=hashlib.sha256(repr((endpoints, versions, series, known)).encode()).hexdigest()[
            :16
        ],
    )


def planned_series(fleet: Fleet) -> tuple[Series, ...]:
    """Return the series that slots are planned for; single ones always, for the first run."""
    loads = [load for load in Load if load is Load.SINGLE or fleet.schedule.per_day(load)]
    usual = [(workload, load) for workload in fleet.schedule.workloads for load in loads]
    return tuple(
        Series(
            endpoint=endpoint.id,
            region=region,
            workload=workload,
            load=load,
            simulated=fleet.simulated,
        )
        for endpoint in fleet.endpoints
        for region in sorted(fleet.regions)
        for workload, load in [*usual, *([_SENTINELS] if fleet.sentinel_s(endpoint) else [])]
    )


def _endpoint_row(endpoint: Endpoint) -> dict[str, Any]:
    price = endpoint.price
    return {
        "endpoint": endpoint.id,
        "provider": endpoint.provider,
        "provider_name": endpoint.provider_name,
        "model": endpoint.model,
        "precision": str(endpoint.precision),
        "protocol": str(endpoint.protocol),
        "importance": str(endpoint.importance),
        "base_host": urlsplit(endpoint.base_url).netloc,
        "location": endpoint.location,
        "account": endpoint.account,
        "tier": endpoint.tier,
        "price_input_usd": None if price is None else price.input_usd,
        "price_output_usd": None if price is None else price.output_usd,
        "published_tokens_per_s": endpoint.published_tokens_per_s,
        "own": endpoint.own,
    }


def sync(connection: Connection, wanted: Wanted, now: datetime) -> tuple[Series, ...]:
    """Write the rows, in the caller's transaction; return the series that are new."""
    named = queries("fleet")
    with connection.cursor() as cursor:
        cursor.executemany(
            named["upsert_endpoint"], [{**row, "now": now} for row in wanted.endpoints]
        )
    connection.execute(
        named["retire_endpoints"], {"endpoints": [row["endpoint"] for row in wanted.endpoints]}
    )
    hashes, endpoints, workloads = (
        [version[part] for version in wanted.versions] for part in range(3)
    )
    connection.execute(
        named["insert_versions"],
        {"endpoint_hash": hashes, "endpoint": endpoints, "workload": workloads, "now": now},
    )
    added = add_series(connection, wanted.series)
    connection.execute(
        named["note_fleet"],
        {"catalog_hash": wanted.catalog_hash, "fleet_hash": wanted.fleet_hash},
    )
    return added


def add_series(connection: Connection, series: tuple[Series, ...]) -> tuple[Series, ...]:
    """Make the series that are not there yet, with statistics and counters at 0; return them."""
    if not series:
        return ()
    simulated = series[0].simulated
    rows = connection.execute(
        queries("fleet")["insert_series"],
        {
            "endpoint": [one.endpoint for one in series],
            "region": [one.region for one in series],
            "workload": [one.workload for one in series],
            "load": [str(one.load) for one in series],
            "simulated": simulated,
            "reasons": [str(reason) for reason in Missed],
        },
    ).fetchall()
    return tuple(
        Series(**{**row, "load": Load(row["load"]), "simulated": simulated}) for row in rows
    )
