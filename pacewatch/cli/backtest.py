"""`backtest`: the rules that judge over stored history, or over generated ones."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from aggregator.backtest.replay import Replay
    from aggregator.fleet_file import Orders
    from pacewatch.cli.backtest_screen import Played


def add_to(app: typer.Typer) -> None:
    """Mount this file's command."""
    app.command()(backtest)


def backtest(
    since: Annotated[
        str | None,
        typer.Option(help="From when on: 30d (default), 12h, 2026-12-01, or a moment of RFC 3339."),
    ] = None,
    synthetic: Annotated[
        bool, typer.Option("--synthetic", help="Over generated histories; no store is needed.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of the generated histories (default: 1000).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what would have been paged, and when, had today's rules judged what is stored.

    Simpler rules stand beside it. It needs the centre's environment, or an `up` of yours that runs,
    and changes nothing.
    """
    from pacewatch.cli import backtest_screen, render
    from pacewatch.words.errors import SettingsError

    if synthetic and since is not None:
        raise SettingsError(["--since: generated histories have no dates (not with --synthetic)"])
    if not synthetic and seed is not None:
        raise SettingsError(["--seed: stored history has none (only with --synthetic)"])
    with render.progress() as tell:
        if synthetic:
            told = _generated(1000 if seed is None else seed, tell)
        else:
            told = _stored(since or "30d", tell)
    if as_json:
        render.show_json(told)
    elif synthetic:
        render.show(*backtest_screen.synthetic_parts(told))
    else:
        render.show(*backtest_screen.parts(told))


def _generated(seed: int, tell: "Callable[[str], None]") -> dict[str, Any]:
    from dataclasses import asdict

    from aggregator.backtest import synthetic

    return {
        "seed": seed,
        "regions": synthetic.RATE.regions,
        "quiet": [asdict(one) for one in synthetic.calms(seed, tell)],
        "troubles": [asdict(one) for one in synthetic.delays(seed, tell)],
    }


def _stored(since: str, tell: "Callable[[str], None]") -> dict[str, Any]:
    from aggregator import db
    from aggregator.fleet_file import orders_of
    from aggregator.settings import read_database_url
    from pacewatch.cli import backtest_screen
    from pacewatch.cli.export import moment_of
    from pacewatch.cli.surroundings import centre_environment
    from pacewatch.config import config_path, load_fleet
    from pacewatch.words.errors import SettingsError

    now = datetime.now(UTC)
    faults: list[str] = []
    begin = moment_of(since, now, "--since", faults)
    if begin > now:
        faults.append(f'--since: "{since}" is still to come')
    if faults:
        raise SettingsError(faults)
    environment = centre_environment()
    orders = orders_of(load_fleet(config_path(environment), environment))
    with db.connect(read_database_url(environment)) as connection:
        db.require_store(connection, orders.fleet.simulated)
        replay, played = _play(connection, orders, begin, now, tell)
    return backtest_screen.document(orders, replay, played, since=begin, until=now)


def _play(
    connection: Any,
    orders: "Orders",
    since: datetime,
    until: datetime,
    tell: "Callable[[str], None]",
) -> "tuple[Replay, Played]":
    """Return what the rules made of it, and which runs lie in the time that is told of."""
    from aggregator.backtest.replay import replay_of
    from aggregator.history import read_history
    from aggregator.quiet import LEARNT_DAYS, read_multiplier
    from aggregator.ruling import rules_of
    from pacewatch.cli.backtest_screen import Played

    fleet = orders.fleet
    multiplier = read_multiplier(connection)
    rules = {e.id: rules_of(orders, e.id, multiplier) for e in fleet.endpoints}
    replay, runs, first_at = replay_of(fleet.endpoints, rules), 0, None
    start = since - timedelta(seconds=LEARNT_DAYS * fleet.schedule.day_s)
    for told in read_history(connection, fleet, sorted(rules), start, until):
        at = datetime.fromtimestamp(told.evidence.at, UTC)
        replay.take(told.endpoint, told.evidence, told.received_at.timestamp())
        if at >= since:
            runs, first_at = runs + 1, first_at or at
        tell(f"{at:%Y-%m-%d %H:%M}, {runs:,} runs")
    return replay, Played(runs=runs, first_at=first_at)
