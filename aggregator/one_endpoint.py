"""One endpoint with its latest runs and its days, what is believed of it, and its incidents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, dict_row

from aggregator.advice import Advice, read_advice
from aggregator.board import Board, BoardEndpoint, Filter, read_board
from aggregator.changes import Change, of_endpoints, read_changes
from aggregator.days import Day
from aggregator.db import Connection, queries
from aggregator.rows import EndpointRow, read_rows
from aggregator.verdict_views import Believed, believed_of
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import Load

SHOWN_DAYS = 90
"""Days of which daily statistics are shown."""

MOST_POINTS = 400
"""Latest runs of a region that are drawn; eight a day are 24 in 72 hours, sentinels more."""

MOST_CHANGES, MOST_INCIDENTS = 50, 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One run as a chart shows it."""

    region: str
    run_id: UUID
    slot_at: datetime
    received_at: datetime
    purpose: str
    rolls: bool
    """Whether it enters the rolling statistics."""
    outcome: str
    requests: int
    good: int
    definition: int
    ttft_s: float | None
    output_tokens_per_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointIncident:
    """An incident that an endpoint had a part in."""

    incident_id: int
    trouble: str
    class_: str
    state: str
    ratio: float | None
    since: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OneEndpoint:
    """All that an endpoint's page tells, at one moment."""

    facts: EndpointRow
    board: Board
    shown: BoardEndpoint | None
    """Its series of the workload and load; None: there is none."""
    points: Mapping[str, Sequence[Point]]
    """By region, in the order of the slots."""
    days: Mapping[str, Sequence[Day]]
    """By region, in their order."""
    changes: Sequence[Change]
    believed: Mapping[str, Believed]
    """By region; '': over all of them."""
    incidents: Sequence[EndpointIncident]
    advice: Sequence[Advice]


def read_endpoint(
    connection: Connection, fleet: Fleet, endpoint: str, series: tuple[str, Load], now: datetime
) -> OneEndpoint | None:
    """Return an endpoint by its id, with its series of a workload and load; None where the centre
    never probed one of that id. Raises StoreError.
    """
    facts = read_rows(connection, EndpointRow, "select_endpoints", endpoints=[endpoint])
    if not facts:
        return None
    workload, load = series
    asked = Filter(
        endpoints=frozenset({endpoint}),
        workloads=frozenset({workload}),
        loads=frozenset({str(load)}),
    )
    board = read_board(connection, fleet, asked, now)
    place = {"endpoint": endpoint, "workload": workload, "load": str(load)}
    return OneEndpoint(
        facts=facts[0],
        board=board,
        shown=board.models[0].endpoints[0] if board.models else None,
        points=_points(connection, place, since=now - board.window, now=now),
        days=_days(connection, place, now - timedelta(days=SHOWN_DAYS)),
        changes=_changes(connection, endpoint, now - timedelta(days=SHOWN_DAYS)),
        believed=believed_of(connection, (endpoint,)).get(endpoint, {}),
        incidents=_incidents(connection, endpoint),
        advice=read_advice(connection, (endpoint,)),
    )


def has_model(connection: Connection, model: str) -> bool:
    """Tell whether the centre ever probed an endpoint of the model."""
    return bool(_dicts(connection, "find_model", model=model))


def _points(
    connection: Connection, place: Mapping[str, str], *, since: datetime, now: datetime
) -> dict[str, list[Point]]:
    values = {**place, "since": since, "now": now, "limit": MOST_POINTS}
    rows = _read(connection, Point, "select_points", **values)
    return {region: list(found) for region, found in groupby(rows, lambda row: row.region)}


def _days(
    connection: Connection, place: Mapping[str, str], since: datetime
) -> dict[str, list[Day]]:
    rows = _dicts(connection, "select_endpoint_days", **place, since=since)
    days: dict[str, list[Day]] = {}
    for row in rows:
        days.setdefault(row.pop("region"), []).append(Day(**row))
    return days


def _changes(connection: Connection, endpoint: str, since: datetime) -> list[Change]:
    return read_changes(connection, of_endpoints((endpoint,), since=since, limit=MOST_CHANGES))


def _incidents(connection: Connection, endpoint: str) -> list[EndpointIncident]:
    rows = _dicts(connection, "select_endpoint_incidents", endpoint=endpoint, limit=MOST_INCIDENTS)
    return [EndpointIncident(class_=row.pop("class"), **row) for row in rows]


def _read(connection: Connection, kind: type[Any], name: str, **values: object) -> list[Any]:
    with connection.cursor(row_factory=class_row(kind)) as cursor:
        return cursor.execute(queries("endpoint")[name], values).fetchall()


def _dicts(connection: Connection, name: str, **values: object) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(queries("endpoint")[name], values).fetchall()
