"""What every page has in common: its templates, its headers, its stylesheet, and what stands there
while the store does not answer or where there is no such thing.
"""

import hashlib
import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import cache
from http import HTTPStatus
from importlib.resources import files

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined

from aggregator.api.centre import Centre
from aggregator.api.problems import RETRY_AFTER_S, Problem
from aggregator.db import Connection
from aggregator.rows import one_moment
from pacewatch import log
from pacewatch.words.errors import StoreError
from pacewatch.words.slot import to_rfc3339

logger = logging.getLogger(__name__)

router = APIRouter(include_in_schema=False)

RENEW_S, RENEW_SIMULATED_S, RETRY_S = 60, 10, 10
"""How often a page asks for itself anew, seconds: one of figures, that of a demo, a broken one."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
"""Nothing but our own stylesheet and icon may be loaded, and no page may frame this one."""

STATIC = {"style.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"}


class Missing(Exception):  # noqa: N818 - what is asked for, not a fault
    """There is no such thing to show; the text says so in one sentence."""


@cache
def static_file(name: str) -> bytes:
    """Return a file of the package's web folder."""
    return files("aggregator").joinpath("web", name).read_bytes()


@cache
def templates() -> Environment:
    """Return the pages' templates: every value is escaped, a missing one is a fault."""
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


def rendered(template: str, **values: object) -> str:
    """Return a template's text with these values."""
    return templates().get_template(template).render(**values)


def plain(word: str) -> str:
    """Return a name without what Postgres does not take in a text."""
    return word.replace("\0", "")


def answered(centre: Centre, write: Callable[[Connection, datetime], str]) -> Response:
    """Return the page that `write` makes of the store at one moment.

    Where it raises Missing: 404 with its sentence. Where the store does not answer: 503 with a page
    that tries again.
    """
    now = centre.clock()
    try:
        with one_moment(centre.pool) as connection:
            text = write(connection, now)
    except Missing as missing:
        return problem_page(centre, HTTPStatus.NOT_FOUND, str(missing))
    except StoreError as error:
        log.event(logger, "store.failed", level=logging.WARNING, reason=str(error))
        return broken_page(centre)
    return HTMLResponse(text, headers=HEADERS)


def asks_for_a_page(request: Request) -> bool:
    """Tell whether a request takes HTML, as a browser's does."""
    return "text/html" in request.headers.get("accept", "")


def problem_page(
    centre: Centre, status: int, what: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a page that says in one sentence why there is nothing else to show."""
    text = rendered(
        "problem.html",
        title="Nothing here" if status == HTTPStatus.NOT_FOUND else HTTPStatus(status).phrase,
        what=sentence(what),
        simulated=centre.fleet.simulated,
        made=made_at(centre.clock()),
    )
    return HTMLResponse(text, status, {**HEADERS, **(headers or {})})


def broken_page(centre: Centre) -> Response:
    """Return the page for when the store does not answer, which tries again."""
    text = rendered(
        "broken.html",
        renew_s=RETRY_S,
        simulated=centre.fleet.simulated,
        made=made_at(centre.clock()),
    )
    return HTMLResponse(text, 503, {**HEADERS, "Retry-After": str(RETRY_AFTER_S)})


def sentence(words: str) -> str:
    """Return words as a sentence; a name of something first, as `query.load:`, stays as it is."""
    first = words.partition(" ")[0]
    capital = words[:1].upper() if first.isalpha() else words[:1]
    return capital + words[1:] + ("" if words.endswith(".") else ".")


def made_at(now: datetime) -> Mapping[str, str]:
    """Return how a page tells when it was made."""
    return {
        "date": f"{now:%-d %B %Y}",
        "time": f"{now:%H:%M:%S}",
        "exact": to_rfc3339(now - timedelta(microseconds=now.microsecond)),
    }


@router.get("/static/{name}")
def static(name: str) -> Response:
    """Return the stylesheet or the icon; its address changes with what it holds."""
    if name not in STATIC:
        raise Problem(404, f"no such file (known: {', '.join(STATIC)})")
    headers = {**HEADERS, "Cache-Control": "public, max-age=31536000", "Content-Type": STATIC[name]}
    return Response(static_file(name), headers=headers)
