"""`GET /api/board`, `/api/status` and `/api/runs/{id}`: what board and terminal show, as JSON."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from aggregator.api.centre import AtCentre
from aggregator.api.documents import board_document, entity_tag, status_document
from aggregator.api.problems import Problem
from aggregator.api.run_document import run_document
from aggregator.board import Filter, read_board
from aggregator.rows import one_moment
from aggregator.runs import read_run
from aggregator.status import read_status
from pacewatch.words.slot import Load

router = APIRouter(prefix="/api", tags=["read"])

Names = Annotated[list[str] | None, Query(max_length=100)]
"""A filter that may be given several times; left out, it lets everything through."""


@router.get("/board", response_class=JSONResponse)
def board(  # noqa: PLR0913 - five filters
    request: Request,
    centre: AtCentre,
    model: Names = None,
    provider: Names = None,
    region: Names = None,
    workload: Names = None,
    load: Annotated[list[Load] | None, Query(max_length=2)] = None,
) -> Response:
    """Return models with their endpoints, medians pooled over the regions and of each region.

    Each filter may be given several times. With `If-None-Match` of an unchanged board: 304.
    """
    asked = Filter(
        models=frozenset(model or ()),
        providers=frozenset(provider or ()),
        regions=frozenset(region or ()),
        workloads=frozenset(workload or ()),
        loads=frozenset(map(str, load or ())),
    )
    now = centre.clock()
    with one_moment(centre.pool) as connection:
        found = read_board(connection, centre.fleet, asked, now)
    document = board_document(found)
    headers = {"ETag": entity_tag(document), "Cache-Control": "no-cache"}
    if headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return JSONResponse(document, headers=headers)


@router.get("/status", response_class=JSONResponse)
def status(centre: AtCentre) -> Response:
    """Return how the fleet itself stands: regions, dispatch, endpoints that fail now."""
    with one_moment(centre.pool) as connection:
        found = read_status(connection, centre.fleet, centre.clock())
    return JSONResponse(status_document(found), headers={"Cache-Control": "no-cache"})


@router.get("/runs/{id}", response_class=JSONResponse)
def run(id: UUID, centre: AtCentre) -> Response:
    """Return one run whole: its slot, the execution that counts, each request with its figures.

    Timelines are kept for two weeks; after them the figures stay.
    """
    with one_moment(centre.pool) as connection:
        found = read_run(connection, id)
    if found is None:
        raise Problem(404, f"run {id}: never planned, or no longer kept")
    return JSONResponse(run_document(found), headers={"Cache-Control": "no-cache"})
