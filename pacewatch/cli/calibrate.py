"""`calibrate`: how exact this host's timings are, or how still the fleet is."""

import asyncio
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from probe.calibration import Play, Played
    from probe.reading import Reading

ROOM_S = 120.0
"""How long a run that is on this host is waited for, seconds."""

_SECONDS = typer.Option(
    None, min=0.1, max=20, help="How long each of the twelve plays streams (default: 1)."
)
_JUDGING = typer.Option(
    False, "--judging", help="Set the thresholds of judging by the fleet's own quiet time instead."
)
_JSON = typer.Option(False, "--json", help="Print JSON.")


def add_to(app: typer.Typer) -> None:
    """Mount this file's commands."""
    app.command()(calibrate)


def calibrate(
    seconds: float | None = _SECONDS, judging: bool = _JUDGING, as_json: bool = _JSON
) -> None:
    """Measure streams whose sends are known, on the loopback, and show how far off this host is.

    With --judging: replay the centre's stored quiet time, show how often it would have paged, and
    store what the thresholds are multiplied by, so that the budget of false pages holds.
    Exit code 0: within the limits. 1: over one, or it could not be done. 2: wrong use.
    """
    from pacewatch.words.errors import SettingsError

    if judging and seconds is not None:
        raise SettingsError(["--seconds: stored history is replayed whole (not with --judging)"])
    if judging:
        _calibrate_judging(as_json=as_json)
    else:
        _calibrate_host(seconds or 1.0, as_json=as_json)


def _calibrate_judging(*, as_json: bool) -> None:
    from datetime import UTC, datetime

    from aggregator import db, quiet
    from aggregator.fleet_file import orders_of
    from aggregator.settings import read_database_url
    from pacewatch.cli import quiet_screen, render
    from pacewatch.cli.surroundings import centre_environment
    from pacewatch.config import config_path, load_fleet

    environment = centre_environment()
    orders = orders_of(load_fleet(config_path(environment), environment))
    now = datetime.now(UTC)
    with db.connect(read_database_url(environment)) as connection, render.progress() as tell:
        db.require_store(connection, orders.fleet.simulated)
        tell("Replaying what is stored ...")
        before = quiet.read_multiplier(connection)
        found = quiet.calibrate(connection, orders, now)
        if found.multiplier is not None:
            quiet.store(connection, found, now)
    told = quiet_screen.document(found, before=before)
    if as_json:
        render.show_json(told)
    else:
        render.show(*quiet_screen.parts(told))
    if found.multiplier is None:
        raise typer.Exit(1)


def _calibrate_host(seconds: float, *, as_json: bool) -> None:
    from pacewatch.cli.calibrate_screen import document, screen
    from pacewatch.cli.render import screen_width, show, show_json
    from probe.reading import Reading

    with closing(Reading()) as reading:
        played = _play(seconds, reading)
        told = document(played, priority=reading.priority)
    if as_json:
        show_json(told)
    else:
        show(*screen(told, width=screen_width()))
    if told["over"]:
        raise typer.Exit(1)


def _play(seconds: float, reading: "Reading") -> "list[Played]":
    """Play all while no run is on this host; raises CalibrationError where one stays too long."""
    from pacewatch.cli.render import progress
    from pacewatch.words.errors import CalibrationError
    from pacewatch.words.slot import Load
    from probe.calibration import full, play_all
    from probe.room import room, room_folder

    with tempfile.TemporaryDirectory(prefix="pacewatch-") as made, progress() as tell:
        folder, plays = Path(made), full(seconds)
        tell("Waiting for the runs that are on this host to end ...")
        waits = _until(time.monotonic() + ROOM_S)
        with room(room_folder(folder, simulated=False), Load.PARALLEL, waits) as is_free:
            if not is_free:
                raise CalibrationError(
                    f"a run has been on this host for {ROOM_S:.0f} s, and both would be disturbed"
                )

            def begin(n: int, play: "Play") -> None:
                tell(f"Play {n + 1} of {len(plays)}: {play.words} ...")

            return asyncio.run(play_all(plays, folder, reading, tell=begin))


def _until(end: float) -> Callable[[], bool]:
    def wait() -> bool:
        time.sleep(0.1)
        return time.monotonic() < end

    return wait
