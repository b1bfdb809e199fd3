"""Reads the body of a request, bounded in size and in time before anything looks into it."""

import anyio
from fastapi import Request
from starlette.requests import ClientDisconnect

from aggregator.api.problems import Problem

BODY_S = 30
"""How long a body may take to arrive, seconds."""

RETRY_AFTER_S = 5


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
