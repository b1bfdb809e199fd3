"""Our own workers under suspicion: a calibration over its limit, or flags on their latest runs."""

from datetime import datetime, timedelta

from aggregator.db import Connection, queries
from aggregator.fleet_file import Orders


def find_doubted(connection: Connection, orders: Orders, now: datetime) -> frozenset[str]:
    """Return the regions whose workers cannot be trusted to time exactly."""
    fresh_since = now - timedelta(seconds=orders.fleet.schedule.fresh_s)
    rows = connection.execute(queries("judge")["find_doubted"], {"fresh_since": fresh_since})
    return frozenset(row["region"] for row in rows if row["region"] in orders.fleet.regions)
