"""Refuses a query of the API that names what no route reads, or names twice what has one value: a
misspelt filter lets all through, and of two values one would be taken unsaid.
"""

from collections import Counter
from collections.abc import Iterator
from typing import get_args, get_origin

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from aggregator.api.problems import Problem


async def only_known(request: Request) -> None:
    """Raise Problem where the query of an API route holds a name that the route does not read, or
    several times one that it reads once.
    """
    route = request.scope["route"]
    if not request.query_params or not route.path.startswith("/api/"):
        return
    allowed = dict(_names(route))
    for name, times in Counter(name for name, _ in request.query_params.multi_items()).items():
        if name not in allowed:
            known = ", ".join(sorted(allowed)) or "none"
            raise Problem(422, f"query.{name}: unknown (allowed: {known})")
        if times > 1 and not allowed[name]:
            raise Problem(422, f"query.{name}: is given {times} times (allowed: once)")


def _names(route: APIRoute) -> Iterator[tuple[str, bool]]:
    """Give the names of all that a route and what it depends on read from a query, and whether it
    may be given several times.
    """
    waiting: list[Dependant] = [route.dependant]
    while waiting:
        dependant = waiting.pop()
        for field in dependant.query_params:
            kinds = (field.field_info.annotation, *get_args(field.field_info.annotation))
            yield field.alias, any(get_origin(kind) is list for kind in kinds)
        waiting += dependant.dependencies
