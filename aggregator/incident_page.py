"""Incidents as a person reads them: the list of them, and one whole. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from aggregator.incident_texts import (
    eased_text,
    lasted_text,
    state_of,
    times_text,
    title_of,
    tone_of,
)
from aggregator.incident_views import ConfirmingRun, Incident, Part, WholeIncident
from aggregator.page import Moment
from aggregator.places import endpoint_address, incident_address, run_address, runbook_address
from aggregator.request_facts import Fact
from aggregator.tones import Remark, Tone
from pacewatch.words.outcome import MISSED_MEANINGS, outcome_text
from pacewatch.words.slot import to_rfc3339
from pacewatch.words.text import ago_text, plural, seconds_text, speed_text, word_text
from pacewatch.words.verdict import (
    BLAME_MEANINGS,
    PAGING,
    SLOW_FIGURES,
    TROUBLE_MEANINGS,
    Blame,
    Trouble,
)

_ALERTS = {
    Trouble.FIRST_TOKEN: "ProviderSlow",
    Trouble.OUTPUT_SPEED: "ProviderSlow",
    Trouble.GONE: "ModelNotServed",
}
"""Of what is the provider's or a model's; all other trouble of theirs is failures."""

MOST_ON_BOARD = 5
"""Open incidents that stand above the board."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentLine:
    """One incident in a list."""

    id: int
    address: str
    title: str
    blame: str
    meaning: str
    """Of the class."""
    importance: str
    state: str
    tone: Tone
    since: Moment
    lasted: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartLine:
    """One endpoint's trouble in an incident."""

    endpoint: str
    address: str
    trouble: str
    times: str
    since: Moment
    eased: Moment | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLine:
    """A line of the timeline."""

    at: str
    """The moment, to the second."""
    age: Moment
    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """A probe that was made to confirm it."""

    address: str
    endpoint: str
    region: str
    ordered: Moment
    state: str
    good: bool
    speed: str
    ttft: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentPage:
    """All that stands on the page of an incident."""

    id: int
    title: str
    simulated: bool
    notice: Remark
    facts: tuple[Fact, ...]
    meaning: str
    speaks_for: Sequence[str]
    speaks_against: Sequence[str]
    parts: tuple[PartLine, ...]
    events: tuple[EventLine, ...]
    runs: tuple[RunLine, ...]
    steps: tuple[str, ...]
    """Commands by which people go on from here."""
    runbook: str
    """Address of what else to do."""


def incident_line(one: Incident, now: datetime) -> IncidentLine:
    """Return the line of an incident."""
    return IncidentLine(
        id=one.incident_id,
        address=incident_address(one.incident_id),
        title=title_of(one),
        blame=word_text(one.blame),
        meaning=BLAME_MEANINGS[one.blame],
        importance=one.importance,
        state=state_of(one, now),
        tone=tone_of(one),
        since=_ago(one.since, now),
        lasted=lasted_text(one, now),
    )


def incident_lines(found: Iterable[Incident], now: datetime) -> tuple[IncidentLine, ...]:
    """Return the lines of incidents."""
    return tuple(incident_line(one, now) for one in found)


def incident_page(whole: WholeIncident, now: datetime) -> IncidentPage:
    """Return the page of an incident."""
    one = whole.incident
    return IncidentPage(
        id=one.incident_id,
        title=title_of(one),
        simulated=one.simulated,
        notice=_notice(one, now),
        facts=tuple(_facts(one)),
        meaning=f"{word_text(one.blame)}: {BLAME_MEANINGS[one.blame]}",
        speaks_for=one.speaks_for,
        speaks_against=one.speaks_against,
        parts=tuple(_part(part, now) for part in one.parts),
        events=tuple(
            EventLine(
                at=_exact(event.at),
                age=_ago(event.at, now),
                kind=event.kind,
                text=event.text,
            )
            for event in whole.events
        ),
        runs=tuple(_run(run, now) for run in whole.runs),
        steps=tuple(_steps(one)),
        runbook=runbook_address(_alert(one)),
    )


