"""`migrate`, `remeasure`, `token`: the store, what is in it and who may write to it."""

import json
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aggregator.db import Connection

token_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Issue, list and revoke the tokens of regions and people.",
)

_JSON = typer.Option(False, "--json", help="Print JSON.")


def add_to(app: typer.Typer) -> None:
    """Mount this file's commands."""
    app.command()(migrate)
    app.command()(remeasure)
    app.add_typer(token_app, name="token")


def migrate(as_json: bool = _JSON) -> None:
    """Bring the store's tables to this version, as aggregator and central do at their start.

    It is safe to repeat, and to run twice at once.
    """
    from aggregator import db
    from aggregator.settings import read_database_url
    from pacewatch.cli.surroundings import centre_environment

    made = db.migrate(read_database_url(centre_environment()))
    if as_json:
        typer.echo(json.dumps({"made": made}))
    else:
        typer.echo(f"made {', '.join(made)}" if made else "nothing to do")


def remeasure(as_json: bool = _JSON) -> None:
    """Make figures anew by this version's definitions.

    It takes over every run that another definition measured and whose timeline is still kept, with
    all statistics over it. It is safe to repeat.
    """
    from aggregator import db, remeasure
    from aggregator.settings import read_database_url
    from pacewatch.cli.surroundings import centre_environment
    from pacewatch.config import config_path, load_fleet

    environment = centre_environment()
    fleet = load_fleet(config_path(environment), environment)
    window = timedelta(seconds=fleet.schedule.window_s)
    with db.open_pool(read_database_url(environment), size=1) as pool:
        with pool.connection() as connection:
            db.require_store(connection, fleet.simulated)
        done = remeasure.remeasure(pool, now=_now(), window=window)
    typer.echo(json.dumps({"runs": done}) if as_json else f"measured {done:,} runs anew")


def _now() -> datetime:
    return datetime.now(UTC)


@contextmanager
def _store() -> "Iterator[Connection]":
    from aggregator import db
    from aggregator.settings import read_database_url
    from pacewatch.cli.surroundings import centre_environment

    with db.connect(read_database_url(centre_environment())) as connection:
        db.require_migrated(connection)
        yield connection


@token_app.command("issue")
def issue(
    region: str = typer.Argument("", help="The region; none for a person's admin or run token."),
    scope: str = typer.Option("region", help="region, run or admin."),
    as_json: bool = _JSON,
) -> None:
    """Issue a token and print it, once.

    The store keeps its hash alone.
    """
    from aggregator.regions import Scope, issue_token
    from pacewatch.words.errors import SettingsError

    if scope not in list(Scope):
        raise SettingsError(f'scope "{scope}" is not known (known: {", ".join(Scope)})')
    with _store() as connection:
        token = issue_token(connection, region, scope, _now())
    fields = {"region": region, "scope": scope, "token": token}
    typer.echo(json.dumps(fields) if as_json else token)


@token_app.command("list")
def list_(as_json: bool = _JSON) -> None:
    """List the tokens: id, region, scope, when issued, when revoked."""
    from aggregator.regions import list_tokens
    from pacewatch.cli import render
    from pacewatch.words.slot import to_rfc3339
    from pacewatch.words.text import minute_text

    with _store() as connection:
        rows: list[dict[str, Any]] = [
            {
                "id": token.id,
                "region": token.region,
                "scope": str(token.scope),
                "created_at": to_rfc3339(token.created_at),
                "revoked_at": token.revoked_at and to_rfc3339(token.revoked_at),
            }
            for token in list_tokens(connection)
        ]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    columns = tuple(
        render.Column(name=name) for name in ("ID", "Region", "Scope", "Issued", "State")
    )
    lines = [
        (
            row["id"],
            row["region"] or "none",
            row["scope"],
            minute_text(row["created_at"]),
            f"revoked {minute_text(row['revoked_at'])}" if row["revoked_at"] else "valid",
        )
        for row in rows
    ]
    render.show(render.table(columns, lines))


@token_app.command("revoke")
def revoke(
    region: str = typer.Argument(..., help="The region; an empty word for tokens of no region."),
    only: str | None = typer.Option(None, "--id", help="Revoke the token of that id alone."),
    as_json: bool = _JSON,
) -> None:
    """Revoke the region's tokens, or one of them."""
    from aggregator.regions import revoke_tokens
    from pacewatch.words.errors import StoreError

    with _store() as connection:
        count = revoke_tokens(connection, region, _now(), only=only)
    if not count:
        raise StoreError(f'region "{region}": no valid token to revoke (pacewatch token list)')
    typer.echo(json.dumps({"revoked": count}) if as_json else f"revoked {count}")
