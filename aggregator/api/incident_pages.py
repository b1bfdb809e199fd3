"""`/incidents` and `/incidents/{id}`: complete without scripts."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from aggregator.api.centre import AtCentre
from aggregator.api.html import (
    RENEW_S,
    RENEW_SIMULATED_S,
    Missing,
    answered,
    made_at,
    rendered,
)
from aggregator.db import Connection
from aggregator.incident_page import incident_lines, incident_page
from aggregator.incident_views import (
    NEWEST,
    IncidentsAsked,
    read_incidents,
    read_open,
    read_whole,
)
from aggregator.rows import is_simulated, read_store
from aggregator.silences import MOST, Silence, read_silences
from pacewatch.words.text import ago_text

router = APIRouter(include_in_schema=False)

MOST_OPEN, MOST_PAST = 200, 50
"""Incidents that the list shows at most; further past ones have pages of their own."""

PAST = ("cleared", "unconfirmed", "closed")


@router.get("/incidents")
def incidents(centre: AtCentre, before: Annotated[str, Query(max_length=20)] = "") -> Response:
    """Return the open incidents and the latest that have ended; `before` an incident, those that
    ended and were earlier.
    """
    first = int(before) if before.isdecimal() else NEWEST

    def write(connection: Connection, now: datetime) -> str:
        store = read_store(connection)
        simulated = is_simulated(store, centre.fleet)
        judged_at = None if store is None else store.judged_at
        return rendered(
            "incidents.html",
            simulated=simulated,
            made=made_at(now),
            renew_s=RENEW_SIMULATED_S if simulated else RENEW_S,
            first=before if first < NEWEST else "",
            **_lists(connection, min(first, NEWEST), now, judged_at),
        )

    return answered(centre, write)


@router.get("/incidents/{id}")
def incident(id: str, centre: AtCentre) -> Response:
    """Return one incident whole."""

    def write(connection: Connection, now: datetime) -> str:
        found = read_whole(connection, int(id)) if id.isdecimal() and int(id) < NEWEST else None
        if found is None:
            raise Missing(f"There is no incident {id}, or it is no longer kept.")
        page = incident_page(found, now)
        renew_s = RENEW_SIMULATED_S if page.simulated else RENEW_S
        return rendered(
            "incident.html",
            simulated=page.simulated,
            made=made_at(now),
            renew_s=renew_s if found.incident.ended_at is None else 0,
            page=page,
        )

    return answered(centre, write)


def _lists(
    connection: Connection, before: int, now: datetime, judged_at: datetime | None
) -> dict[str, Any]:
    past = read_incidents(
        connection, IncidentsAsked(states=PAST, before=before, limit=MOST_PAST + 1)
    )
    page = past[:MOST_PAST]
    is_first = before == NEWEST
    held = read_open(connection, MOST_OPEN) if is_first else ()
    suspected = IncidentsAsked(states=("suspected",), limit=MOST_OPEN)
    silences = read_silences(connection, now, ended=False, limit=MOST) if is_first else []
    return {
        "open": incident_lines(held, now),
        "suspected": incident_lines(read_incidents(connection, suspected) if is_first else (), now),
        "past": incident_lines(page, now),
        "older": f"/incidents?before={page[-1].incident_id}" if len(past) > MOST_PAST else "",
        "summary": f"{len(held)} open" if is_first else f"before {before}",
        "empty": _none_open(judged_at, now),
        "silences": [_silence(one) for one in silences],
    }


def _none_open(judged_at: datetime | None, now: datetime) -> str:
    """Return that no incident is open, and whether anybody has looked."""
    if judged_at is None:
        return "No incident is open; but nothing has been judged yet."
    return f"No incident is open. The latest round of judging ended {ago_text(judged_at, now)}."


def _silence(one: Silence) -> dict[str, str]:
    return {
        "endpoints": one.endpoints,
        "region": one.region,
        "until": f"{one.ends_at:%Y-%m-%d %H:%M} UTC",
        "why": one.why,
    }
