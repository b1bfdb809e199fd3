"""`GET /api/evidence`, `GET /api/incidents/{id}/evidence`: what was measured, for the provider."""

from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import AwareDatetime

from aggregator.api.bundle_document import bundle_document
from aggregator.api.centre import AtCentre, Centre
from aggregator.api.described import UNCHANGED, answered
from aggregator.api.evidence_types import EvidenceDocument
from aggregator.api.filters import Word
from aggregator.api.problems import Problem
from aggregator.api.tagged import tagged
from aggregator.bundle import (
    LONGEST,
    MOST_ENDPOINTS,
    Asked,
    read_bundle,
)
from aggregator.db import Connection
from aggregator.incident_views import WholeIncident, read_whole
from aggregator.rows import EndpointRow, is_simulated, one_moment, read_rows, read_store
from pacewatch.words.slot import to_rfc3339

router = APIRouter(prefix="/api", tags=["read"])

USUAL = timedelta(hours=6)
"""How far back evidence on an endpoint goes unless said."""


Moment = Annotated[AwareDatetime | None, Query(description="RFC 3339, with its offset.")]


@router.get(
    "/evidence", response_class=JSONResponse, responses=UNCHANGED | answered(EvidenceDocument)
)
def evidence(
    request: Request,
    centre: AtCentre,
    endpoint: Annotated[Word, Query(description="An endpoint's id.")],
    since: Moment = None,
    until: Moment = None,
) -> Response:
    """Return what was measured of an endpoint since a moment, six hours before `until` unless said,
    at most 31 days; beside it stands the window before.

    Medians with their intervals, outcomes, network times, and each request of the latest runs with
    the provider's own id of it. No key, prompt or answer is in it: the centre has none.
    """
    with one_moment(centre.pool) as connection:
        if not read_rows(connection, EndpointRow, "select_endpoints", endpoints=[endpoint]):
            raise Problem(404, f'endpoint "{endpoint}": unknown (allowed: those of /api/series)')
        asked = _asked(centre, (endpoint,), since, until or centre.clock())
        return _told(request, centre, connection, asked, None)


@router.get(
    "/incidents/{id}/evidence",
    response_class=JSONResponse,
    responses=UNCHANGED | answered(EvidenceDocument),
)
def evidence_of_incident(
    request: Request,
    centre: AtCentre,
    id: Annotated[int, Path(ge=1, le=2**62)],
    since: Moment = None,
    until: Moment = None,
) -> Response:
    """Return what was measured of an incident's endpoints, with its story, from its beginning to
    its end unless said; otherwise as `/api/evidence`.
    """
    with one_moment(centre.pool) as connection:
        found = read_whole(connection, id)
        if found is None:
            raise Problem(404, f"incident {id}: unknown (allowed: the ids of /api/incidents)")
        one = found.incident
        last = until or one.ended_at or centre.clock()
        asked = _asked(centre, one.endpoints[:MOST_ENDPOINTS], since or one.since, last)
        return _told(request, centre, connection, asked, found)


def _asked(
    centre: Centre, endpoints: tuple[str, ...], since: datetime | None, until: datetime
) -> Asked:
    try:
        asked = Asked(
            endpoints=endpoints,
            since=max(since or until - USUAL, until - LONGEST),
            until=until,
            window=timedelta(seconds=centre.fleet.schedule.window_s),
        )
        _ = asked.begin
    except OverflowError as error:
        raise Problem(422, "until: is before the calendar") from error
    return asked


def _told(
    request: Request,
    centre: Centre,
    connection: Connection,
    asked: Asked,
    incident: WholeIncident | None,
) -> Response:
    store = read_store(connection)
    simulated = is_simulated(store, centre.fleet)
    bundle = bundle_document(read_bundle(connection, asked), incident, simulated=simulated)
    document: EvidenceDocument = {"at": to_rfc3339(centre.clock()), **bundle}
    return tagged(request, document)
