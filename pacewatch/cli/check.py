"""`check`, `plan`: read the file and say what would happen; nothing is sent."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pacewatch.words.endpoint import Endpoint
    from pacewatch.words.fleet import Fleet

_FILE = typer.Argument(None, help="The file; without it PACEWATCH_CONFIG or ./pacewatch.toml.")
_JSON = typer.Option(False, "--json", help="Print JSON.")
_NOTHING = (
    "Nothing is probed: no provider key is here, and no file names an endpoint; "
    "`pacewatch up` would show its demo, and a centre needs `endpoints` in its file"
)


def add_to(app: typer.Typer) -> None:
    """Mount this file's commands."""
    app.command()(check)
    app.command()(plan)


def check(file: Path | None = _FILE, as_json: bool = _JSON) -> None:
    """Find every fault of file and environment; send nothing.

    Without a fault it says what is probed, and what is not and why.
    """
    from aggregator.notify.courier import Courier
    from pacewatch.cli.channels import channel_notes, look_at
    from pacewatch.cli.render import show, show_json
    from pacewatch.words.errors import SettingsError

    environment = dict(os.environ)
    try:
        path, fleet = _read(file, environment)
        with Courier() as courier:
            looked = look_at(fleet, environment, courier)
        if faults := [one.fault for one in looked if one.fault]:
            raise SettingsError(faults)
    except SettingsError as error:
        if not as_json:
            raise
        show_json({"faults": list(error.faults)})
        raise typer.Exit(2) from error
    notes = [*_notes(fleet, environment), *channel_notes(fleet, looked)]
    if as_json:
        show_json(_check_json(fleet, environment, notes))
    else:
        show(*_check_screen(path, fleet, environment, notes))


def plan(file: Path | None = _FILE, as_json: bool = _JSON) -> None:
    """Say what would be asked, and for how much; send nothing.

    The requests and costs of a day and a month, thinned to the daily cap.
    """
    from aggregator.plan import make_plan
    from pacewatch.cli.plan_screen import plan_json, plan_screen
    from pacewatch.cli.render import show, show_json

    environment = dict(os.environ)
    _, fleet = _read(file, environment)
    made = make_plan(fleet)
    if as_json:
        show_json(plan_json(fleet, made, environment))
    else:
        show(*plan_screen(fleet, made, environment))


def _read(file: Path | None, environment: Mapping[str, str]) -> tuple[Path | None, "Fleet"]:
    """Return file and fleet; raises SettingsError with the faults of both file and environment."""
    from pacewatch.catalog import read_catalog
    from pacewatch.config import config_path, load_fleet
    from pacewatch.environment import environment_faults
    from pacewatch.words.errors import SettingsError

    path = file or config_path(environment)
    faults: list[str] = []
    fleet = None
    try:
        fleet = load_fleet(path, environment)
    except SettingsError as error:
        faults += error.faults
    known = read_catalog().endpoints if fleet is None else fleet.catalog
    channels = () if fleet is None else fleet.channels
    faults += environment_faults(environment, known.values(), channels)
    if faults or fleet is None:
        raise SettingsError(faults)
    return path, fleet


def _check_screen(
    path: Path | None, fleet: "Fleet", environment: Mapping[str, str], notes: list[str]
) -> list["RenderableType"]:
    from rich.text import Text

    from pacewatch.cli.plan_screen import note_lines
    from pacewatch.cli.render import table

    parts: list[RenderableType] = [Text(_verdict(path, fleet))]
    if fleet.endpoints:
        rows = [_endpoint_cells(endpoint, environment) for endpoint in fleet.endpoints]
        parts += [Text(), table(_probed_columns(), rows)]
    if fleet.skipped:
        rows_left = [(skipped.endpoint, skipped.reason) for skipped in fleet.skipped]
        parts += [Text(), table(_skipped_columns(), rows_left)]
    if notes:
        parts += [Text(), note_lines(notes)]
    return parts


