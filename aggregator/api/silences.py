"""`/api/silences`: what nobody is to be told of for a while."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from aggregator import silences
from aggregator.api.body import SAYS, Author, body_of, told_as
from aggregator.api.centre import AtCentre, InTransaction, granted
from aggregator.api.described import UNCHANGED, Moment, answered, taken, told
from aggregator.api.judgement_documents import SilenceDocument, silence_document
from aggregator.api.problems import Problem
from aggregator.api.tagged import tagged
from aggregator.regions import Grant, Scope
from aggregator.rows import is_simulated, one_moment, read_store
from pacewatch.words.slot import to_rfc3339

router = APIRouter(prefix="/api/silences", tags=["incidents"])

MOST_BYTES = 8 * 1024
LONGEST_S = 366 * 86_400

Admin = Annotated[Grant, Depends(granted(Scope.ADMIN))]


class AskedSilence(BaseModel):
    """A silence that is asked for; it begins at once."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    endpoints: Annotated[
        str,
        Field(pattern=r"^[a-z0-9._/@#*?-]{1,300}$"),
        told_as("is no id and no pattern of ids (allowed: at most 300 of a-z 0-9 . _ - / @ # * ?)"),
    ]
    """An endpoint's id, or a pattern of ids with `*` and `?`."""
    region: Annotated[str, Field(max_length=100)] = ""
    """Of incidents of this region alone; empty: all."""
    for_s: Annotated[
        int,
        Field(ge=1, le=LONGEST_S),
        told_as("is no time that a silence may last (allowed: 1 second to 366 days)"),
    ]
    """How long from now on, s."""
    why: Annotated[
        str,
        Field(max_length=500, pattern=SAYS),
        told_as("is no reason (allowed: one line of at most 500 characters that is not blank)"),
    ]
    """The reason, one line."""
    by: Author = ""
    """Whose it is."""


class SilencesDocument(TypedDict):
    """Silences."""

    at: Annotated[Moment, told("the moment of the answer")]
    simulated: Annotated[bool, told("whether a simulator plays the providers")]
    silences: Annotated[list[SilenceDocument], told("the latest first")]
    next: Annotated[int | None, told("for `before`; null: the last page")]


@router.get("", response_class=JSONResponse, responses=UNCHANGED | answered(SilencesDocument))
def list_silences(
    request: Request,
    centre: AtCentre,
    *,
    ended: Annotated[bool, Query(description="With those that ended.")] = False,
    before: Annotated[
        int, Query(ge=0, le=silences.NEWEST, description="The `next` of the page before.")
    ] = silences.NEWEST,
    limit: Annotated[
        int, Query(ge=1, le=silences.MOST, description="Silences of a page.")
    ] = silences.MOST,
) -> Response:
    """Return the silences that hold, the latest first.

    `next` is null on the last page. With `If-None-Match` of an unchanged page: 304.
    """
    now = centre.clock()
    with one_moment(centre.pool) as connection:
        store = read_store(connection)
        found = silences.read_silences(connection, now, ended=ended, before=before, limit=limit + 1)
    page = found[:limit]
    document: SilencesDocument = {
        "at": to_rfc3339(now),
        "simulated": is_simulated(store, centre.fleet),
        "silences": [silence_document(one, now) for one in page],
        "next": page[-1].silence_id if len(found) > limit else None,
    }
    return tagged(request, document)


@router.post(
    "",
    response_class=JSONResponse,
    status_code=201,
    openapi_extra=taken(AskedSilence),
    responses=answered(SilenceDocument, 201),
)
def make_silence(
    _grant: Admin,
    asked: Annotated[AskedSilence, Depends(body_of(AskedSilence, MOST_BYTES))],
    centre: AtCentre,
    connection: InTransaction,
) -> Response:
    """Have nobody told of incidents of these endpoints for so long, at most a year.

    The incidents themselves go on: board, pages and metrics show them.
    """
    now = centre.clock()
    if asked.region and asked.region not in centre.fleet.regions:
        known = ", ".join(sorted(centre.fleet.regions))
        raise Problem(422, f'region "{asked.region}": unknown (known: {known})')
    made = silences.make_silence(
        connection,
        asked.endpoints,
        now,
        region=asked.region,
        ends_at=now + timedelta(seconds=asked.for_s),
        why=asked.why,
        made_by=asked.by,
    )
    return JSONResponse(silence_document(made, now), 201)


@router.delete("/{id}", response_class=JSONResponse, responses=answered(SilenceDocument))
def end_silence(
    id: Annotated[int, Path(ge=1, le=2**62)],
    _grant: Admin,
    centre: AtCentre,
    connection: InTransaction,
) -> Response:
    """End a silence now; one that has ended stays as it is."""
    now = centre.clock()
    found = silences.end_silence(connection, id, now)
    if found is None:
        raise Problem(404, f"silence {id}: unknown (allowed: the ids of /api/silences)")
    return JSONResponse(silence_document(found, now))
