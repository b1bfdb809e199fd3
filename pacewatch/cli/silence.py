"""`silence`: have nobody told of some endpoints' incidents for a while."""

import re
from datetime import timedelta
from typing import Annotated

import typer

from pacewatch.cli.choices import number_of
from pacewatch.cli.default_command import OrBegin
from pacewatch.tables import shown
from pacewatch.words.errors import SettingsError

silence_app = typer.Typer(
    cls=OrBegin,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Have nobody told of some endpoints' incidents for a while: "
    "pacewatch silence 'groq/*' --for 2h --why 'their maintenance'.",
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_SPAN = re.compile(r"([0-9]{1,5})(min|h|d)")
_OPTIONS = {
    "endpoints": "ENDPOINTS",
    "region": "--region",
    "for_s": "--for",
    "why": "--why",
    "by": "--by",
}
_UNITS = {"min": "minutes", "h": "hours", "d": "days"}


def add_to(app: typer.Typer) -> None:
    """Mount this file's commands."""
    app.add_typer(silence_app, name="silence")


@silence_app.command()
def begin(  # noqa: PLR0913 - six words
    endpoints: Annotated[
        str,
        typer.Argument(help="An endpoint's id, or a pattern of ids: 'groq/*'.", show_default=False),
    ],
    lasts: Annotated[
        str, typer.Option("--for", help="For how long: 30min, 2h, 3d.", show_default=False)
    ],
    why: Annotated[
        str, typer.Option(help="The reason, for everybody to read.", show_default=False)
    ],
    region: Annotated[
        str, typer.Option(help="Only incidents of this region alone; all without it.")
    ] = "",
    by: Annotated[str, typer.Option(help="Who says so; your login name unless said.")] = "",
    as_json: AsJson = False,
) -> None:
    """Begin a silence; the word `begin` may be left out.

    Incidents go on and are shown; nobody is told of them until it ends.
    """
    from pacewatch.cli import centre, render
    from pacewatch.cli.author import author
    from pacewatch.cli.silences_screen import line

    asked = {
        "endpoints": endpoints,
        "region": region,
        "for_s": int(span_of(lasts).total_seconds()),
        "why": why,
        **author(by),
    }
    made = centre.post("/api/silences", asked, _token(), options=_OPTIONS)
    if as_json:
        render.show_json(made)
    else:
        render.show_line(line(made))


@silence_app.command("list")
def list_(
    all_: Annotated[bool, typer.Option("--all", help="Also those that have ended.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the silences that hold."""
    from pacewatch.cli import centre, render, silences_screen

    document = centre.whole_silences({"ended": [str(all_).lower()]})
    if as_json:
        render.show_json(document)
    else:
        render.show(*silences_screen.parts(document, width=render.screen_width()))


@silence_app.command()
def end(
    id: Annotated[
        int, typer.Argument(parser=number_of("a silence"), metavar="ID", show_default=False)
    ],
    as_json: AsJson = False,
) -> None:
    """End a silence now."""
    from pacewatch.cli import centre, render
    from pacewatch.cli.silences_screen import line

    unknown = f"ID: there is no silence {id} (pacewatch silence list --all lists them)"
    document = centre.delete(f"/api/silences/{id}", _token(), unknown=unknown)
    if as_json:
        render.show_json(document)
    else:
        render.show_line(line(document))


def span_of(text: str) -> timedelta:
    """Return a length of time; raises SettingsError for what is none."""
    found = _SPAN.fullmatch(text)
    if found is None or not int(found[1]):
        raise SettingsError(f"--for: {shown(text)} is no length of time (allowed: 30min, 2h, 3d)")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _token() -> str:
    from pacewatch.cli import centre

    return centre.token("admin", simulated=centre.get("/api/silences")["simulated"])
