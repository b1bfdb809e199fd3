"""`probe`: one run here and now, figures on the screen."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import typer

from pacewatch.words.errors import SettingsError

if TYPE_CHECKING:
    from pacewatch.words.endpoint import Endpoint, Limits
    from pacewatch.words.fleet import Fleet, Region
    from pacewatch.words.slot import Workload
    from pacewatch.words.timing import Run, Timing
    from probe.keys import Key
    from probe.reading import Reading

_ENDPOINT = typer.Argument(None, help="An endpoint of the catalog or of the file, by its id.")
_BASE_URL = typer.Option(None, help="Any server, without a file: scheme, host and leading path.")
_PROTOCOL = typer.Option("openai-chat", help="With --base-url: the wire protocol it speaks.")
_MODEL = typer.Option(None, help="With --base-url: the server's own name of the model.")
_KEY_ENV = typer.Option(None, help="With --base-url: the variable that holds the key.")
_FIRST_TOKEN = typer.Option(None, min=0.001, help="Limit to the first token, seconds.")
_STALL = typer.Option(None, min=0.001, help="Limit between two tokens, seconds.")
_TOTAL = typer.Option(None, min=0.001, help="Limit of the whole answer, seconds.")
_WORKLOAD = typer.Option("standard", help="Shape of the request: short, standard, long, ...")
_REGION = typer.Option(None, help="Region of the file whose proxy and CA file are used.")
_JSON = typer.Option(False, "--json", help="Print the run record, with figures, as JSON.")


def add_to(app: typer.Typer) -> None:
    """Mount this file's commands."""
    app.command()(probe)


def probe(  # noqa: PLR0913 - the options of the command
    endpoint: str | None = _ENDPOINT,
    base_url: str | None = _BASE_URL,
    protocol: str = _PROTOCOL,
    model: str | None = _MODEL,
    key_env: str | None = _KEY_ENV,
    first_token: float | None = _FIRST_TOKEN,
    stall: float | None = _STALL,
    total: float | None = _TOTAL,
    workload: str = _WORKLOAD,
    region: str | None = _REGION,
    as_json: bool = _JSON,
) -> None:
    """Measure one endpoint once, from here.

    Exit code 0: the answer reached its end. 1: it did not. 2: wrong use.
    """
    from pacewatch.words.outcome import Outcome

    environment = dict(os.environ)
    if base_url is not None:
        if endpoint is not None or region is not None:
            raise SettingsError("--base-url: takes no endpoint and no --region beside it")
        asked = _of_address(base_url, protocol, model, key_env, environment)
    else:
        if model is not None or key_env is not None:
            raise SettingsError("--model and --key-env: need --base-url beside them")
        asked = _of_catalog(endpoint, region, environment)
    asked = replace(
        asked,
        endpoint=_with_limits(asked.endpoint, first_token, stall, total),
        workload=_workload(workload, asked.fleet),
    )
    run = _measure(asked, as_json=as_json)
    if as_json:
        _show_record(run)
    else:
        _show_screen(asked, run)
    if any(timing.outcome is not Outcome.OK for timing in run.timings):
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What is measured, and from where."""

    endpoint: "Endpoint"
    region: "Region"
    key: "Key | None"
    fleet: "Fleet | None" = None
    workload: "Workload | None" = None


def _of_address(
    base_url: str,
    protocol: str,
    model: str | None,
    key_env: str | None,
    environment: Mapping[str, str],
) -> _Asked:
    """Return a server that no file knows; raises SettingsError with every fault."""
    from pacewatch.catalog import read_catalog
    from pacewatch.own import read_own
    from pacewatch.secret import read_secret
    from pacewatch.tables import Table
    from pacewatch.words.endpoint import Auth, why_not_probed
    from pacewatch.words.endpoint import Protocol as Spoken
    from pacewatch.words.fleet import DEFAULT_REGION, Region
    from probe.keys import Key

    told = {"base_url": base_url, "protocol": protocol, "model": model, "key_env": key_env}
    faults: list[str] = []
    table = Table(
        {name: value for name, value in told.items() if value is not None},
        place="probe",
        path="",
        faults=faults,
    )
    endpoint = read_own(table, read_catalog())
    if faults or endpoint is None:
        raise SettingsError([_as_option(fault) for fault in faults])
    if (why := why_not_probed(endpoint)) is not None:
        raise SettingsError(f"--protocol: {why}")
    key = None
    if key_env is not None:
        secret = read_secret(key_env, environment)
        if secret is None:
            raise SettingsError(f"--key-env: {key_env} is not set, and neither is {key_env}_FILE")
        key = Key(secret)
        if endpoint.auth is Auth.NONE:
            is_bearer = endpoint.protocol is not Spoken.ANTHROPIC
            endpoint = replace(endpoint, auth=Auth.BEARER if is_bearer else Auth.X_API_KEY)
    return _Asked(endpoint=endpoint, region=Region(name=DEFAULT_REGION), key=key)


def _as_option(fault: str) -> str:
    """Return a fault of a table as one of the command line's options."""
    text = fault.removeprefix("probe: ")
    name, colon, rest = text.partition(":")
    return f"--{name.replace('_', '-')}{colon}{rest}" if colon else text


