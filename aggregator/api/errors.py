"""What answers where no route does: a page to who asks for one, as a browser does, and to all else
a problem document; both say the same sentence.
"""

import logging
from http import HTTPStatus

import psycopg
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from aggregator.api.centre import Centre
from aggregator.api.html import asks_for_a_page, broken_page, problem_page
from aggregator.api.problems import RETRY_AFTER_S, Problem, problem_response
from pacewatch import log
from pacewatch.words.errors import PacewatchError, StoreError

logger = logging.getLogger(__name__)


def add_errors(app: FastAPI) -> None:
    """Answer every error of the app."""

    @app.exception_handler(Problem)
    async def problem(request: Request, error: Problem) -> Response:
        return _told(request, error.status, error.detail, error.headers)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        headers = dict(error.headers) if error.headers else {}
        return _told(request, error.status_code, _sentence(request, error), headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return _told(request, 422, f"{place}: {first['msg'].lower()}")

    @app.exception_handler(StoreError)
    async def store(request: Request, error: StoreError) -> Response:
        if isinstance(error.__cause__, psycopg.DataError):
            return _told(request, 422, "a value in the request is beyond what the store can hold")
        log.event(logger, "store.failed", level=logging.WARNING, reason=str(error))
        if asks_for_a_page(request):
            return broken_page(_centre(request))
        headers = {"Retry-After": str(RETRY_AFTER_S)}
        return problem_response(503, "the store does not answer", headers)

    @app.exception_handler(PacewatchError)
    async def ours(request: Request, error: PacewatchError) -> Response:
        return _told(request, 422, str(error))

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, error: Exception) -> Response:
        # the server logs the error itself, with its trace
        return _told(request, 500, "a fault of the centre's own; its log says which")


def _sentence(request: Request, error: HTTPException) -> str:
    """Return what is wrong, also where the router knows a status and no more."""
    if error.detail != HTTPStatus(error.status_code).phrase:
        return str(error.detail)
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = (error.headers or {}).get("Allow", "another method")
        return f"{request.method} is not taken here (allowed: {allowed})"
    return "nothing has this address"


def _told(
    request: Request, status: int, detail: str, headers: dict[str, str] | None = None
) -> Response:
    if asks_for_a_page(request):
        return problem_page(_centre(request), status, detail, headers)
    return problem_response(status, detail, headers)


def _centre(request: Request) -> Centre:
    centre: Centre = request.app.state.centre
    return centre
