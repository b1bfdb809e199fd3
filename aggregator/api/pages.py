"""Pages of single things: a run, an endpoint, a model; complete without scripts."""

from datetime import datetime
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import Response

from aggregator.api.centre import AtCentre
from aggregator.api.html import Missing, answered, made_at, rendered
from aggregator.db import Connection
from aggregator.run_page import run_page
from aggregator.runs import read_run

router = APIRouter(include_in_schema=False)


@router.get("/runs/{id}")
def run(id: str, centre: AtCentre) -> Response:
    """Return one run whole, with its timeline drawn."""

    def write(connection: Connection, now: datetime) -> str:
        found = read_run(connection, _run_id(id))
        if found is None:
            raise Missing(f"Run {id} was never planned, or is no longer kept.")
        page = run_page(found)
        return rendered("run.html", simulated=page.simulated, made=made_at(now), page=page)

    return answered(centre, write)


def _run_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise Missing(f"\u201c{text}\u201d is no id of a run.") from error
