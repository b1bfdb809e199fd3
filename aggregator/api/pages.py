"""Pages of single things: a run, an endpoint, a model; complete without scripts."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.responses import Response

from aggregator.api.centre import AtCentre, Centre
from aggregator.api.html import Missing, answered, made_at, plain, rendered
from aggregator.board import Filter, read_board
from aggregator.db import Connection
from aggregator.endpoint_page import endpoint_page
from aggregator.model_page import model_page
from aggregator.one_endpoint import has_model, read_endpoint
from aggregator.run_page import run_page
from aggregator.runs import read_run
from pacewatch.words.slot import Load

router = APIRouter(include_in_schema=False)


Word = Annotated[str, Query(max_length=200)]


def _series(centre: Centre, workload: str, load: str) -> tuple[str, Load]:
    """Return the workload and load that are chosen; what is not told or not known is the usual."""
    usual = centre.fleet.schedule.workloads[0]
    return plain(workload) or usual, Load(load) if load in set(Load) else Load.SINGLE


@router.get("/endpoints/{id:path}")
def endpoint(id: str, centre: AtCentre, workload: Word = "", load: Word = "") -> Response:
    """Return an endpoint with its series of a workload and load in every region."""
    fleet, series = centre.fleet, _series(centre, workload, load)

    def write(connection: Connection, now: datetime) -> str:
        found = read_endpoint(connection, fleet, plain(id), series, now)
        if found is None:
            raise Missing(f"No endpoint is called \u201c{id}\u201d here.")
        page = endpoint_page(found, fleet, *series)
        return rendered("endpoint.html", simulated=page.simulated, made=made_at(now), page=page)

    return answered(centre, write)


@router.get("/models/{id:path}")
def model(id: str, centre: AtCentre, workload: Word = "", load: Word = "") -> Response:
    """Return a model's endpoints side by side, with their series of a workload and load."""
    fleet, series = centre.fleet, _series(centre, workload, load)
    asked = Filter(
        models=frozenset({plain(id)}),
        workloads=frozenset({series[0]}),
        loads=frozenset({str(series[1])}),
    )

    def write(connection: Connection, now: datetime) -> str:
        if not has_model(connection, plain(id)):
            raise Missing(f"No model is called \u201c{id}\u201d here.")
        page = model_page(read_board(connection, fleet, asked, now), id, fleet, *series)
        return rendered("model.html", simulated=page.simulated, made=made_at(now), page=page)

    return answered(centre, write)


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
