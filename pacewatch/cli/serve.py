"""`up`, `worker`, `beat`, `central`, `aggregator`: processes."""

import os

import typer


def add_to(app: typer.Typer) -> None:
    """Mount this file's commands."""
    app.command()(aggregator)


def aggregator() -> None:
    """Serve the centre over HTTP: ingest, API, board, metrics; ends cleanly on SIGTERM."""
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
    pool = db.open_pool(settings.database_url)
    with pool:
        with pool.connection() as connection:
            db.require_store(connection, fleet.simulated)
        serve(create_app(pool, fleet), listening)
