"""`GET /api/changes`: what providers have changed, as their answers tell."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import AwareDatetime
from typing_extensions import TypedDict

from aggregator.api.centre import AtCentre
from aggregator.api.described import UNCHANGED, Moment, answered, told
from aggregator.api.documents import ChangeDocument, change_document
from aggregator.api.filters import Endpoints, Models, Precisions, Providers
from aggregator.api.tagged import tagged
from aggregator.changes import NEWEST, ChangesAsked, read_changes
from aggregator.rows import is_simulated, one_moment, read_store
from pacewatch.words.slot import to_rfc3339

router = APIRouter(prefix="/api", tags=["read"])

_EVER = datetime(1970, 1, 1, tzinfo=UTC)


class ChangesDocument(TypedDict):
    """A page of what providers have changed."""

    at: Annotated[Moment, told("the moment of the answer")]
    simulated: Annotated[bool, told("whether a simulator plays the providers")]
    changes: Annotated[list[ChangeDocument], told("those noted last first")]
    next: Annotated[int | None, told("for `after`; null: the last page")]


@router.get(
    "/changes", response_class=JSONResponse, responses=UNCHANGED | answered(ChangesDocument)
)
def changes(  # noqa: PLR0913 - the filters
    request: Request,
    centre: AtCentre,
    endpoint: Endpoints = None,
    model: Models = None,
    provider: Providers = None,
    precision: Precisions = None,
    since: Annotated[AwareDatetime, Query(description="Changes from this moment on.")] = _EVER,
    after: Annotated[
        int, Query(ge=0, le=NEWEST, description="The `next` of the page before.")
    ] = NEWEST,
    limit: Annotated[int, Query(ge=1, le=500, description="Changes of a page.")] = 100,
) -> Response:
    """Return changes of model, fingerprint or tier, those noted last first.

    Each filter may be given several times. `next` is null on the last page.
    """
    asked = ChangesAsked(
        endpoints=endpoint or (),
        models=model or (),
        providers=provider or (),
        precisions=precision or (),
        since=since,
        after=after,
        limit=limit + 1,
    )
    with one_moment(centre.pool) as connection:
        store = read_store(connection)
        found = read_changes(connection, asked)
    page = found[:limit]
    document: ChangesDocument = {
        "at": to_rfc3339(centre.clock()),
        "simulated": is_simulated(store, centre.fleet),
        "changes": [change_document(one) for one in page],
        "next": page[-1].change_id if len(found) > limit else None,
    }
    return tagged(request, document)
