"""`/api/incidents`: incidents, one of them whole, and what people say to one."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import AwareDatetime, BaseModel, ConfigDict
from typing_extensions import TypedDict

from aggregator import incidents
from aggregator.api.body import Author, body_of
from aggregator.api.centre import AtCentre, Centre, InTransaction, granted
from aggregator.api.described import UNCHANGED, Moment, answered, taken, told
from aggregator.api.filters import Endpoints, Models, Precisions, Providers, Word
from aggregator.api.judgement_documents import (
    IncidentDocument,
    WholeIncidentDocument,
    incident_document,
    whole_document,
)
from aggregator.api.problems import Problem
from aggregator.api.tagged import tagged
from aggregator.db import Connection
from aggregator.incident_views import (
    NEWEST,
    OPEN,
    IncidentsAsked,
    WholeIncident,
    read_incidents,
    read_whole,
)
from aggregator.regions import Grant, Scope
from aggregator.rows import is_simulated, one_moment, read_store
from pacewatch.words.slot import to_rfc3339
from pacewatch.words.verdict import Blame

router = APIRouter(prefix="/api/incidents", tags=["incidents"])

MOST_BYTES = 4 * 1024

_EVER = datetime(1970, 1, 1, tzinfo=UTC)

Id = Annotated[int, Path(ge=1, le=NEWEST)]
Admin = Annotated[Grant, Depends(granted(Scope.ADMIN))]


class StateWord(StrEnum):
    """A state, or several of them."""

    OPEN = "open"
    ALL = "all"
    SUSPECTED = "suspected"
    CLEARED = "cleared"
    UNCONFIRMED = "unconfirmed"
    CONFIRMED = "confirmed"
    EASED = "eased"
    CLOSED = "closed"


class Said(BaseModel):
    """Who does it."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    by: Author = ""
    """A name for the timeline."""


SaidBody = Annotated[Said, Depends(body_of(Said, MOST_BYTES, empty="{}"))]


class IncidentsDocument(TypedDict):
    """A page of incidents."""

    at: Annotated[Moment, told("the moment of the answer")]
    simulated: Annotated[bool, told("whether a simulator plays the providers")]
    incidents: Annotated[list[IncidentDocument], told("the latest first")]
    next: Annotated[int | None, told("for `before`; null: the last page")]


class OneIncidentDocument(WholeIncidentDocument):
    """One incident as it is answered."""

    at: Annotated[Moment, told("the moment of the answer")]


@router.get("", response_class=JSONResponse, responses=UNCHANGED | answered(IncidentsDocument))
def list_incidents(  # noqa: PLR0913 - the filters
    request: Request,
    centre: AtCentre,
    state: Annotated[
        StateWord, Query(description="`open` is `confirmed` or `eased`.")
    ] = StateWord.OPEN,
    endpoint: Endpoints = None,
    model: Models = None,
    provider: Providers = None,
    precision: Precisions = None,
    region: Annotated[
        list[Word] | None,
        Query(max_length=100, description="Incidents of that region alone."),
    ] = None,
    blame: Annotated[
        list[Blame] | None,
        Query(alias="class", max_length=10, description="Whose fault it looks like."),
    ] = None,
    since: Annotated[
        AwareDatetime, Query(description="Without those that had ended before this moment.")
    ] = _EVER,
    before: Annotated[
        int, Query(ge=0, le=NEWEST, description="The `next` of the page before.")
    ] = NEWEST,
    limit: Annotated[int, Query(ge=1, le=200, description="Incidents of a page.")] = 50,
) -> Response:
    """Return incidents, the latest first: the open ones unless another state is asked for.

    `next` is null on the last page. With `If-None-Match` of an unchanged page: 304.
    """
    states: dict[StateWord, tuple[str, ...]] = {StateWord.OPEN: OPEN, StateWord.ALL: ()}
    asked = IncidentsAsked(
        states=states.get(state, (str(state),)),
        endpoints=endpoint or (),
        models=model or (),
        providers=provider or (),
        precisions=precision or (),
        regions=region or (),
        blames=blame or (),
        since=since,
        before=before,
        limit=limit + 1,
    )
    with one_moment(centre.pool) as connection:
        store = read_store(connection)
        found = read_incidents(connection, asked)
    page = found[:limit]
    document: IncidentsDocument = {
        "at": to_rfc3339(centre.clock()),
        "simulated": is_simulated(store, centre.fleet),
        "incidents": [incident_document(one) for one in page],
        "next": page[-1].incident_id if len(found) > limit else None,
    }
    return tagged(request, document)


@router.get(
    "/{id}", response_class=JSONResponse, responses=UNCHANGED | answered(OneIncidentDocument)
)
def one_incident(id: Id, request: Request, centre: AtCentre) -> Response:
    """Return one incident whole: its endpoints with their ratios, what spoke for its class and
    against it, its timeline, and the runs that confirmed it.
    """
    with one_moment(centre.pool) as connection:
        found = _known(connection, id)
    return tagged(request, _told(centre, found))


@router.post(
    "/{id}/acknowledge",
    response_class=JSONResponse,
    openapi_extra=taken(Said, needed=False),
    responses=answered(OneIncidentDocument),
)
def acknowledge(
    id: Id, _grant: Admin, said: SaidBody, centre: AtCentre, connection: InTransaction
) -> Response:
    """Say that somebody has an open incident in hand: nobody is reminded of it any more.

    Said twice, it stays as it was said first.
    """
    _open(connection, id)
    incidents.acknowledge(connection, id, centre.clock(), said.by)
    return JSONResponse(_told(centre, _known(connection, id)))


@router.post(
    "/{id}/accept",
    response_class=JSONResponse,
    openapi_extra=taken(Said, needed=False),
    responses=answered(OneIncidentDocument),
)
def accept(
    id: Id, _grant: Admin, said: SaidBody, centre: AtCentre, connection: InTransaction
) -> Response:
    """Take the level of now of the incident's slow endpoints as their usual one.

    The central worker judges by it from its next round on; the incident closes with that.
    """
    _open(connection, id)
    if not incidents.accept(connection, id, centre.clock(), said.by):
        raise Problem(409, f"incident {id}: nothing in it is slow, so there is no level to accept")
    return JSONResponse(_told(centre, _known(connection, id)))


def _told(centre: Centre, found: WholeIncident) -> OneIncidentDocument:
    return {"at": to_rfc3339(centre.clock()), **whole_document(found)}


def _known(connection: Connection, incident: int) -> WholeIncident:
    found = read_whole(connection, incident)
    if found is None:
        raise Problem(404, f"incident {incident}: unknown (allowed: the ids of /api/incidents)")
    return found


def _open(connection: Connection, incident: int) -> None:
    """Raise Problem where the incident is not open."""
    found = _known(connection, incident).incident
    if not found.is_open:
        raise Problem(409, f"incident {incident}: is {found.state} (allowed: {' or '.join(OPEN)})")
