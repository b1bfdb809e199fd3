"""What providers have changed: the model, its fingerprint or its tier, as their answers tell."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.rows import class_row

from aggregator.db import Connection, queries


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An endpoint's answers tell another value than before."""

    change_id: int
    endpoint: str
    provider: str
    model: str
    facet: str
    value: str
    before: str
    changed_at: datetime
    """Slot of the first run that told the new value."""
    noted_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesAsked:
    """Which changes are asked for; an empty collection asks for all."""

    endpoints: Collection[str]
    models: Collection[str]
    providers: Collection[str]
    precisions: Collection[str]
    since: datetime
    after: int
    """Those noted before this one."""
    limit: int


MOST_ON_BOARD = 500
"""Changes of all endpoints together that a board is shown."""

NEWEST = 2**62
"""Stands after every change."""


def of_endpoints(endpoints: Collection[str], *, since: datetime, limit: int) -> ChangesAsked:
    """Return what asks for the latest changes of these endpoints."""
    return ChangesAsked(
        endpoints=endpoints,
        models=(),
        providers=(),
        precisions=(),
        since=since,
        after=NEWEST,
        limit=limit,
    )


def changes_of(
    connection: Connection, endpoints: Collection[str], *, since: datetime
) -> dict[str, tuple[Change, ...]]:
    """Return what was changed since then, by endpoint, the latest first."""
    if not endpoints:
        return {}
    asked = of_endpoints(endpoints, since=since, limit=MOST_ON_BOARD)
    found: dict[str, tuple[Change, ...]] = {}
    for change in read_changes(connection, asked):
        found[change.endpoint] = (*found.get(change.endpoint, ()), change)
    return found


def read_changes(connection: Connection, asked: ChangesAsked) -> list[Change]:
    """Return the changes that were asked for, those noted last first."""
    values: dict[str, Any] = {
        "endpoints": sorted(asked.endpoints),
        "models": sorted(asked.models),
        "providers": sorted(asked.providers),
        "precisions": sorted(asked.precisions),
        "since": asked.since,
        "after": asked.after,
        "limit": asked.limit,
    }
    with connection.cursor(row_factory=class_row(Change)) as cursor:
        return cursor.execute(queries("answered")["select_changes"], values).fetchall()
