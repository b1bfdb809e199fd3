"""Errors of the HTTP side: problem documents (RFC 9457), the same sentence a person would get."""

from http import HTTPStatus
from typing import Annotated, Any

from fastapi.responses import JSONResponse
from typing_extensions import TypedDict

from aggregator.api.described import reference, told

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