def _of_catalog(name: str | None, region: str | None, environment: Mapping[str, str]) -> _Asked:
    """Return an endpoint that the catalog or the file knows; raises SettingsError."""
    from pacewatch.config import config_path, load_fleet
    from pacewatch.tables import shown, suggestion
    from pacewatch.words.endpoint import why_not_probed
    from probe.keys import key_of, why_no_key

    if name is None:
        raise SettingsError("probe: names no endpoint (give its id, or --base-url and --model)")
    fleet = load_fleet(config_path(environment), environment)
    endpoint = fleet.catalog.get(name)
    if endpoint is None:
        raise SettingsError(
            f"probe: no endpoint {shown(name)} is known{suggestion(name, fleet.catalog)}"
        )
    if (why := why_not_probed(endpoint)) is not None:
        raise SettingsError(f"probe: {endpoint.id}: {why}")
    place = region or min(fleet.regions)
    if place not in fleet.regions:
        raise SettingsError(f"--region: {shown(place)} is none{suggestion(place, fleet.regions)}")
    if not fleet.simulated and (why := why_no_key(endpoint, environment)) is not None:
        raise SettingsError(f"probe: {endpoint.id}: {why}")
    key = None if fleet.simulated else key_of(endpoint, environment)
    return _Asked(
        endpoint=endpoint,
        region=fleet.regions[place],
        key=key,
        fleet=fleet,
    )


def _with_limits(
    endpoint: "Endpoint", first_token: float | None, stall: float | None, total: float | None
) -> "Endpoint":
    told = {"first_token_s": first_token, "stall_s": stall, "total_s": total}
    limits: Limits = replace(
        endpoint.limits, **{name: value for name, value in told.items() if value is not None}
    )
    return replace(endpoint, limits=limits)


def _workload(name: str, fleet: "Fleet | None") -> "Workload":
    from pacewatch.tables import shown, suggestion
    from pacewatch.words.slot import WORKLOADS

    known = WORKLOADS if fleet is None else fleet.workloads
    if name not in known:
        raise SettingsError(f"--workload: {shown(name)} is none{suggestion(name, known)}")
    return known[name]


def _measure(asked: _Asked, *, as_json: bool) -> "Run":
    """Make the run; where the server refuses a member of the body by name, one more without it."""
    from probe.reading import Reading

    with closing(Reading()) as reading:
        Thread(target=reading.start, daemon=True).start()  # it starts while the rest is loaded
        return _make_runs(asked, reading, as_json=as_json)


def _make_runs(asked: _Asked, reading: "Reading", *, as_json: bool) -> "Run":
    from pacewatch.cli.render import show_line
    from probe.adapt import refused_members

    known = refused_members(asked.endpoint)
    run = asyncio.run(_run(asked, reading))
    refused = [one for one in refused_members(asked.endpoint) if one not in known]
    if refused:
        if not as_json:
            show_line(
                f"The server refuses {' and '.join(refused)}; this is a second run without it."
            )
        run = asyncio.run(_run(asked, reading))
    return run


async def _run(asked: _Asked, reading: "Reading") -> "Run":
    from pacewatch import __version__
    from pacewatch.words.endpoint import endpoint_hash
    from pacewatch.words.fleet import catalog_hash
    from pacewatch.words.slot import Load, Purpose, run_id
    from pacewatch.words.timing import WorkerName
    from pacewatch.words.wire import Task
    from probe.run import make_run

    if asked.workload is None:
        raise ValueError("a run needs a workload")
    now = datetime.now(UTC)
    fleet = asked.fleet
    return await make_run(
        task=Task(
            run_id=run_id(
                purpose=Purpose.MANUAL,
                endpoint=asked.endpoint.id,
                region=asked.region.name,
                workload=asked.workload.name,
                load=Load.SINGLE,
                at=str(uuid4()),
            ),
            endpoint=asked.endpoint.id,
            workload=asked.workload.name,
            load=Load.SINGLE,
            slot_at=now,
            purpose=Purpose.MANUAL,
            valid_until=now + timedelta(hours=1),
        ),
        endpoint=asked.endpoint,
        workload=asked.workload,
        region=asked.region,
        key=asked.key,
        requests=1,
        simulated=fleet is not None and fleet.simulated,
        worker=WorkerName(
            id="probe",
            version=__version__,
            catalog=endpoint_hash(asked.endpoint, asked.workload)
            if fleet is None
            else catalog_hash(fleet),
        ),
        execution=uuid4(),
        beside=0,
        reading=reading,
    )


def _show_record(run: "Run") -> None:
    from pacewatch.cli.render import show_json
    from pacewatch.words.wire import encode_run

    record = encode_run(run)
    for request, timing in zip(record["requests"], run.timings, strict=True):
        request["figures"] = figures_json(timing)
    show_json(record)


def figures_json(timing: "Timing") -> dict[str, Any]:
    """Return a request's figures by their names; null where one is undefined."""
    from pacewatch.words.figures import figures_of
    from pacewatch.words.flag import Figure

    figures = figures_of(timing)
    return {str(figure): figures.value(figure) for figure in Figure}


def _show_screen(asked: _Asked, run: "Run") -> None:
    from pacewatch.cli.probe_screen import screen
    from pacewatch.cli.render import screen_width, show

    show(*screen(asked.endpoint, run, width=screen_width()))
