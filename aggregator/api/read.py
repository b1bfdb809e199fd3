"""What is shown, as JSON: the board, series and their days, the status, one run."""

from datetime import date, timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import JSONResponse

from aggregator.api.centre import AtCentre
from aggregator.api.described import UNCHANGED, answered
from aggregator.api.documents import (
    BoardDocument,
    DaysDocument,
    SeriesPageDocument,
    board_document,
    days_document,
    series_document,
)
from aggregator.api.filters import Asked, Word
from aggregator.api.problems import Problem
from aggregator.api.run_document import RunDocument, run_document
from aggregator.api.status_document import StatusDocument, status_document
from aggregator.api.tagged import tagged
from aggregator.board import MOST_ENDPOINTS, Part, read_board
from aggregator.days import read_days
from aggregator.rows import one_moment
from aggregator.runs import read_run
from aggregator.series import read_load, read_series
from aggregator.status import read_status

router = APIRouter(prefix="/api", tags=["read"])


@router.get("/board", response_class=JSONResponse, responses=UNCHANGED | answered(BoardDocument))
def board(
    request: Request,
    centre: AtCentre,
    asked: Asked,
    after: Annotated[Word, Query(description="The `next` of the part before.")] = "",
    limit: Annotated[int, Query(ge=1, le=500, description="Endpoints of a part.")] = MOST_ENDPOINTS,
) -> Response:
    """Return models with their endpoints, medians pooled over the regions and of each region.

    Each filter may be given several times. A part holds whole models, by name; `next` is null in
    the last one. With `If-None-Match` of an unchanged board: 304.
    """
    now = centre.clock()
    part = Part(after=after, endpoints=limit)
    with one_moment(centre.pool) as connection:
        found = read_board(connection, centre.fleet, asked, now, part)
    return tagged(request, board_document(found))


@router.get(
    "/series", response_class=JSONResponse, responses=UNCHANGED | answered(SeriesPageDocument)
)
def series(
    request: Request,
    centre: AtCentre,
    asked: Asked,
    after: Annotated[
        int, Query(ge=0, le=2**31 - 1, description="The `next` of the page before.")
    ] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000, description="Series of a page.")] = 200,
) -> Response:
    """Return series one by one, each with the statistics of its window.

    Each filter may be given several times. `next` is null on the last page. With `If-None-Match`
    of an unchanged page: 304.
    """
    now = centre.clock()
    with one_moment(centre.pool) as connection:
        found = read_series(connection, centre.fleet, asked, now, after=after, limit=limit)
    return tagged(request, series_document(found))


@router.get(
    "/series/{id}/days", response_class=JSONResponse, responses=UNCHANGED | answered(DaysDocument)
)
def days(
    request: Request,
    centre: AtCentre,
    id: Annotated[int, Path(ge=1, le=2**31 - 1)],
    since: date | None = None,
    until: date | None = None,
) -> Response:
    """Return a series' statistics by UTC day: the last 90 days that are over, unless said.

    They stay when the runs themselves are no longer kept.
    """
    now = centre.clock()
    until = until or now.date()
    since = since or until - timedelta(days=min(90, until.toordinal() - 1))
    with one_moment(centre.pool) as connection:
        load = read_load(connection, id)
        found = read_days(connection, id, since, until)
    if load is None:
        raise Problem(404, f"series {id}: unknown (allowed: the ids of /api/series)")
    return tagged(request, days_document(id, load, found, now))


@router.get("/status", response_class=JSONResponse, responses=UNCHANGED | answered(StatusDocument))
def status(request: Request, centre: AtCentre) -> Response:
    """Return how the fleet itself stands: regions, dispatch, endpoints that fail now."""
    with one_moment(centre.pool) as connection:
        found = read_status(connection, centre.fleet, centre.clock())
    return tagged(request, status_document(found))


@router.get("/runs/{id}", response_class=JSONResponse, responses=UNCHANGED | answered(RunDocument))
def run(request: Request, id: UUID, centre: AtCentre) -> Response:
    """Return one run whole: its slot, the execution that counts, each request with its figures.

    Timelines are kept for two weeks; after them the figures stay.
    """
    with one_moment(centre.pool) as connection:
        found = read_run(connection, id)
    if found is None:
        raise Problem(404, f"run {id}: never planned, or no longer kept")
    return tagged(request, run_document(found))
