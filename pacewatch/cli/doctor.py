"""`doctor`: whether store and installation are well, and how large the store gets."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from datetime import datetime

    from aggregator.doctor import Condition
    from aggregator.rolling import Refreshed
    from pacewatch.words.fleet import Fleet


def add_to(app: typer.Typer) -> None:
    """Mount this file's command."""
    app.command()(doctor)


def doctor(
    recount: Annotated[
        bool,
        typer.Option(
            "--recount", help="Also recompute every statistic from its runs, and mend wrong ones."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look at the store: its sizes, now and in a year of this plan, and what is wrong with it.

    It needs the centre's environment, or an `up` of yours that runs. Exit code 1 where something is
    wrong.
    """
    from datetime import UTC, datetime

    from aggregator import db, doctor
    from aggregator.settings import read_database_url
    from pacewatch.cli import doctor_screen, render
    from pacewatch.cli.surroundings import centre_environment
    from pacewatch.config import config_path, load_fleet
    from pacewatch.names import foreign_names

    environment = centre_environment()
    fleet = load_fleet(config_path(environment), environment)
    now = datetime.now(UTC)
    problems = [
        f"import name {name}: leads to {origin}, a package of somebody else"
        for name, origin in foreign_names().items()
    ]
    with db.open_pool(read_database_url(environment), size=2) as pool:
        with pool.connection() as connection:
            db.require_store(connection, fleet.simulated)
            condition = doctor.read_condition(connection, fleet, now)
        refreshed = doctor.recount(pool, fleet, now) if recount else None
    problems += doctor.problems_of(condition, fleet, now)
    if refreshed is not None and refreshed.changed:
        wrong = f"{len(refreshed.changed)} of {refreshed.series}"
        problems.append(f"statistics: {wrong} series had wrong ones, which are mended now")
    document = _document(condition, refreshed, fleet, problems, now)
    if as_json:
        render.show_json(document)
    else:
        render.show(*doctor_screen.parts(document, width=render.screen_width()))
    if problems:
        raise typer.Exit(1)


def _document(
    condition: "Condition",
    refreshed: "Refreshed | None",
    fleet: "Fleet",
    problems: list[str],
    now: "datetime",
) -> dict[str, object]:
    from pacewatch.words.slot import to_rfc3339

    return {
        "at": to_rfc3339(now),
        "simulated": fleet.simulated,
        "problems": problems,
        "bytes": condition.bytes,
        "in_a_year_bytes": condition.in_a_year_bytes,
        "catalogs_bytes": condition.catalogs_bytes,
        "size_gb": fleet.retention.size_gb,
        "series": condition.series,
        "recounted": None if refreshed is None else refreshed.series,
        "wrong": None if refreshed is None else len(refreshed.changed),
        "tables": [
            {
                "name": table.name,
                "rows": table.rows,
                "bytes": table.bytes,
                "in_a_year_bytes": table.in_a_year_bytes,
            }
            for table in condition.tables
        ],
    }
