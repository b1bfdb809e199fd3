"""`GET /api/verdicts`: what is believed of endpoints."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from typing_extensions import TypedDict

from aggregator.api.centre import AtCentre
from aggregator.api.described import UNCHANGED, Moment, answered, told
from aggregator.api.filters import Endpoints, Models, Precisions, Providers, Word
from aggregator.api.judgement_documents import VerdictDocument, verdict_document
from aggregator.api.tagged import tagged
from aggregator.incident_views import read_these
from aggregator.rows import is_simulated, one_moment, read_store
from aggregator.verdict_views import VerdictsAsked, read_verdicts
from pacewatch.words.slot import to_rfc3339
from pacewatch.words.verdict import Verdict

router = APIRouter(prefix="/api", tags=["read"])


class VerdictsDocument(TypedDict):
    """A page of verdicts."""

    at: Annotated[Moment, told("the moment of the answer")]
    simulated: Annotated[bool, told("whether a simulator plays the providers")]
    verdicts: Annotated[list[VerdictDocument], told("by endpoint and region")]
    next: Annotated[str | None, told("for `after`; null: the last page")]


@router.get(
    "/verdicts", response_class=JSONResponse, responses=UNCHANGED | answered(VerdictsDocument)
)
def verdicts(  # noqa: PLR0913 - the filters
    request: Request,
    centre: AtCentre,
    endpoint: Endpoints = None,
    model: Models = None,
    provider: Providers = None,
    precision: Precisions = None,
    region: Annotated[
        list[Word] | None, Query(max_length=100, description="Empty: over all regions.")
    ] = None,
    verdict: Annotated[
        list[Verdict] | None, Query(max_length=10, description="What is believed.")
    ] = None,
    after: Annotated[Word, Query(description="The `next` of the page before.")] = "",
    limit: Annotated[int, Query(ge=1, le=1_000, description="Verdicts of a page.")] = 200,
) -> Response:
    """Return verdicts of endpoints in each region and, with `region` null, over all of them, with
    the incidents that they are in trouble in.

    Each filter may be given several times. `next` is null on the last page. With `If-None-Match`
    of an unchanged page: 304.
    """
    last_endpoint, _, last_region = after.partition(" ")
    asked = VerdictsAsked(
        endpoints=endpoint or (),
        models=model or (),
        providers=provider or (),
        precisions=precision or (),
        regions=region or (),
        verdicts=verdict or (),
        after=(last_endpoint, last_region),
        limit=limit + 1,
    )
    with one_moment(centre.pool) as connection:
        store = read_store(connection)
        found = read_verdicts(connection, asked)
        page = found[:limit]
        numbers = sorted({number for line in page for number in line.incidents})
        incidents = {one.incident_id: one for one in read_these(connection, numbers)}
    document: VerdictsDocument = {
        "at": to_rfc3339(centre.clock()),
        "simulated": is_simulated(store, centre.fleet),
        "verdicts": [verdict_document(line, incidents) for line in page],
        "next": f"{page[-1].endpoint} {page[-1].region}" if len(found) > limit else None,
    }
    return tagged(request, document)
