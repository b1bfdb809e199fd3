"""`board`, `status`: ask the aggregator what it knows."""

import os
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pacewatch.words.slot import Load

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_AGGREGATOR_URL = "http://127.0.0.1:8420"

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Names = list[str] | None


def add_to(app: typer.Typer) -> None:
    """Mount this file's commands."""
    app.command()(board)
    app.command()(status)


def board(  # noqa: PLR0913 - six options
    model: Annotated[Names, typer.Option(help="Only this model; may be repeated.")] = None,
    provider: Annotated[Names, typer.Option(help="Only this provider; may be repeated.")] = None,
    region: Annotated[
        Names, typer.Option(help="Only from this region; several are pooled.")
    ] = None,
    workload: Annotated[str | None, typer.Option(help="Another workload than usual.")] = None,
    load: Annotated[Load, typer.Option(help="One request, or several at once.")] = Load.SINGLE,
    as_json: AsJson = False,
) -> None:
    """Show how fast each endpoint is, the fastest first."""
    from pacewatch.cli import board_screen, render

    asked = {
        "model": model or [],
        "provider": provider or [],
        "region": region or [],
        "workload": [workload] if workload else [],
        "load": [str(load)],
    }
    document = _get("/api/board", asked)
    if not document["models"]:
        _refuse_unknown(asked, _get("/api/board", {}))
    if as_json:
        render.show_json(document)
        return
    width = render.screen_width()
    render.show(*board_screen.parts(document, workload=workload, load=load, width=width))


def status(as_json: AsJson = False) -> None:
    """Show whether the fleet is well; exit code 1 where not.

    Its regions and their workers, the dispatch of slots, and endpoints that fail.
    """
    from pacewatch.cli import render, status_screen

    document = _get("/api/status", {})
    if as_json:
        render.show_json(document)
    else:
        render.show(*status_screen.parts(document, width=render.screen_width()))
    if document["problems"]:
        raise typer.Exit(1)


def _refuse_unknown(asked: "Mapping[str, list[str]]", whole: Any) -> None:
    """Raise SettingsError for the names that are nowhere on the whole board."""
    from pacewatch.tables import suggestion
    from pacewatch.words.errors import SettingsError

    endpoints = [endpoint for model in whole["models"] for endpoint in model["endpoints"]]
    known = {
        "model": [endpoint["model"] for endpoint in endpoints],
        "provider": [endpoint["provider"] for endpoint in endpoints],
        "region": [region["region"] for region in whole["regions"]],
        "workload": whole["workloads"],
    }
    faults = [
        f'--{name}: "{word}" is not on the board{suggestion(word, words)}'
        for name, words in known.items()
        for word in asked[name]
        if word not in words
    ]
    if faults:
        raise SettingsError(faults)


def _get(path: str, asked: "Mapping[str, list[str]]") -> Any:
    """Return the aggregator's document; raises SettingsError for an address that cannot be used,
    and PacewatchError where it does not answer.
    """
    import httpx2

    from pacewatch.words.address import refuse_unencrypted
    from pacewatch.words.errors import PacewatchError, SettingsError

    url = os.environ.get("PACEWATCH_AGGREGATOR_URL") or DEFAULT_AGGREGATOR_URL
    if fault := refuse_unencrypted("PACEWATCH_AGGREGATOR_URL", url, os.environ):
        raise SettingsError(fault)
    try:
        with httpx2.Client(trust_env=False, timeout=15) as client:
            answer = client.get(url.rstrip("/") + path, params=dict(asked))
            document = answer.json()
    except httpx2.InvalidURL as error:
        raise SettingsError(f"PACEWATCH_AGGREGATOR_URL: {url}: not an address") from error
    except httpx2.HTTPError as error:
        raise PacewatchError(
            f"{url}: the aggregator does not answer: {_reason(error)} "
            "(PACEWATCH_AGGREGATOR_URL names it, pacewatch up starts one)"
        ) from error
    except ValueError as error:
        raise PacewatchError(f"{url}: this is no aggregator: its answer is not JSON") from error
    if answer.status_code == 422:
        raise SettingsError(f"{url}: {document.get('detail', answer.reason_phrase)}")
    if answer.is_error:
        raise PacewatchError(f"{url}: {document.get('detail', answer.reason_phrase)}")
    return document


def _reason(error: Exception) -> str:
    """Return what the error says, without its number."""
    said = re.sub(r"^\[Errno -?\d+\] ", "", str(error)) or type(error).__name__
    return said[:1].lower() + said[1:]
