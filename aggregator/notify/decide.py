"""Decides whom to tell what of an incident, from what they were told of it so far. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from aggregator.incident_views import Incident
from aggregator.notify.grade import Grade, Kind, grade_of, notifies
from aggregator.silences import Silence, covers
from pacewatch.words.channel import Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A notice of an incident to one channel."""

    id: int
    kind: Kind
    grade: Grade
    made_at: datetime
    waits: bool
    """True: it is still to be sent."""
    given_up: bool


def gets(channel: Channel, incident: Incident) -> bool:
    """Tell whether the channel is one for this incident."""
    wanted = incident.pages if channel.only_pages else notifies(incident)
    return wanted and incident.blame in channel.classes


def silence_of(incident: Incident, silences: Iterable[Silence]) -> Silence | None:
    """Return the silence that holds for the whole incident, the longest; None where none does.

    A silence of one region holds for incidents of that region alone. Of an incident with several
    endpoints each that is still in trouble must match; one without endpoints takes `*`.
    """
    lasting = {one.endpoint for one in incident.parts if one.eased_at is None}
    endpoints = lasting or incident.endpoints
    holding = [
        one
        for one in silences
        if one.region in ("", incident.region) and covers(one.endpoints, endpoints)
    ]
    return max(holding, key=lambda one: one.ends_at, default=None)


def due(  # noqa: PLR0913 - an incident, a channel, and all that decides
    incident: Incident,
    channel: Channel,
    told: Sequence[Told],
    now: datetime,
    *,
    silenced: bool,
    hour_s: float,
) -> Kind | None:
    """Return what the channel is to be told now; None for nothing.

    `hour_s` is the length of an hour of the fleet's day, seconds.
    """
    kinds = {one.kind for one in told}
    if incident.state == "closed":
        reached = any(not one.given_up for one in told)
        return Kind.CLOSED if reached and Kind.CLOSED not in kinds else None
    if silenced or not incident.is_open or not gets(channel, incident):
        return None
    if not told:
        return Kind.OPENED
    if any(one.waits for one in told):
        return None  # it will tell how things are when it is sent
    if grade_of(incident) & ~known_grade(told):
        return Kind.WORSE
    return Kind.REMINDER if _is_reminded(incident, channel, told, now, hour_s) else None


def known_grade(told: Iterable[Told]) -> Grade:
    """Return all that was told of how bad the incident is."""
    known = Grade(0)
    for one in told:
        known |= one.grade
    return known


def _is_reminded(
    incident: Incident, channel: Channel, told: Sequence[Told], now: datetime, hour_s: float
) -> bool:
    if incident.state != "confirmed" or incident.acknowledged_at or not channel.remind_h:
        return False
    last = max(one.made_at for one in told)
    return now - last >= timedelta(seconds=channel.remind_h * hour_s)


def withdrawn(incident: Incident, told: Iterable[Told], *, silenced: bool) -> tuple[int, ...]:
    """Return the waiting notices that are to be told no more: all but the end's in a silence, and
    reminders of what was acknowledged, has eased or is over.
    """
    lasts = incident.state == "confirmed" and incident.acknowledged_at is None
    return tuple(
        one.id
        for one in told
        if one.waits
        and one.kind is not Kind.CLOSED
        and ((silenced and incident.is_open) or (one.kind is Kind.REMINDER and not lasts))
    )
