"""Looks at the channels of the file with this environment: what each is, and what is wrong."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pacewatch.words.channel import Channel
from pacewatch.words.fleet import Fleet

if TYPE_CHECKING:
    from aggregator.notify.courier import Courier


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """A channel, looked at; nothing was sent."""

    channel: Channel
    service: str | None = None
    """What the address leads to; None: there is none here, or it leads nowhere."""
    closes: bool = False
    """The end of an incident closes there what its beginning opened."""
    fault: str | None = None
    """Why it cannot be used, without its address."""
    note: str | None = None
    """What is to be known of it."""


def look_at(fleet: Fleet, environment: Mapping[str, str], courier: "Courier") -> list[Looked]:
    """Return the channels of the fleet, looked at."""
    return [_look(channel, environment, courier) for channel in fleet.channels]


def _look(channel: Channel, environment: Mapping[str, str], courier: "Courier") -> Looked:
    from pacewatch.secret import read_secret
    from pacewatch.words.errors import SettingsError

    try:
        url = read_secret(channel.url_env, environment)
    except SettingsError as error:
        return Looked(channel=channel, fault=str(error))
    if url is None:
        note = f"channel {channel.name}: {channel.url_env} is not set here"
        return Looked(channel=channel, note=f"{note}; a central worker needs it")
    found = courier.look_at(url)
    if isinstance(found, str):
        fault = f"{channel.url_env}: the address of channel {channel.name}: {found}"
        return Looked(channel=channel, fault=fault)
    return Looked(
        channel=channel,
        service=found["service"],
        closes=found["closes"],
        note=_note(channel, found["verified"], found["in_clear"], found["host"]),
    )


def _note(channel: Channel, verified: bool, in_clear: bool, host: str | None) -> str | None:
    from pacewatch.words.address import is_loopback

    if not verified:
        return f"channel {channel.name}: its address says not to check the service's certificate"
    if in_clear and not is_loopback(host or ""):
        return f"channel {channel.name}: messages go out in clear (allowed; TLS would hide them)"
    return None


def channel_notes(fleet: Fleet, looked: Iterable[Looked]) -> list[str]:
    """Return what `check` says of the channels that is no fault."""
    notes = [one.note for one in looked if one.note is not None]
    if fleet.channels and fleet.centre.alertmanager:
        notes.append(
            "[notify] and centre.alertmanager: Alertmanager and the central worker both tell of "
            "each incident (one of them is enough)"
        )
    return notes
