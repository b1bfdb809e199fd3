"""Reads the body of a request, bounded in size and in time before anything looks into it."""

from collections.abc import Callable
from typing import Annotated, Any, LiteralString, TypeVar

import anyio
from fastapi import Request
from pydantic import BaseModel, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError
from starlette.requests import ClientDisconnect

from aggregator.api.problems import Problem

BODY_S = 30
"""How long a body may take to arrive, seconds."""

RETRY_AFTER_S = 5

Body = TypeVar("Body", bound=BaseModel)


SAYS = r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$"
"""One line of text that is not blank."""


def told_as(sentence: LiteralString) -> WrapValidator:
    """Return what has every fault of a value told in one sentence."""

    def read(value: object, inner: ValidatorFunctionWrapHandler) -> Any:
        try:
            return inner(value)
        except ValidationError as error:
            raise PydanticCustomError("refused", sentence) from error

    return WrapValidator(read)


Author = Annotated[
    str,
    Field(max_length=100, pattern=SAYS),
    told_as("is no name (allowed: one line of at most 100 characters that is not blank)"),
]
"""Who says something; left out, nobody is named."""


def body_of(model: type[Body], most_bytes: int, empty: str = "") -> Callable[[Request], Any]:
    """Return the dependency that reads the body up to a size and then as that model; `empty` stands
    for a body that is left out.

    Raises Problem: 413 before more is read, 503 where it does not arrive in time, 422 with the
    first fault.
    """

    async def read(request: Request) -> Body:
        held = await read_body(request, most_bytes)
        try:
            return model.model_validate_json(held or empty)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "body"
            raise Problem(422, f"{place}: {first['msg'].lower()}") from error

    return read


async def read_body(request: Request, most_bytes: int) -> bytes:
    """Return the body as it was sent; raises Problem as soon as it is too large or too slow."""
    told = request.headers.get("content-length", "0")
    if not told.isdecimal() or int(told) > most_bytes:
        raise too_large(most_bytes)
    body = bytearray()
    try:
        with anyio.fail_after(BODY_S):
            async for piece in request.stream():
                body += piece
                if len(body) > most_bytes:
                    raise too_large(most_bytes)
    except TimeoutError as error:
        raise Problem(
            503, f"the body took longer than {BODY_S} s", retry_after_s=RETRY_AFTER_S
        ) from error
    except ClientDisconnect as error:
        raise Problem(400, "the connection ended before the body did") from error
    return bytes(body)


def too_large(most_bytes: int) -> Problem:
    """Return what a body of more bytes than that is answered."""
    return Problem(413, f"the body is too large (allowed: {most_bytes} bytes, unpacked)")
