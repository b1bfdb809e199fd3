"""`up`: the whole of Pacewatch on one machine, with its own database and broker."""

import os
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pacewatch.stack.choice import Choice
    from pacewatch.stack.crew import Site
    from pacewatch.stack.state import State
    from pacewatch.stack.supervise import Supervisor
    from pacewatch.words.fleet import Fleet

Demo = Annotated[bool, typer.Option("--demo", help="Simulated providers, whatever keys are there.")]
Yes = Annotated[bool, typer.Option("--yes", help="Accept the plan without being asked.")]
Listen = Annotated[
    str | None, typer.Option(help="host:port of board and API; 127.0.0.1:8420 without it.")
]
RegionName = Annotated[
    str | None, typer.Option("--region", help="The region of the file that this machine stands in.")
]
Notify = Annotated[
    str | None,
    typer.Option(
        metavar="VARIABLE",
        help="In the demo: tell of incidents at the address (apprise's form) of this variable.",
    ),
]

_DEMO_PACE = "Figures come in seconds, a median of each endpoint within a day of eight minutes"
_DEMO_LEARNS = (
    "What is usual of an endpoint is learnt in twelve minutes, of those with sentinels in four; "
    "a slowdown is told after that"
)
_REAL_PACE = "What was never measured is measured now; medians are shown from the sixth run on"


def add_to(app: typer.Typer) -> None:
    """Mount this file's command."""
    app.command()(up)


def up(
    demo: Demo = False,
    yes: Yes = False,
    listen: Listen = None,
    region: RegionName = None,
    notify: Notify = None,
) -> None:
    """Run everything on this machine until Ctrl-C.

    With a provider key in the environment, or an endpoint of your own in pacewatch.toml, it probes
    those; with neither it is the demo.
    """
    from aggregator.settings import read_listen
    from pacewatch.stack.choice import choose
    from pacewatch.stack.ports import why_no_listening
    from pacewatch.stack.state import hold, state_folder
    from pacewatch.words.errors import StackError

    environment = dict(os.environ)
    host, port = read_listen(environment, listen)
    choice = choose(environment, demo=demo, region=region, notify=notify)
    simulated = choice.fleet is None
    folder = state_folder(environment, simulated=simulated, uid=os.geteuid())
    try:
        with hold(folder, simulated=simulated) as state:
            if reason := why_no_listening(host, port, patience_s=1.0):
                raise StackError(
                    f"{host}:{port}: {reason[:1].lower()}{reason[1:]} "
                    "(allowed: a free address; --listen host:port names it)"
                )
            _introduce(choice, state)
            if choice.fleet is not None:
                _consent(choice.fleet, state, yes=yes)
            _run(choice, state, host, port)
    except OSError as error:
        raise StackError(f"{error.filename or folder}: {error.strerror or error}") from error


def _introduce(choice: "Choice", state: "State") -> None:
    from pacewatch import __version__

    if choice.fleet is None:
        _say(f"Pacewatch {__version__}, DEMO: every provider and every figure is simulated")
    else:
        _say(f"Pacewatch {__version__}, measuring from region {choice.regions[0]}")
    for note in choice.notes:
        _say(note)
    _say(f"State is kept in {state.folder}")


def _consent(fleet: "Fleet", state: "State", *, yes: bool) -> None:
    """Show the plan, and ask once for its ceiling where a person is there to answer."""
    from pacewatch.cli.plan_screen import show_plan
    from pacewatch.words.errors import SettingsError

    show_plan(fleet, os.environ)
    ceiling = fleet.spending.usd_per_day
    accepted = state.accepted_usd_per_day()
    if yes or fleet.spending.accept_spending or (accepted is not None and accepted >= ceiling):
        return
    if not sys.stdin.isatty():
        raise SettingsError(
            "these endpoints are real and no terminal is there to ask whether to probe them "
            "(allowed: --yes, or accept_spending = true under [spending])"
        )
    typer.confirm(_question(fleet, ceiling), abort=True)
    state.accept_usd_per_day(ceiling)


def _question(fleet: "Fleet", ceiling_usd: float) -> str:
    """Return what is asked: the ceiling, and for whom it cannot be kept."""
    from pacewatch.words.text import plural

    unpriced = [endpoint for endpoint in fleet.endpoints if endpoint.price is None]
    if not unpriced:
        return f"Probe them, for at most US$ {ceiling_usd:g} a day?"
    return (
        f"Probe them, for at most US$ {ceiling_usd:g} a day, "
        f"not counting {plural(len(unpriced), 'endpoint')} without a known price?"
    )


