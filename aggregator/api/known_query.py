"""Refuses a query of the API that names what no route reads: a misspelt filter lets all through."""

from collections.abc import Iterator

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from aggregator.api.problems import Problem


async def only_known(request: Request) -> None:
    """Raise Problem where the query of an API route holds a name that the route does not read."""
    route = request.scope["route"]
    if not request.query_params or not route.path.startswith("/api/"):
        return
    allowed = set(_names(route))
    for name in request.query_params:
        if name not in allowed:
            known = ", ".join(sorted(allowed)) or "none"
            raise Problem(422, f"query.{name}: unknown (allowed: {known})")


def _names(route: APIRoute) -> Iterator[str]:
    """Give the names of all that a route and what it depends on read from a query."""
    waiting: list[Dependant] = [route.dependant]
    while waiting:
        dependant = waiting.pop()
        yield from (field.alias for field in dependant.query_params)
        waiting += dependant.dependencies
