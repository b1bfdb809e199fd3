"""The board as a page: `/`, complete without scripts."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from aggregator.api.centre import AtCentre
from aggregator.api.html import RENEW_S, RENEW_SIMULATED_S, answered, made_at, plain, rendered
from aggregator.board import Board, Filter, Part, read_board
from aggregator.db import Connection
from aggregator.incident_page import MOST_ON_BOARD, incident_lines, more_text
from aggregator.notices import caption_of, legend_of, notices_of
from aggregator.page import Choice, make_sections
from aggregator.tabs import load_tabs, page_links, region_tabs, workload_tabs
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import Load

router = APIRouter(include_in_schema=False)


@router.get("/")
def page(  # noqa: PLR0913 - five things to choose
    centre: AtCentre,
    region: Annotated[str, Query(max_length=200)] = "",
    workload: Annotated[str, Query(max_length=200)] = "",
    load: Annotated[str, Query(max_length=200)] = "",
    refresh: Annotated[str, Query(max_length=10)] = "",
    after: Annotated[str, Query(max_length=300)] = "",
) -> Response:
    """Return the board of one region or all, one workload and one load; what is not known here is
    taken as not chosen.
    """
    fleet = centre.fleet
    choice = Choice(
        region=plain(region) or None,
        workload=plain(workload) or fleet.schedule.workloads[0],
        load=Load(load) if load in set(Load) else Load.SINGLE,
        renews=refresh != "off",
        after=plain(after),
    )
    asked = Filter(
        regions=frozenset({choice.region} if choice.region else ()),
        workloads=frozenset({choice.workload}),
        loads=frozenset({choice.load}),
    )

    def write(connection: Connection, now: datetime) -> str:
        found = read_board(connection, fleet, asked, now, Part(after=choice.after))
        return page_text(found, fleet, choice)

    return answered(centre, write)


def page_text(board: Board, fleet: Fleet, choice: Choice) -> str:
    """Return the page of a board that was read for the choice. Pure."""
    renew_s = RENEW_SIMULATED_S if board.simulated else RENEW_S
    lines = incident_lines(board.incidents[:MOST_ON_BOARD], board.at)
    return rendered(
        "board.html",
        simulated=board.simulated,
        renew_s=renew_s if choice.renews else 0,
        hold_address=choice.query(refresh="off" if choice.renews else None),
        made=made_at(board.at),
        regions=region_tabs(board, choice),
        loads=load_tabs(fleet, choice),
        workloads=workload_tabs(board, choice),
        caption=caption_of(fleet, choice),
        incidents=lines,
        more_incidents=more_text(len(lines), len(board.incidents)),
        notices=notices_of(board, fleet, choice),
        sections=make_sections(board, choice, board.at),
        legend=legend_of(board, choice),
        pages=page_links(board, choice),
    )
