"""`board`, `status`: ask the aggregator what it knows."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pacewatch.cli.choices import choice_of, metavar_of
from pacewatch.words.slot import Load

if TYPE_CHECKING:
    from collections.abc import Mapping

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Names = list[str] | None
LoadWord = Annotated[
    Load,
    typer.Option(
        help="One request, or several at once.", parser=choice_of(Load), metavar=metavar_of(Load)
    ),
]


def add_to(app: typer.Typer) -> None:
    """Mount this file's commands."""
    app.command()(board)
    app.command()(status)


def board(  # noqa: PLR0913 - eight options
    endpoint: Annotated[Names, typer.Option(help="Only this endpoint; may be repeated.")] = None,
    model: Annotated[Names, typer.Option(help="Only this model; may be repeated.")] = None,
    provider: Annotated[Names, typer.Option(help="Only this provider; may be repeated.")] = None,
    precision: Annotated[Names, typer.Option(help="Only this precision; may be repeated.")] = None,
    region: Annotated[
        Names, typer.Option(help="Only from this region; several are pooled.")
    ] = None,
    workload: Annotated[str | None, typer.Option(help="Another workload than usual.")] = None,
    load: LoadWord = Load.SINGLE,
    as_json: AsJson = False,
) -> None:
    """Show how fast each endpoint is, the fastest first."""
    from pacewatch.cli import board_screen, centre, render

    asked = {
        "endpoint": endpoint or [],
        "model": model or [],
        "provider": provider or [],
        "precision": precision or [],
        "region": region or [],
        "workload": [workload] if workload else [],
        "load": [str(load)],
    }
    document = centre.whole_board(asked)
    if not document["models"]:
        _refuse_unknown(asked, centre.whole_board({}))
    if as_json:
        render.show_json(document)
        return
    width = render.screen_width()
    render.show(*board_screen.parts(document, workload=workload, load=load, width=width))


def status(as_json: AsJson = False) -> None:
    """Show whether the fleet is well; exit code 1 where not.

    Its regions and their workers, the dispatch of slots, and endpoints that fail.
    """
    from pacewatch.cli import centre, render, status_screen

    document = centre.get("/api/status")
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
        "endpoint": [endpoint["endpoint"] for endpoint in endpoints],
        "model": [endpoint["model"] for endpoint in endpoints],
        "provider": [endpoint["provider"] for endpoint in endpoints],
        "precision": [endpoint["precision"] for endpoint in endpoints],
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