def _verdict(path: Path | None, fleet: "Fleet") -> str:
    where = "no file, the catalog alone" if path is None else str(path)
    what = "simulated endpoints" if fleet.simulated else "endpoints"
    what = what.removesuffix("s") if len(fleet.endpoints) == 1 else what
    regions = ", ".join(sorted(fleet.regions))
    return f"{where}: fine; probed: {len(fleet.endpoints)} {what} from {regions}"


def _probed_columns() -> tuple[Any, ...]:
    from pacewatch.cli.render import Column

    return (
        Column(name="Probed", gives_way=True),
        Column(name="Protocol", narrow=False),
        Column(name="Importance"),
        Column(name="US$ in/out per M", right=True),
        Column(name="Published tok/s", right=True, narrow=False),
        Column(name="Key", gives_way=True),
    )


def _skipped_columns() -> tuple[Any, ...]:
    from pacewatch.cli.render import Column

    return (Column(name="Skipped", gives_way=True), Column(name="Why", gives_way=True))


def _endpoint_cells(endpoint: "Endpoint", environment: Mapping[str, str]) -> tuple[str, ...]:
    from pacewatch.words.text import UNKNOWN, speed_text

    price = endpoint.price
    return (
        endpoint.id,
        str(endpoint.protocol),
        str(endpoint.importance),
        UNKNOWN if price is None else f"{price.input_usd:g} / {price.output_usd:g}",
        speed_text(endpoint.published_tokens_per_s),
        _key_text(endpoint, environment),
    )


def _key_text(endpoint: "Endpoint", environment: Mapping[str, str]) -> str:
    from probe.keys import key_name, key_of

    if not endpoint.key_names:
        return "needs none"
    if key_of(endpoint, environment) is None:
        return "not here"
    return key_name(endpoint, environment) or f"{endpoint.ambient} credentials of the shell"


def _notes(fleet: "Fleet", environment: Mapping[str, str]) -> list[str]:
    """Return what is no fault and still to be known."""
    from aggregator.plan import make_plan
    from pacewatch.cli.plan_screen import plan_notes, shell_notes

    notes = [] if fleet.endpoints else [_NOTHING]
    notes += _key_notes(fleet, environment)
    return notes + plan_notes(fleet, make_plan(fleet)) + shell_notes(fleet, environment)


def _key_notes(fleet: "Fleet", environment: Mapping[str, str]) -> list[str]:
    from urllib.parse import urlsplit

    from pacewatch.cli.render import listed
    from pacewatch.words.address import is_loopback
    from probe.keys import why_no_key

    keyless: dict[str, list[str]] = {}
    for endpoint in fleet.endpoints:
        if reason := why_no_key(endpoint, environment):
            keyless.setdefault(reason, []).append(endpoint.id)
    notes = [
        f"{listed(ids)}: {reason}; a worker with this environment declines the runs"
        for reason, ids in keyless.items()
    ]
    notes += [
        f"{endpoint.id}: its key goes out in clear (allowed; https would hide it)"
        for endpoint in fleet.endpoints
        if endpoint.key_names
        and (parts := urlsplit(endpoint.base_url)).scheme == "http"
        and not is_loopback(parts.hostname or "")
    ]
    return notes


def _check_json(fleet: "Fleet", environment: Mapping[str, str], notes: list[str]) -> dict[str, Any]:
    return {
        "faults": [],
        "simulated": fleet.simulated,
        "regions": sorted(fleet.regions),
        "endpoints": [
            {
                "endpoint": endpoint.id,
                "protocol": str(endpoint.protocol),
                "importance": str(endpoint.importance),
                "own": endpoint.own,
                "key": _key_text(endpoint, environment),
            }
            for endpoint in fleet.endpoints
        ],
        "skipped": [{"endpoint": s.endpoint, "reason": s.reason} for s in fleet.skipped],
        "notes": notes,
    }
