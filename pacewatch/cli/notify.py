"""`notify`: the channels that are told of incidents, and a test of them."""

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from aggregator.notify.send import Means
    from pacewatch.cli.channels import Looked
    from pacewatch.words.channel import Channel
    from pacewatch.words.fleet import Fleet

notify_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List and test the channels that are told of incidents.",
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ChannelName = Annotated[str | None, typer.Option(help="Only this channel; all without it.")]


def add_to(app: typer.Typer) -> None:
    """Mount this file's commands."""
    app.add_typer(notify_app, name="notify")


@notify_app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the channels of the file; nothing is sent.

    What each is, what it gets, and whether its address is here.
    """
    from aggregator.notify.courier import Courier
    from pacewatch.cli import render
    from pacewatch.cli.channels import look_at

    with Courier() as courier:
        looked = look_at(_fleet(), os.environ, courier)
    if as_json:
        render.show_json([_listed(one) for one in looked])
        return
    columns = tuple(
        render.Column(name=name, gives_way=name == "Address")
        for name in ("Channel", "Service", "Gets", "Reminds", "Address")
    )
    rows = [
        (
            one.channel.name,
            one.service or "unknown",
            _gets(one.channel),
            f"each {one.channel.remind_h:g} h" if one.channel.remind_h else "never",
            one.fault or f"{one.channel.url_env}, {'here' if one.service else 'not set here'}",
        )
        for one in looked
    ]
    render.show(render.table(columns, rows))


@notify_app.command("test")
def test(channel: ChannelName = None, as_json: AsJson = False) -> None:
    """Send each channel a message that says it is a test.

    It needs the central worker's environment, where the addresses are. Exit code 1 where one was
    not taken.
    """
    from datetime import UTC, datetime

    from aggregator.notify.courier import Courier
    from aggregator.notify.send import Means
    from pacewatch.cli import render
    from pacewatch.cli.channels import look_at

    fleet = _fleet(channel)
    with Courier() as courier:
        means = Means(
            fleet=fleet,
            environment=os.environ,
            courier=courier,
            clock=lambda: datetime.now(UTC),
        )
        results = [(one, _try(one, means)) for one in look_at(fleet, os.environ, courier)]
    if as_json:
        render.show_json(
            [
                {"channel": one.channel.name, "taken": why is None, "why": why}
                for one, why in results
            ]
        )
    else:
        for one, why in results:
            render.show_line(_told(one, why))
    if any(why is not None for _, why in results):
        raise typer.Exit(1)


def _fleet(only: str | None = None) -> "Fleet":
    """Return the file's fleet with its channels, or that one; without a file here, that of the demo
    that runs. Raises SettingsError for none.
    """
    from dataclasses import replace

    from pacewatch.cli.surroundings import centre_environment
    from pacewatch.config import config_path, load_fleet
    from pacewatch.tables import suggestion
    from pacewatch.words.errors import SettingsError

    path = config_path(os.environ) or config_path(centre_environment())
    fleet = load_fleet(path, os.environ)
    names = [channel.name for channel in fleet.channels]
    if not names:
        raise SettingsError(
            "the file names no channel "
            "(form: [notify.ops] with url_env, the variable that holds an address)"
        )
    if only is None:
        return fleet
    if only not in names:
        raise SettingsError(f'--channel: "{only}" is not in the file{suggestion(only, names)}')
    return replace(fleet, channels=tuple(one for one in fleet.channels if one.name == only))


def _try(one: "Looked", means: "Means") -> str | None:
    """Send the test; return why it was not taken. What it opens is closed again."""
    from aggregator.notify.send import Keys, board_url, bring
    from aggregator.notify.text import trial_message

    if one.fault is not None:
        return one.fault
    key = f"pacewatch-test-{one.channel.name}-{means.clock().timestamp():.0f}"
    url = board_url(means.fleet, means.environment)
    message = trial_message(one.channel.name, simulated=means.fleet.simulated, board_url=url)
    keys = Keys(incident=key, message=f"{key}-opened")
    why = bring(means, one.channel, message, "warning", keys)
    if why is None and one.closes:
        keys = Keys(incident=key, message=f"{key}-closed")
        why = bring(means, one.channel, message, "success", keys)
    return why


def _told(one: "Looked", why: str | None) -> str:
    named = f"{one.channel.name} ({one.service})" if one.service else one.channel.name
    if why is not None:
        return f"{named}: not taken: {why}"
    return f"{named}: taken, and closed again" if one.closes else f"{named}: taken"


def _gets(channel: "Channel") -> str:
    from pacewatch.words.verdict import Blame

    gets = "what pages" if channel.only_pages else "all"
    if channel.classes == frozenset(Blame):
        return gets
    return f"{gets} of {', '.join(sorted(channel.classes))}"


def _listed(one: "Looked") -> dict[str, Any]:
    return {
        "channel": one.channel.name,
        "service": one.service,
        "only_pages": one.channel.only_pages,
        "classes": sorted(one.channel.classes),
        "remind_h": one.channel.remind_h,
        "url_env": one.channel.url_env,
        "closes": one.closes,
        "fault": one.fault,
        "note": one.note,
    }
