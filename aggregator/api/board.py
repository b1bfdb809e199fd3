"""The board as a page: `/`, complete without scripts, and its stylesheet."""

import hashlib
import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined

from aggregator.api.centre import AtCentre
from aggregator.api.problems import RETRY_AFTER_S, Problem
from aggregator.board import Board, Filter, Part, read_board
from aggregator.notices import caption_of, legend_of, notices_of
from aggregator.page import (
    Choice,
    load_tabs,
    make_sections,
    page_links,
    region_tabs,
    workload_tabs,
)
from aggregator.rows import one_moment
from pacewatch import log
from pacewatch.words.errors import StoreError
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import Load, to_rfc3339

logger = logging.getLogger(__name__)

router = APIRouter(include_in_schema=False)

RENEW_S, RENEW_SIMULATED_S, RETRY_S = 60, 10, 10
"""How often the page asks for itself anew, seconds: the board, that of a demo, the broken one."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
"""Nothing but our own stylesheet and icon may be loaded, and no page may frame this one."""

STATIC = {"style.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"}


@cache
def static_file(name: str) -> bytes:
    """Return a file of the package's web folder."""
    return files("aggregator").joinpath("web", name).read_bytes()


@cache
def templates() -> Environment:
    """Return the page's templates: every value is escaped, a missing one is a fault."""
    found = Environment(
        loader=PackageLoader("aggregator", "web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = hashlib.sha256(static_file("style.css")).hexdigest()[:12]
    found.globals["style_version"] = style
    return found


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
    fleet, now = centre.fleet, centre.clock()
    choice = Choice(
        region=region or None,
        workload=workload or fleet.schedule.workloads[0],
        load=Load(load) if load in set(Load) else Load.SINGLE,
        renews=refresh != "off",
        after=after.replace("\0", ""),
    )
    asked = Filter(
        regions=frozenset({choice.region} if choice.region else ()),
        workloads=frozenset({choice.workload}),
        loads=frozenset({choice.load}),
    )
    try:
        with one_moment(centre.pool) as connection:
            found = read_board(connection, fleet, asked, now, Part(after=choice.after))
    except StoreError as error:
        log.event(logger, "store.failed", level=logging.WARNING, reason=str(error))
        return _broken(fleet, now)
    return HTMLResponse(page_text(found, fleet, choice), headers=HEADERS)


def page_text(board: Board, fleet: Fleet, choice: Choice) -> str:
    """Return the page of a board that was read for the choice. Pure."""
    renew_s = RENEW_SIMULATED_S if board.simulated else RENEW_S
    return (
        templates()
        .get_template("board.html")
        .render(
            simulated=board.simulated,
            renew_s=renew_s if choice.renews else 0,
            hold_address=choice.query(refresh="off" if choice.renews else None),
            made=_made(board.at),
            regions=region_tabs(board, choice),
            loads=load_tabs(fleet, choice),
            workloads=workload_tabs(board, choice),
            caption=caption_of(fleet, choice),
            notices=notices_of(board, fleet, choice),
            sections=make_sections(board, choice, board.at),
            legend=legend_of(board, choice),
            pages=page_links(board, choice),
        )
    )


def _made(now: datetime) -> Mapping[str, str]:
    return {
        "date": f"{now:%-d %B %Y}",
        "time": f"{now:%H:%M:%S}",
        "exact": to_rfc3339(now - timedelta(microseconds=now.microsecond)),
    }


def _broken(fleet: Fleet, now: datetime) -> Response:
    text = (
        templates()
        .get_template("broken.html")
        .render(simulated=fleet.simulated, made=_made(now), renew_s=RETRY_S)
    )
    return HTMLResponse(text, 503, {**HEADERS, "Retry-After": str(RETRY_AFTER_S)})


@router.get("/static/{name}")
def static(name: str) -> Response:
    """Return the stylesheet or the icon; its address changes with what it holds."""
    if name not in STATIC:
        raise Problem(404, f"no such file (known: {', '.join(STATIC)})")
    headers = {**HEADERS, "Cache-Control": "public, max-age=31536000", "Content-Type": STATIC[name]}
    return Response(static_file(name), headers=headers)
