"""What every route works with, and who may call it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPBearer

from aggregator.api.problems import Problem
from aggregator.db import Connection, Pool, translated
from aggregator.regions import Grant, Scope, region_of
from pacewatch.words.fleet import Fleet


def utc_now() -> datetime:
    """Return the moment by this host's clock."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Centre:
    """The store, the fleet and the clock of one aggregator."""

    pool: Pool
    fleet: Fleet
    clock: Callable[[], datetime]


def centre_of(request: Request) -> Centre:
    """Return the centre of the app that serves the request."""
    centre: Centre = request.app.state.centre
    return centre


AtCentre = Annotated[Centre, Depends(centre_of)]
"""A route's parameter: the centre."""


def connected(centre: AtCentre) -> Iterator[Connection]:
    """Give a connection for the time of a request: one transaction, undone where the route raises.

    Psycopg's errors come out as StoreError. For routes that are plain functions: they run in a
    thread.
    """
    with translated(), centre.pool.connection() as connection:
        yield connection


InTransaction = Annotated[Connection, Depends(connected, scope="function")]
"""A route's parameter: a connection with an open transaction, committed when the route returns."""


_BEARER = HTTPBearer(
    auto_error=False,
    scheme_name="token",
    description="One that `pacewatch token issue` made, of a scope that may do this.",
)
"""For the description alone, in which a header of that name is nothing."""


def granted(*scopes: Scope) -> Callable[..., Grant]:
    """Return the dependency that lets in who bears a token of one of the scopes.

    Everybody else gets 401, before anything of the body is read.
    """

    def grant(
        request: Request, centre: AtCentre, _told: Annotated[object, Security(_BEARER)]
    ) -> Grant:
        word, _, token = request.headers.get("authorization", "").partition(" ")
        found = None
        if word.lower() == "bearer" and token:
            with translated(), centre.pool.connection() as connection:
                found = region_of(connection, token.strip())
        if found is None:
            raise Problem(401, "a bearer token is needed, and this is none that the centre issued")
        if found.scope not in scopes:
            allowed = " or ".join(scopes)
            raise Problem(401, f"a token of scope {found.scope} may not do this (needs: {allowed})")
        return found

    return grant
