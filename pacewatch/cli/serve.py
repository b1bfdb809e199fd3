"""`up`, `worker`, `beat`, `central`, `aggregator`: processes."""

import os

import typer


def add_to(app: typer.Typer) -> None:
    """Mount this file's commands."""
    app.command()(aggregator)
    app.command()(worker)
    app.command()(beat)
    app.command()(central)


def aggregator() -> None:
    """Serve ingest, board, API and metrics over HTTP.

    Any number may run; each brings the store to this version at its start, one at a time, and ends
    cleanly on SIGTERM.
    """
    from aggregator import db
    from aggregator.api.app import create_app
    from aggregator.api.server import listen, serve
    from aggregator.settings import read_settings
    from pacewatch import log
    from pacewatch.config import config_path, load_fleet

    settings = read_settings(needs_broker=False)
    fleet = load_fleet(config_path(os.environ), os.environ)
    log.set_up("aggregator")
    listening = listen(settings.listen_host, settings.listen_port)
    with db.open_store(settings.database_url, simulated=fleet.simulated) as pool:
        serve(create_app(pool, fleet), listening)


def worker(
    region: str | None = typer.Option(
        None,
        help="The region this worker stands in; else PACEWATCH_REGION, else the fleet's only one.",
    ),
) -> None:
    """Run a region's probe worker: take tasks, measure, keep, push.

    It ends cleanly on SIGTERM.
    """
    from pacewatch.config import config_path, load_fleet
    from pacewatch.stack.state import state_folder
    from probe.settings import read_settings
    from probe.worker import serve

    fleet = load_fleet(config_path(os.environ), os.environ)
    state = state_folder(os.environ, simulated=fleet.simulated, uid=os.geteuid())
    if len(fleet.regions) == 1 and not os.environ.get("PACEWATCH_REGION"):
        region = region or next(iter(fleet.regions))
    settings = read_settings(os.environ, state=state, region=region)
    raise typer.Exit(serve(os.environ, settings, fleet))


def beat() -> None:
    """Send the central worker its ticks.

    Any number may run; each ends cleanly on SIGTERM.
    """
    from aggregator.settings import read_broker_url
    from aggregator.tasks import make_app, run_beat
    from pacewatch import log
    from pacewatch.config import config_path, load_fleet

    broker_url = read_broker_url()
    schedule = load_fleet(config_path(os.environ), os.environ).schedule
    log.set_up("beat")
    raise typer.Exit(run_beat(make_app(broker_url), schedule))


def central() -> None:
    """Dispatch slots and keep the store up, a tick at a time.

    Any number may run; each brings the store to this version at its start, one at a time, and ends
    cleanly on SIGTERM.
    """
    from datetime import UTC, datetime

    from aggregator import db
    from aggregator.central import add_tasks, run_central
    from aggregator.fleet_file import FleetFile
    from aggregator.settings import read_settings
    from aggregator.tasks import make_app
    from pacewatch import log
    from pacewatch.config import config_path

    settings = read_settings()
    now = datetime.now(UTC)
    file = FleetFile(config_path(os.environ), os.environ, now)
    log.set_up("central")
    simulated = file.current(now).fleet.simulated
    with db.open_store(settings.database_url, simulated=simulated, size=4) as pool:
        app = make_app(settings.broker_url)
        add_tasks(app, pool, file)
        raise typer.Exit(run_central(app))