def _run(choice: "Choice", state: "State", host: str, port: int) -> None:
    from pacewatch.stack.supervise import Supervisor

    with Supervisor(state.logs, tell=_report) as supervisor:
        site = _site(choice, state, host, port)
        state.announce(site.aggregator_url)
        _start(supervisor, choice, site)
        _say(f"Board: {site.aggregator_url}")
        _say(_DEMO_PACE if choice.fleet is None else _REAL_PACE)
        if choice.fleet is None:
            _say(_DEMO_LEARNS)
        if choice.notify:
            _say(f"Incidents are told to the address in {choice.notify}")
        _say("Ctrl-C stops everything")
        supervisor.wait_until_ready()
        supervisor.watch()
    _say("Stopped")


def _site(choice: "Choice", state: "State", host: str, port: int) -> "Site":
    from pacewatch.stack import valkey
    from pacewatch.stack.crew import Site, local_url
    from pacewatch.stack.part import ordinary_environment
    from pacewatch.stack.pulse import Pulse

    url = local_url(host, port)
    return Site(
        state=state.folder,
        config=choice.config,
        listen=f"[{host}]:{port}" if ":" in host else f"{host}:{port}",
        aggregator_url=url,
        pulse=Pulse(url),
        broker=valkey.prepare(state.folder / "valkey"),
        ordinary=ordinary_environment(os.environ),
        keys=choice.keys,
        addresses=choice.addresses,
    )


def _start(supervisor: "Supervisor", choice: "Choice", site: "Site") -> None:
    """Start everything, in order; return when the board can be looked at."""
    from pacewatch.stack import postgres
    from pacewatch.stack.crew import postgres_part, valkey_part

    supervisor.begin(valkey_part(site.broker))
    if choice.fleet is None:
        site = _begin_simulator(supervisor, choice, site)
    database = postgres.prepare(site.state / "postgres")
    supervisor.begin(postgres_part(database))
    supervisor.wait_until_ready()
    tokens = _make_store(database.url, choice, site.state)
    supervisor.begin(site.aggregator(database.url))
    supervisor.begin(
        site.centre("central", database.url),
        site.centre("beat", database.url),
        *(site.worker(region, token) for region, token in tokens.items()),
    )
    supervisor.wait_until_ready("aggregator")


def _begin_simulator(supervisor: "Supervisor", choice: "Choice", site: "Site") -> "Site":
    """Start the simulator; return the site with the file that names its addresses."""
    from pacewatch.stack.demo import demo_ports, write_demo

    ports = demo_ports(site.state, choice.regions)
    told = replace(site, config=write_demo(site.state, ports, choice.notify))
    supervisor.begin(told.simulator(ports))
    return told


def _make_store(url: str, choice: "Choice", state: Path) -> dict[str, Path]:
    """Bring the store to this version's tables; return the file of each region's token.

    Other files hold the store's address, and a token by which a person of this machine asks for all
    that people may.
    """
    from aggregator import db
    from aggregator.regions import Scope, issue_token, region_of
    from pacewatch.stack.state import ADMIN_TOKEN, DATABASE_URL, make_folder, write_private

    db.migrate(url)
    write_private(state / DATABASE_URL, url)
    folder = state / "tokens"
    make_folder(folder, 0o700)
    files = {region: folder / region for region in choice.regions}
    with db.connect(url) as connection:
        db.require_store(connection, simulated=choice.fleet is None)
        wanted = [(file, region, Scope.REGION) for region, file in files.items()]
        for file, region, scope in (*wanted, (state / ADMIN_TOKEN, "", Scope.ADMIN)):
            held = file.read_text(errors="replace") if file.exists() else ""
            if region_of(connection, held) is None:
                write_private(file, issue_token(connection, region, scope, datetime.now(UTC)))
    return files


def _say(text: str, *, err: bool = False) -> None:
    try:
        typer.echo(text, err=err)
    except BrokenPipeError:  # nobody reads it any more; what runs goes on
        os.dup2(os.open(os.devnull, os.O_WRONLY), (sys.stderr if err else sys.stdout).fileno())


def _report(text: str) -> None:
    _say(text, err=True)
