"""The words of a message: who, how much and since when in its first line, then why. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from aggregator.incident_texts import BESIDE_LIMIT, eased_text, subject_of
from aggregator.incident_views import Incident, Part
from aggregator.notify.grade import GRADE_MEANINGS, Grade, Kind
from pacewatch.words.verdict import (
    BLAME_MEANINGS,
    SLOW_FIGURES,
    SLOWER_FROM,
    Blame,
    Trouble,
)

MOST_ENDPOINTS = 8
"""Endpoints that are named at most; the incident's page has all."""

LATE = timedelta(minutes=10)
"""A message that waited longer says so."""

_REPEATS = (
    "Perhaps told already: we were cut off while we told it, and do not know whether it came."
)

_NOTHING_NEW = Grade(0)

_PLAIN: dict[Trouble, str] = {
    Trouble.FAILURES: "requests fail",
    Trouble.QUOTA: "rate limits or a spent quota",
    Trouble.GONE: "the model is gone",
    Trouble.TIMING: "our own timings are not exact",
}

_ENDED: dict[Trouble, str] = {
    Trouble.FIRST_TOKEN: "first token as usual again",
    Trouble.OUTPUT_SPEED: "output as usual again",
    Trouble.FAILURES: "requests succeed again",
    Trouble.QUOTA: "no rate limits any more",
    Trouble.GONE: "the model is there again",
    Trouble.TIMING: "our own timings are exact again",
}