def _alert(one: Incident) -> str:
    """Return the alert that Prometheus would tell of the incident, after which its runbook is
    called.
    """
    if one.blame == Blame.QUOTA:
        return "ProviderThrottled"
    return (
        _ALERTS.get(Trouble(one.trouble), "EndpointFailing")
        if one.blame in PAGING
        else "IncidentAdvisory"
    )


def _notice(one: Incident, now: datetime) -> Remark:
    lasted = lasted_text(one, now)
    told = {
        "suspected": "Suspected; confirming probes are on their way, and nobody has been told.",
        "cleared": "It was a suspicion, and the confirming probes found everything as usual.",
        "unconfirmed": "It was a suspicion that the confirming probes could not confirm or clear.",
        "eased": f"Eased after {lasted}: {eased_text(one)}; it closes when that has lasted.",
        "closed": f"Closed: {eased_text(one)}. It went on for {lasted}.",
    }
    if one.state != "confirmed":
        return Remark(tone=Tone.QUIET, text=told[one.state])
    held = "Somebody has it in hand." if one.acknowledged_at else "Nobody has it in hand yet."
    return Remark(tone=tone_of(one), text=f"Going on for {lasted}. {held}")


def _facts(one: Incident) -> Iterator[Fact]:
    yield Fact(name="what", text=TROUBLE_MEANINGS[one.trouble])
    yield Fact(name="whose fault it looks like", text=word_text(one.blame))
    pages = ", wakes somebody" if one.pages else ""
    yield Fact(name="importance", text=f"{one.importance}{pages}")
    if one.region:
        yield Fact(name="region", text=one.region)
    for name, moment in (
        ("began, as far as known", one.since),
        ("suspected", one.opened_at),
        ("confirmed", one.confirmed_at),
        ("acknowledged", one.acknowledged_at),
        ("eased", one.eased_at),
        ("ended", one.ended_at),
    ):
        if moment is not None:
            yield Fact(name=name, text=_exact(moment))


def _part(part: Part, now: datetime) -> PartLine:
    trouble = Trouble(part.trouble)
    return PartLine(
        endpoint=part.endpoint,
        address=endpoint_address(part.endpoint),
        trouble=f"{SLOW_FIGURES[trouble]} slow"
        if trouble in SLOW_FIGURES
        else TROUBLE_MEANINGS[trouble],
        times=times_text(part),
        since=_ago(part.since, now),
        eased=None if part.eased_at is None else _ago(part.eased_at, now),
    )


def _run(run: ConfirmingRun, now: datetime) -> RunLine:
    return RunLine(
        address=run_address(run.run_id),
        endpoint=run.endpoint,
        region=run.region,
        ordered=_ago(run.ordered_at, now),
        state=_run_state(run),
        good=run.outcome == "ok",
        speed=speed_text(run.output_tokens_per_s),
        ttft=seconds_text(run.ttft_s),
    )


def _run_state(run: ConfirmingRun) -> str:
    if run.outcome is not None:
        return outcome_text(run.outcome)
    if run.state == "missed":
        reason = run.reason or ""
        return f"not run: {MISSED_MEANINGS.get(reason, word_text(reason))}"
    return "no longer kept" if run.state is None else "under way"


def _steps(one: Incident) -> Iterator[str]:
    if one.endpoints:
        yield f"pacewatch evidence --incident {one.incident_id}"
    if not one.is_open:
        return
    if one.acknowledged_at is None:
        yield f"pacewatch incidents ack {one.incident_id}"
    for endpoint in one.endpoints[:1]:
        yield f"pacewatch silence '{endpoint}' --for 2h --why '...'"
    if any(Trouble(part.trouble) in SLOW_FIGURES for part in one.parts):
        yield f"pacewatch incidents accept {one.incident_id}"


def _ago(moment: datetime, now: datetime) -> Moment:
    return Moment(text=ago_text(moment, now), exact=to_rfc3339(moment))


def _exact(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def more_text(lines: int, told: int) -> str:
    """Return what stands below the open incidents of the board; empty: all of them are there."""
    return f"{plural(told - lines, 'more open incident')}" if told > lines else ""
