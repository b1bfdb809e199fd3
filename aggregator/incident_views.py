"""Incidents as people ask for them: read whole, never written."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, dict_row

from aggregator.db import Connection, queries
from pacewatch.words.endpoint import Importance
from pacewatch.words.verdict import PAGING, Blame, Trouble, UnusualEnd

OPEN = ("confirmed", "eased")
"""States of an incident that is open."""

NEWEST = 2**62
"""Stands after every incident."""

MOST_TOLD = 20
"""Open incidents that a board or a status tells at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """An endpoint's trouble in an incident."""

    incident_id: int
    endpoint: str
    trouble: str
    ratio: float | None
    """Times slower than usual, as last judged while the trouble lasted."""
    ratio_low: float | None
    ratio_high: float | None
    since: datetime
    eased_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """An incident with the endpoints that it gathers."""

    incident_id: int
    provider: str
    """Empty: of no single one."""
    region: str
    """Empty: not of one region alone."""
    trouble: Trouble
    blame: Blame
    state: str
    importance: Importance
    simulated: bool
    since: datetime
    """When it is thought to have begun."""
    opened_at: datetime
    confirmed_at: datetime | None
    eased_at: datetime | None
    ended_at: datetime | None
    acknowledged_at: datetime | None
    unusual_end: UnusualEnd | None
    """How it eased or ended; None: by being as usual again, or not at all."""
    speaks_for: Sequence[str]
    speaks_against: Sequence[str]
    parts: tuple[Part, ...]
    """Those in trouble first, the worst of them first."""

    @property
    def is_open(self) -> bool:
        """Tell whether it is confirmed and has not closed."""
        return self.state in OPEN

    @property
    def pages(self) -> bool:
        """Tell whether it may wake somebody."""
        return self.blame in PAGING and self.importance is Importance.PAGE

    @property
    def worst(self) -> Part | None:
        """Return its worst part that has a ratio."""
        return next((part for part in self.parts if part.ratio is not None), None)

    @property
    def endpoints(self) -> tuple[str, ...]:
        """Return its endpoints, each once."""
        return tuple(dict.fromkeys(part.endpoint for part in self.parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A line of an incident's timeline."""

    at: datetime
    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmingRun:
    """A probe that an incident ordered, and what it found."""

    run_id: UUID
    endpoint: str
    region: str
    ordered_at: datetime
    state: str | None
    """Of its slot; None: that is no longer kept."""
    reason: str | None
    outcome: str | None
    ttft_s: float | None
    output_tokens_per_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeIncident:
    """An incident with its story and what it stands on."""

    incident: Incident
    events: tuple[Event, ...]
    runs: tuple[ConfirmingRun, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentsAsked:
    """Which incidents are asked for; an empty collection asks for all."""

    states: Collection[str] = ()
    endpoints: Collection[str] = ()
    """Incidents of any of them."""
    models: Collection[str] = ()
    precisions: Collection[str] = ()
    providers: Collection[str] = ()
    regions: Collection[str] = ()
    """Those of such a region alone."""
    blames: Collection[str] = ()
    since: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    """Those that had not ended before then."""
    before: int = NEWEST
    limit: int = 50


def read_incidents(connection: Connection, asked: IncidentsAsked) -> list[Incident]:
    """Return the incidents that were asked for, the latest first."""
    rows = _rows(
        connection,
        "select_incidents",
        states=list(asked.states),
        endpoints=list(asked.endpoints),
        models=list(asked.models),
        precisions=list(asked.precisions),
        regions=list(asked.regions),
        providers=list(asked.providers),
        blames=list(asked.blames),
        since=asked.since,
        before=asked.before,
        limit=asked.limit,
    )
    return _incidents(connection, rows)


def read_open(connection: Connection, limit: int = MOST_TOLD) -> tuple[Incident, ...]:
    """Return the open incidents, the latest first."""
    return tuple(read_incidents(connection, IncidentsAsked(states=OPEN, limit=limit)))


def read_these(connection: Connection, incidents: Sequence[int]) -> list[Incident]:
    """Return the incidents of these ids, the oldest first."""
    rows = _rows(connection, "select_these_incidents", incidents=list(incidents))
    return _incidents(connection, rows)


def read_whole(connection: Connection, incident: int) -> WholeIncident | None:
    """Return the incident of that id; None where there is none."""
    found = read_these(connection, [incident])
    if not found:
        return None
    return WholeIncident(
        incident=found[0],
        events=tuple(_typed(connection, Event, "select_incident_events", incident=incident)),
        runs=tuple(
            _typed(
                connection,
                ConfirmingRun,
                "select_confirming_runs",
                incident=incident,
                since=found[0].since - timedelta(days=1),
            )
        ),
    )


def _incidents(connection: Connection, rows: Sequence[dict[str, Any]]) -> list[Incident]:
    ids = [row["incident_id"] for row in rows]
    parts: dict[int, list[Part]] = {}
    for part in _typed(connection, Part, "select_incident_endpoints", incidents=ids):
        parts.setdefault(part.incident_id, []).append(part)
    return [_incident(row, parts.get(row["incident_id"], ())) for row in rows]


def _incident(row: dict[str, Any], parts: Iterable[Part]) -> Incident:
    words = {
        "trouble": Trouble(row["trouble"]),
        "blame": Blame(row["blame"]),
        "importance": Importance(row["importance"]),
        "unusual_end": UnusualEnd(row["unusual_end"]) if row["unusual_end"] else None,
    }
    return Incident(**(row | words), parts=tuple(parts))


def _typed(connection: Connection, kind: type[Any], name: str, **values: object) -> list[Any]:
    with connection.cursor(row_factory=class_row(kind)) as cursor:
        return cursor.execute(queries("views")[name], values).fetchall()


def _rows(connection: Connection, name: str, **values: object) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(queries("views")[name], values).fetchall()