_BEGINNINGS: dict[Kind, str] = {
    Kind.OPENED: "",
    Kind.WORSE: "Worse: ",
    Kind.REMINDER: "Still: ",
    Kind.CLOSED: "Over: ",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What is sent."""

    title: str
    """Its first line."""
    body: str


def message_of(  # noqa: PLR0913 - what is told, when, and from where
    incident: Incident,
    kind: Kind,
    now: datetime,
    *,
    news: Grade = _NOTHING_NEW,
    made_at: datetime | None = None,
    ended_as: str | None = None,
    board_url: str | None = None,
    repeats: bool = False,
) -> Message:
    """Return the message.

    `news` is what is worse than was told, `made_at` when the message was due, `ended_as` how it
    ended where it is not as usual again; it `repeats` what may have been told already.
    """
    lines = [
        *_news(kind, news),
        *([_REPEATS] if repeats else []),
        *_now(incident, kind, now),
        f"Class: {incident.blame}: {BLAME_MEANINGS[incident.blame]}",
        *_parts(incident, kind, now),
        *_evidence("Speaks for it", incident.speaks_for),
        *_evidence("Speaks against it", incident.speaks_against),
        *_late(now, made_at),
        f"Incident {incident.incident_id}"
        + (f": {board_url}/incidents/{incident.incident_id}" if board_url else ""),
        f"Next: {_next(incident)}",
    ]
    return Message(title=_title(incident, kind, now, ended_as), body="\n".join(lines))


def trial_message(channel: str, *, simulated: bool, board_url: str | None) -> Message:
    """Return what `pacewatch notify test` sends."""
    mark = "SIMULATED " if simulated else ""
    board = [f"Board: {board_url}"] if board_url else []
    return Message(
        title=f"{mark}Pacewatch: a test of channel {channel}",
        body="\n".join(["Nothing is wrong; incidents are told here.", *board]),
    )


def _title(incident: Incident, kind: Kind, now: datetime, ended_as: str | None) -> str:
    mark = "SIMULATED " if incident.simulated else ""
    what = ended_as or _ended(incident, now) if kind is Kind.CLOSED else _lasting(incident, now)
    if kind is Kind.REMINDER:
        what += f" ({_span(now - incident.since)})"
    return f"{mark}{_BEGINNINGS[kind]}{subject_of(incident)}: {what}; class {incident.blame}"


def _lasting(incident: Incident, now: datetime) -> str:
    return f"{_trouble(incident.trouble, _ratios(incident))} since {_moment(incident.since, now)}"


def _ended(incident: Incident, now: datetime) -> str:
    ended = incident.eased_at or incident.ended_at or now
    return (
        f"{_ENDED[incident.trouble]}, after {_span(ended - incident.since)} "
        f"({_moment(incident.since, now)} to {_moment(ended, now)})"
    )


def _trouble(word: str, slower: str) -> str:
    trouble = Trouble(word)
    return f"{SLOW_FIGURES[trouble]} {slower}" if trouble in SLOW_FIGURES else _PLAIN[trouble]


def _ratios(incident: Incident) -> str:
    """Return how much slower: of one endpoint with its interval, of several from least to most."""
    alike = [one for one in incident.parts if one.trouble == incident.trouble and one.ratio]
    found = [one for one in alike if one.eased_at is None] or alike
    if len(found) == 1:
        return _slower(found[0])
    ratios = [one.ratio for one in found if one.ratio]
    if not ratios:
        return "slower than usual"
    if max(ratios) < SLOWER_FROM:
        return BESIDE_LIMIT
    least, most = f"{min(ratios):.1f}", f"{max(ratios):.1f}"
    return f"{least} to {most} times slower" if least != most else f"{most} times slower"


def _slower(one: Part) -> str:
    if one.ratio is None:
        return "slower than usual"
    if one.ratio < SLOWER_FROM:
        return BESIDE_LIMIT
    if one.ratio_low is None or one.ratio_high is None:
        return f"{one.ratio:.1f} times slower"
    return f"{one.ratio:.1f} times slower ({one.ratio_low:.1f} to {one.ratio_high:.1f})"


def _news(kind: Kind, news: Grade) -> list[str]:
    if kind is not Kind.WORSE:
        return []
    told = [meaning for grade, meaning in GRADE_MEANINGS.items() if grade & news]
    return [f"New: {', '.join(told)}"] if told else []


def _now(incident: Incident, kind: Kind, now: datetime) -> list[str]:
    """Return what has changed since a message that is not the end's became due."""
    if kind is Kind.CLOSED:
        return []
    if incident.ended_at is not None:
        return [f"By now: over since {_moment(incident.eased_at or incident.ended_at, now)}"]
    if incident.eased_at is not None:
        since = _moment(incident.eased_at, now)
        if incident.unusual_end is not None:
            return [f"By now: eased at {since}: {eased_text(incident)}"]
        return [f"By now: as usual since {since}, which must last"]
    return []


def _parts(incident: Incident, kind: Kind, now: datetime) -> list[str]:
    """Return a line an endpoint, where there are several, or several troubles."""
    if kind is Kind.CLOSED or len(incident.parts) < 2:
        return []
    lines = [
        f"- {one.endpoint}: "
        + (
            f"eased at {_moment(one.eased_at, now)}"
            if one.eased_at
            else _trouble(one.trouble, _slower(one))
        )
        for one in incident.parts[:MOST_ENDPOINTS]
    ]
    left = len(incident.parts) - MOST_ENDPOINTS
    return lines + ([f"- and {left} more"] if left > 0 else [])


def _evidence(head: str, said: Sequence[str]) -> list[str]:
    return [f"{head}: {'; '.join(said)}"] if said else []


def _late(now: datetime, made_at: datetime | None) -> list[str]:
    if made_at is None or now - made_at <= LATE:
        return []
    return [f"Told late: this was due at {_moment(made_at, now)}, and could not be delivered"]


_NEXT: dict[Blame, Callable[[Incident], str]] = {
    Blame.PROVIDER: lambda one: f"pacewatch board --provider {one.provider}",
    Blame.MODEL: lambda one: f"pacewatch probe {one.endpoints[0]}",
    Blame.REGION_PATH: lambda one: f"pacewatch probe {one.endpoints[0]} --from {one.region}",
    Blame.PROBER: lambda _: "pacewatch status",
    Blame.OURS: lambda _: "pacewatch status",
    Blame.QUOTA: lambda _: "pacewatch plan",
    Blame.UNKNOWN: lambda one: f"pacewatch incidents show {one.incident_id}",
}


def _next(incident: Incident) -> str:
    """Return the command to run next."""
    needs = {
        Blame.PROVIDER: incident.provider,
        Blame.MODEL: incident.endpoints,
        Blame.REGION_PATH: incident.endpoints and incident.region,
    }
    blame = incident.blame if needs.get(incident.blame, True) else Blame.UNKNOWN
    return _NEXT[blame](incident)


def _moment(at: datetime, now: datetime) -> str:
    utc = at.astimezone(UTC)
    same = utc.date() == now.astimezone(UTC).date()
    return f"{utc:%H:%M} UTC" if same else f"{utc:%Y-%m-%d %H:%M} UTC"


def _span(span: timedelta) -> str:
    """Return a length of time in whole minutes, or hours, or days."""
    minutes = max(1, round(span.total_seconds() / 60))
    if minutes < 120:
        return f"{minutes} min"
    hours = round(minutes / 60)
    return f"{hours} h" if hours < 48 else f"{round(hours / 24)} d"
