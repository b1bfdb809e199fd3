"""The HTTP application of the centre: errors, health, and every router."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Literal

from fastapi import Depends, FastAPI
from typing_extensions import TypedDict

from aggregator.api import (
    board,
    changes,
    docs,
    evidence,
    export,
    html,
    incident_pages,
    incidents,
    manual,
    metrics,
    pages,
    push,
    read,
    silences,
    verdicts,
    workers,
)
from aggregator.api.centre import AtCentre, Centre, utc_now
from aggregator.api.described import DescribedAPI, told
from aggregator.api.errors import add_errors
from aggregator.api.head import HeadAsGet
from aggregator.api.known_query import only_known
from aggregator.api.problems import PROBLEMS, Problem
from aggregator.db import Pool, missing_migrations, translated
from pacewatch import __version__
from pacewatch.words.fleet import Fleet


class HealthDocument(TypedDict):
    """That it is well."""

    status: Annotated[Literal["ok"], told("nothing else is answered with 200")]


def create_app(pool: Pool, fleet: Fleet, *, clock: Callable[[], datetime] = utc_now) -> FastAPI:
    """Return the application over an open pool; it neither opens nor closes it."""
    app = DescribedAPI(
        title="Pacewatch",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        responses=PROBLEMS,
        dependencies=[Depends(only_known)],
    )
    app.state.centre = Centre(pool=pool, fleet=fleet, clock=clock)
    add_errors(app)
    app.add_middleware(HeadAsGet)
    add_health(app)
    app.include_router(push.router())
    app.include_router(export.router())
    for part in (
        metrics,
        read,
        verdicts,
        incidents,
        silences,
        changes,
        evidence,
        board,
        pages,
        incident_pages,
        html,
        docs,
        manual,
        workers,
    ):
        app.include_router(part.router)
    return app


def add_health(app: FastAPI) -> None:
    """Add `/livez`, which asks nothing of anybody, and `/readyz`, which asks Postgres."""

    @app.get("/livez", tags=["health"])
    async def livez() -> HealthDocument:
        """Say that the process answers."""
        return {"status": "ok"}

    @app.get("/readyz", tags=["health"])
    def readyz(centre: AtCentre) -> HealthDocument:
        """Say that the store answers and has the tables this version needs; 503 where not."""
        with translated(), centre.pool.connection(timeout=3) as connection:
            missing = missing_migrations(connection)
        if missing:
            raise Problem(503, f"the store lacks migration {missing[0]}: run pacewatch migrate")
        return {"status": "ok"}
