"""`incidents`: what is wrong, how much, whose fault it looks like, and what people say to it."""

from typing import Annotated, Any

import typer

from pacewatch.cli.choices import number_of
from pacewatch.cli.default_command import OrList

incidents_app = typer.Typer(
    cls=OrList,
    rich_markup_mode=None,
    help="List the open incidents, show one, and say that it is in hand or here to stay.",
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Id = Annotated[
    int,
    typer.Argument(
        parser=number_of("an incident"), metavar="ID", help="Its number.", show_default=False
    ),
]
By = Annotated[str, typer.Option(help="Who says so; your login name unless said.")]

PAGE = 200
"""Incidents that are asked for at once."""


def add_to(app: typer.Typer) -> None:
    """Mount this file's commands."""
    app.add_typer(incidents_app, name="incidents")


@incidents_app.command("list")
def list_(
    all_: Annotated[
        bool, typer.Option("--all", help="Also those that have ended, the latest 200.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the incidents; `incidents` alone does it too. Exit code 1 where one is open."""
    from pacewatch.cli import centre, incidents_screen, render

    asked = {"state": ["all" if all_ else "open"], "limit": [str(PAGE)]}
    document = centre.get("/api/incidents", asked)
    if as_json:
        render.show_json(document)
    else:
        render.show(*incidents_screen.list_parts(document, width=render.screen_width()))
    if any(one["open"] for one in document["incidents"]):
        raise typer.Exit(1)


@incidents_app.command()
def show(id: Id, as_json: AsJson = False) -> None:
    """Show one incident: what, how much, since when, whose fault, its timeline and runs."""
    from pacewatch.cli import centre

    _show(centre.get(f"/api/incidents/{id}", unknown=unknown("ID", id)), as_json=as_json)


@incidents_app.command()
def ack(id: Id, by: By = "", as_json: AsJson = False) -> None:
    """Say that you have an open incident in hand: nobody is reminded of it any more."""
    _show(_say("acknowledge", id, by), as_json=as_json)


@incidents_app.command()
def accept(id: Id, by: By = "", as_json: AsJson = False) -> None:
    """Take the level of now as the usual one, where a slowdown is there to stay.

    The central worker judges by it within seconds, and the incident closes.
    """
    _show(_say("accept", id, by), as_json=as_json)


def _say(word: str, incident: int, by: str) -> dict[str, Any]:
    from pacewatch.cli import centre
    from pacewatch.cli.author import author

    path = f"/api/incidents/{incident}"
    found = centre.get(path, unknown=unknown("ID", incident))
    token = centre.token("admin", simulated=found["simulated"])
    said: dict[str, Any] = centre.post(f"{path}/{word}", author(by), token, options={"by": "--by"})
    return said


def unknown(given: str, incident: int) -> str:
    """Return the sentence for an incident that there is not, by how it was given."""
    return f"{given}: there is no incident {incident} (pacewatch incidents --all lists the latest)"


def _show(document: dict[str, Any], *, as_json: bool) -> None:
    from pacewatch.cli import incidents_screen, render

    if as_json:
        render.show_json(document)
    else:
        render.show(*incidents_screen.show_parts(document, width=render.screen_width()))
