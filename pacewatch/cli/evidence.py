"""`evidence`: what was measured, as files for a ticket with the provider or for a post-mortem."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pacewatch.cli.choices import number_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def add_to(app: typer.Typer) -> None:
    """Mount this file's command."""
    app.command()(evidence)


def evidence(  # noqa: PLR0913 - six options
    endpoint: Annotated[
        str | None, typer.Argument(help="An endpoint's id.", show_default=False)
    ] = None,
    incident: Annotated[
        int | None,
        typer.Option(
            parser=number_of("an incident"),
            metavar="ID",
            help="An incident's id, in place of an endpoint.",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            help="From when on: 6h, 2d, 2026-12-01, or a moment of RFC 3339; 6h, or the incident's"
            " beginning, unless said."
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(help="Until when, as --since; without it now, or the incident's end."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The folder to write into; made where it is missing."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, write nothing.")] = False,
) -> None:
    """Write what was measured as Markdown and JSON, to be attached to a ticket.

    Medians before and since, outcomes, network times, and the provider's own id of each request;
    no key, prompt or answer is in it. Exit code 1 where nothing was measured in that time.
    """
    from pacewatch.cli import centre, incidents, render
    from pacewatch.cli.evidence_page import page_of
    from pacewatch.words.errors import PacewatchError

    unknown = f'ENDPOINT: "{endpoint}" is not known (pacewatch board lists those that are)'
    if incident is not None:
        unknown = incidents.unknown("--incident", incident)
    document = centre.get(*_asked(endpoint, incident, since, until), unknown=unknown)
    if as_json:
        render.show_json(document)
    if not document["runs"]:
        times = f"{document['since']} and {document['until']}"
        raise PacewatchError(f"nothing was measured between {times} (--since looks further back)")
    if not as_json:
        folder = output or Path(folder_name(document))
        _write(folder, page_of(document), document)
        render.show_line(f"{folder}: evidence.md and evidence.json written")


def _asked(
    endpoint: str | None, incident: int | None, since: str | None, until: str | None
) -> tuple[str, dict[str, list[str]]]:
    """Return what to ask for, and how."""
    from datetime import UTC, datetime

    from pacewatch.cli.export import moment_of
    from pacewatch.words.errors import SettingsError
    from pacewatch.words.slot import to_rfc3339

    now, faults = datetime.now(UTC), list[str]()
    if (endpoint is None) is (incident is None):
        faults.append("ENDPOINT or --incident: one of them is needed, not both")
    moments = {
        name: moment_of(text, now, f"--{name}", faults)
        for name, text in (("since", since), ("until", until))
        if text is not None
    }
    if not faults and "since" in moments and moments["since"] >= moments.get("until", now):
        last = "now" if until is None else f"--until {until}"
        faults.append(f"--since: {since} is not before {last}")
    told = {name: [to_rfc3339(moment)] for name, moment in moments.items()}
    if faults:
        raise SettingsError(faults)
    if endpoint is not None:
        return "/api/evidence", {**told, "endpoint": [endpoint]}
    return f"/api/incidents/{incident}/evidence", told


def folder_name(document: "Mapping[str, Any]") -> str:
    """Return the name of a folder that says what is in it. Pure."""
    incident = document["incident"]
    what = (
        document["endpoints"][0]["endpoint"]
        if incident is None
        else f"incident-{incident['incident']}"
    )
    moment = re.sub(r"[-:]|\.\d+", "", document["until"])
    return f"evidence-{re.sub('[^A-Za-z0-9.-]+', '-', what)}-{moment}"


def _write(folder: Path, page: str, document: "Mapping[str, Any]") -> None:
    import json

    from pacewatch.words.errors import SettingsError

    texts = {
        "evidence.md": page,
        "evidence.json": json.dumps(document, indent=2, ensure_ascii=False) + "\n",
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            with (folder / name).open("x", encoding="utf-8") as file:
                file.write(text)
    except FileExistsError as error:
        raise SettingsError(
            f"--output: {error.filename}: is there already (allowed: a folder without one)"
        ) from error
    except OSError as error:
        raise SettingsError(f"--output: {folder}: {(error.strerror or 'no').lower()}") from error
