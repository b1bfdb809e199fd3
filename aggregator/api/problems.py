"""Errors of the HTTP side: problem documents (RFC 9457), the same sentence a person would get."""

import logging
from http import HTTPStatus
from typing import Annotated, Any

import psycopg
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from typing_extensions import TypedDict

from aggregator.api.described import reference, told
from pacewatch import log
from pacewatch.words.errors import PacewatchError, StoreError

logger = logging.getLogger(__name__)

PROBLEM_JSON = "application/problem+json"
RETRY_AFTER_S = 5
"""What a client is told to wait when the store does not answer, seconds."""


class ProblemDocument(TypedDict):
    """Why a request is not answered otherwise (RFC 9457)."""

    type: Annotated[str, told("always about:blank: the status says which kind it is")]
    title: Annotated[str, told("the status in words")]
    status: Annotated[int, told("of HTTP")]
    detail: Annotated[str, told("what is wrong and what is allowed, one sentence")]


_DESCRIBED: dict[str, Any] = {
    "description": "A problem document (RFC 9457); `detail` is a sentence.",
    "content": {PROBLEM_JSON: {"schema": reference(ProblemDocument)}},
}

PROBLEMS: dict[int | str, dict[str, Any]] = {"4XX": _DESCRIBED, "5XX": _DESCRIBED}
"""What the API's description says of every operation's errors."""


class Problem(Exception):  # noqa: N818 - RFC 9457's word
    """A request that is answered with a problem document; raised anywhere below a route."""

    def __init__(self, status: int, detail: str, *, retry_after_s: int | None = None) -> None:
        """Keep status and sentence; `retry_after_s` is told in the header of that name."""
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers: dict[str, str] = {}
        if retry_after_s is not None:
            self.headers["Retry-After"] = str(retry_after_s)
        if status == HTTPStatus.UNAUTHORIZED:
            self.headers["WWW-Authenticate"] = "Bearer"


def problem_response(
    status: int, detail: str, headers: dict[str, str] | None = None
) -> JSONResponse:
    """Return the problem document."""
    document: ProblemDocument = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    return JSONResponse(document, status, headers, PROBLEM_JSON)


def add_problems(app: FastAPI) -> None:
    """Answer every error of the app with a problem document."""

    @app.exception_handler(Problem)
    async def problem(request: Request, error: Problem) -> JSONResponse:
        return problem_response(error.status, error.detail, error.headers)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        headers = dict(error.headers) if error.headers else None
        return problem_response(error.status_code, str(error.detail), headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return problem_response(422, f"{place}: {first['msg'].lower()}")

    @app.exception_handler(StoreError)
    async def store(request: Request, error: StoreError) -> JSONResponse:
        if isinstance(error.__cause__, psycopg.DataError):
            return problem_response(422, "a value in the request is beyond what the store can hold")
        log.event(logger, "store.failed", level=logging.WARNING, reason=str(error))
        return problem_response(
            503, "the store does not answer", {"Retry-After": str(RETRY_AFTER_S)}
        )

    @app.exception_handler(PacewatchError)
    async def ours(request: Request, error: PacewatchError) -> JSONResponse:
        return problem_response(422, str(error))

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, error: Exception) -> JSONResponse:
        # the server logs the error itself, with its trace
        return problem_response(500, "a fault of the centre's own; its log says which")
