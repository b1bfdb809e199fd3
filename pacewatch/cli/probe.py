"""`probe`: runs here and now, or from a region of the fleet; figures on the screen."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from pacewatch.words.errors import PacewatchError, SettingsError

if TYPE_CHECKING:
    from pacewatch.cli.probe_here import Here
    from pacewatch.words.endpoint import Limits
    from pacewatch.words.timing import Run, Timing

MOST_REQUESTS = 20
STOPPED = 130
"""Exit code of what Ctrl-C has ended."""

_ENDPOINT = typer.Argument(None, help="An endpoint of the catalog or of the file, by its id.")
_BASE_URL = typer.Option(None, help="Any server, without a file: scheme, host and leading path.")
_PROTOCOL = typer.Option("openai-chat", help="With --base-url: the wire protocol it speaks.")
_MODEL = typer.Option(None, help="With --base-url: the server's own name of the model.")
_KEY_ENV = typer.Option(None, help="With --base-url: the variable that holds the key.")
_FIRST_TOKEN = typer.Option(None, min=0.001, help="Limit to the first token, seconds.")
_STALL = typer.Option(None, min=0.001, help="Limit between two tokens, seconds.")
_TOTAL = typer.Option(None, min=0.001, help="Limit of the whole answer, seconds.")
_WORKLOAD = typer.Option(None, help="Shape of the request: short, standard, long, ...")
_REGION = typer.Option(None, help="Region of the file whose proxy and CA file are used.")
_FROM = typer.Option(None, "--from", help="Have a worker of this region measure it.")
_PARALLEL = typer.Option(
    1, min=1, max=MOST_REQUESTS, help="Requests started together, after one alone."
)
_REPEAT = typer.Option(None, min=1, help="Runs, one after another.")
_WATCH = typer.Option(False, "--watch", help="On a terminal, draw the answer while it comes.")
_JSON = typer.Option(
    False, "--json", help="Print the run record, with figures, as JSON; with --repeat a list."
)


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
    workload: str | None = _WORKLOAD,
    region: str | None = _REGION,
    from_region: str | None = _FROM,
    parallel: int = _PARALLEL,
    repeat: int | None = _REPEAT,
    watch: bool = _WATCH,
    as_json: bool = _JSON,
) -> None:
    """Measure one endpoint now, from here or from a region of the fleet.

    Exit code 0: every answer reached its end. 1: one did not, or was not asked for. 2: wrong use.
    130: stopped by Ctrl-C; what was measured until then is shown.
    """
    known = {"--base-url": base_url, "--model": model, "--key-env": key_env, "--region": region}
    limits = {"--first-token": first_token, "--stall": stall, "--total": total}
    _refuse_together(endpoint, from_region, {**known, **limits})
    if endpoint is not None and from_region is not None:
        made = _from_region(endpoint, from_region, workload, parallel, repeat or 1)
    else:
        from pacewatch.cli import probe_asked, probe_here

        environment = dict(os.environ)
        asked = (
            probe_asked.of_catalog(endpoint, region, environment)
            if base_url is None
            else probe_asked.of_address(base_url, protocol, model, key_env, environment)
        )
        asked = probe_asked.with_limits(asked, first_token, stall, total)
        here = probe_here.Here(
            asked=asked,
            workload=probe_asked.workload_of(workload, asked.fleet),
            requests=parallel,
            watch=watch,
        )
        made = _by_ourselves(here, repeat or 1)
    raise typer.Exit(_show(made, is_list=repeat is not None, as_json=as_json))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """A run that is over."""

    run: "Run"
    record: dict[str, Any]
    """What --json prints of it."""
    limits: "Limits | None" = None
    alone: "Run | None" = None
    """Of a parallel run: one request alone, made before."""


def _refuse_together(
    endpoint: str | None, from_region: str | None, told: dict[str, object]
) -> None:
    """Raise SettingsError for options that cannot stand beside one another."""
    given = [name for name, value in told.items() if value is not None]
    if from_region is not None:
        if endpoint is None:
            raise SettingsError("--from: needs the id of an endpoint that the fleet probes")
        if given:
            raise SettingsError(f"--from: the region decides, so {given[0]} cannot be set")
    if "--base-url" in given:
        if endpoint is not None or "--region" in given:
            raise SettingsError("--base-url: takes no endpoint and no --region beside it")
    elif "--model" in given or "--key-env" in given:
        raise SettingsError("--model and --key-env: need --base-url beside them")


def _by_ourselves(here: "Here", count: int) -> Iterator[_Made]:
    alone = here.alone() if here.requests > 1 else None
    for run in here.runs(count):
        record = _record(run)
        if alone is not None:
            record["alone"] = _record(alone)
        yield _Made(run=run, record=record, limits=here.asked.endpoint.limits, alone=alone)


def _record(run: "Run") -> dict[str, Any]:
    from pacewatch.words.wire import encode_run

    record = encode_run(run)
    for request, timing in zip(record["requests"], run.timings, strict=True):
        request["figures"] = figures_json(timing)
    return record


def figures_json(timing: "Timing") -> dict[str, Any]:
    """Return a request's figures by their names; null where one is undefined."""
    from pacewatch.words.figures import figures_of
    from pacewatch.words.flag import Figure

    figures = figures_of(timing)
    return {str(figure): figures.value(figure) for figure in Figure}


def _from_region(
    endpoint: str, region: str, workload: str | None, requests: int, count: int
) -> Iterator[_Made]:
    from pacewatch.cli.probe_away import of_centre, run_of
    from pacewatch.cli.render import show_line
    from pacewatch.words.slot import Load

    load = Load.SINGLE if requests == 1 else Load.PARALLEL
    for document in of_centre(endpoint, region, workload, load).documents(count):
        run = run_of(document)
        if (made := len(run.timings)) != requests:
            show_line(
                f"{region} makes parallel runs of {made} requests, not {requests}", error=True
            )
        yield _Made(run=run, record=document)


def _show(made: Iterator[_Made], *, is_list: bool, as_json: bool) -> int:
    """Wait for the runs and show them; return the exit code.

    What ends them before their time is raised again once those that are over are shown.
    """
    from pacewatch.cli.render import show_line

    found: list[_Made] = []
    code, ended = 0, None
    try:
        found.extend(made)
    except KeyboardInterrupt:
        code = STOPPED
    except PacewatchError as error:
        ended = error
    if as_json:
        _show_records(found, is_list=is_list)
    elif found:
        _show_screen(found)
    if code == STOPPED:
        show_line("Stopped", error=True)
    if ended is not None:
        raise ended
    return code or _code_of(found)


def _show_records(found: Sequence[_Made], *, is_list: bool) -> None:
    from pacewatch.cli.render import show_json

    if is_list:
        show_json([one.record for one in found])
    elif found:
        show_json(found[0].record)


def _show_screen(found: Sequence[_Made]) -> None:
    from pacewatch.cli import probe_screen, probe_table
    from pacewatch.cli.render import screen_width, show

    width, first = screen_width(), found[0]
    if len(found) > 1:
        parts = probe_table.repeated_screen(
            [one.run for one in found], alone=first.alone, width=width
        )
    elif len(first.run.timings) > 1:
        parts = probe_table.parallel_screen(first.run, alone=first.alone, width=width)
    else:
        parts = probe_screen.screen(first.run, limits=first.limits, width=width)
    show(*parts)


def _code_of(found: Iterable[_Made]) -> int:
    from pacewatch.words.outcome import Outcome

    timings = [timing for one in found for timing in one.run.timings]
    return int(any(timing.outcome is not Outcome.OK for timing in timings))
