"""`/runbooks/NAME.md`: what to do about an alert, as the source's docs have it, in plain text."""

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response

from aggregator.api.html import HEADERS
from aggregator.api.problems import Problem

router = APIRouter(include_in_schema=False)


@cache
def runbooks() -> dict[str, str]:
    """Return the runbooks by file name: an installed package's own, else those of the source."""
    installed = files("aggregator").joinpath("runbooks")
    source = Path(__file__).parents[2] / "docs" / "runbooks"
    folder: Traversable = installed if installed.is_dir() else source
    return {file.name: file.read_text("utf-8") for file in folder.iterdir()}


@router.get("/runbooks/{name}")
def runbook(name: str) -> Response:
    """Return a runbook, whose name is the alert's."""
    known = runbooks()
    if name not in known:
        raise Problem(404, f"no such runbook (known: {', '.join(sorted(known))})")
    return PlainTextResponse(known[name], headers=HEADERS)
