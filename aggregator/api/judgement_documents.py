"""Verdicts, incidents and silences as JSON documents. Pure; unknown is null."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from typing_extensions import TypedDict

from aggregator.api.described import Moment, moment, told
from aggregator.incident_texts import title_of
from aggregator.incident_views import ConfirmingRun, Incident, Part, WholeIncident
from aggregator.places import incident_address, run_address
from aggregator.silences import Silence
from aggregator.verdict_views import Believed, VerdictLine
from pacewatch.words.slot import to_rfc3339
from pacewatch.words.verdict import Slowness


class RatioDocument(TypedDict):
    """How many times slower than usual recent runs are."""

    times: Annotated[float, told("recent runs beside the 72 hours; 1 is as usual")]
    low: Annotated[float | None, told("low end of its interval; null with under six runs")]
    high: Annotated[float | None, told("high end of its interval; null with under six runs")]


_Classed = TypedDict(
    "_Classed", {"class": Annotated[str, told("whose fault it looks like: the incident's class")]}
)


class HeldDocument(_Classed):
    """An incident that an endpoint is in trouble in."""

    incident: Annotated[int, told("its number")]
    page: Annotated[str, told("path of its page")]
    speaks_for: Annotated[list[str], told("what speaks for its class, a sentence each")]
    speaks_against: Annotated[list[str], told("what speaks against its class, a sentence each")]


class VerdictDocument(TypedDict):
    """What is believed of an endpoint, with its ratios and their intervals."""

    endpoint: Annotated[str, told("its id")]
    provider: Annotated[str, told("the provider's word in ids")]
    model: Annotated[str, told("by its maker's name")]
    importance: Annotated[str, told("page, notify or watch")]
    region: Annotated[str | None, told("where it is believed; null: over all regions")]
    verdict: Annotated[str, told("ok, slow, failing, not_served, silent or learning")]
    since: Annotated[Moment, told("since when it is thought to be so")]
    silent_since: Annotated[Moment | None, told("when it was last heard of, where it is silent")]
    first_token: Annotated[RatioDocument | None, told("null: nothing to compare")]
    output_speed: Annotated[RatioDocument | None, told("null: nothing to compare")]
    end_to_end: Annotated[RatioDocument | None, told("null: nothing to compare")]
    under_load: Annotated[RatioDocument | None, told("of parallel runs; null: nothing to compare")]
    incidents: Annotated[list[HeldDocument], told("those that it is in trouble in there")]
    judged_at: Annotated[Moment, told("when it was judged last")]


class BelievedDocument(TypedDict):
    """A verdict as the board tells it."""

    verdict: Annotated[str, told("ok, slow, failing, not_served, silent or learning")]
    since: Annotated[Moment, told("since when it is thought to be so")]
    first_token_times: Annotated[float | None, told("times slower than usual; null: unknown")]
    output_speed_times: Annotated[float | None, told("times slower than usual; null: unknown")]
    end_to_end_times: Annotated[float | None, told("times slower than usual; null: unknown")]
    under_load_times: Annotated[float | None, told("times slower than usual; null: unknown")]


class PartDocument(TypedDict):
    """The trouble of one endpoint in an incident."""

    endpoint: Annotated[str, told("its id")]
    trouble: Annotated[str, told("what is wrong with it")]
    slower: Annotated[RatioDocument | None, told("as last judged in trouble; null: no ratio")]
    since: Annotated[Moment, told("when it is thought to have begun")]
    eased_at: Annotated[Moment | None, told("when it was as usual again; null: it goes on")]


class IncidentDocument(_Classed):
    """An incident as lists tell it."""

    incident: Annotated[int, told("its number")]
    title: Annotated[str, told("one line for people")]
    state: Annotated[str, told("suspected, cleared, unconfirmed, confirmed, eased or closed")]
    open: Annotated[bool, told("whether it is confirmed and has not closed")]
    trouble: Annotated[str, told("what is wrong")]
    provider: Annotated[str | None, told("null: of no single one")]
    region: Annotated[str | None, told("null: of no single one")]
    importance: Annotated[str, told("the highest of its endpoints")]
    pages: Annotated[bool, told("whether it may wake somebody")]
    simulated: Annotated[bool, told("whether a simulator plays the providers")]
    since: Annotated[Moment, told("when it is thought to have begun")]
    opened_at: Annotated[Moment, told("when it was first suspected")]
    confirmed_at: Annotated[Moment | None, told("when probes bore it out")]
    eased_at: Annotated[Moment | None, told("when it was as usual again")]
    ended_at: Annotated[Moment | None, told("when it closed")]
    acknowledged_at: Annotated[Moment | None, told("when somebody took it in hand")]
    unusual_end: Annotated[
        str | None,
        told("part, accepted, left or unheard: how it ended other than as usual again"),
    ]
    endpoints: Annotated[list[PartDocument], told("those in trouble first")]
    page: Annotated[str, told("path of its page")]


class EventDocument(TypedDict):
    """A line of an incident's timeline."""

    at: Annotated[Moment, told("when it happened")]
    kind: Annotated[str, told("what kind of event it is, one word")]
    text: Annotated[str, told("one sentence for people")]


class ConfirmingRunDocument(TypedDict):
    """A probe that an incident ordered, and what it found."""

    run: Annotated[str, told("its id")]
    endpoint: Annotated[str, told("an id")]
    region: Annotated[str, told("from where")]
    ordered_at: Annotated[Moment, told("when it was ordered")]
    state: Annotated[str | None, told("of its slot; null: that is no longer kept")]
    reason: Annotated[str | None, told("why its slot was missed")]
    outcome: Annotated[str | None, told("null: nothing has come in")]
    ttft_s: Annotated[float | None, told("time to the first token, s")]
    output_tokens_per_s: Annotated[float | None, told("output speed, tokens/s")]
    document: Annotated[str, told("path of the run's document")]


class WholeIncidentDocument(IncidentDocument):
    """An incident with its story and what it stands on."""

    speaks_for: Annotated[list[str], told("what speaks for its class, a sentence each")]
    speaks_against: Annotated[list[str], told("what speaks against its class, a sentence each")]
    timeline: Annotated[list[EventDocument], told("in order")]
    confirming_runs: Annotated[list[ConfirmingRunDocument], told("the probes that it ordered")]


class SilenceDocument(TypedDict):
    """What nobody is told of for a while."""

    silence: Annotated[int, told("its number")]
    endpoints: Annotated[str, told("a pattern of ids, with `*` and `?`")]
    region: Annotated[str | None, told("null: of all regions")]
    starts_at: Annotated[Moment, told("when it begins")]
    ends_at: Annotated[Moment, told("when it ends")]
    holds: Annotated[bool, told("whether it holds now")]
    why: Annotated[str, told("the reason")]
    by: Annotated[str, told("whose it is; may be empty")]


def verdict_document(line: VerdictLine, incidents: Mapping[int, Incident]) -> VerdictDocument:
    """Return a verdict with its ratios, their intervals and its incidents, which are read."""
    return {
        "endpoint": line.endpoint,
        "provider": line.provider,
        "model": line.model,
        "importance": line.importance,
        "region": line.region or None,
        "verdict": line.verdict,
        "since": to_rfc3339(line.since),
        "silent_since": moment(line.silent_since),
        "first_token": _times(line.ttft_ratio, line.ttft_ratio_low, line.ttft_ratio_high),
        "output_speed": _times(line.speed_ratio, line.speed_ratio_low, line.speed_ratio_high),
        "end_to_end": _times(
            line.end_to_end_ratio, line.end_to_end_ratio_low, line.end_to_end_ratio_high
        ),
        "under_load": _times(
            line.under_load_ratio, line.under_load_ratio_low, line.under_load_ratio_high
        ),
        "incidents": [_held(incidents[number]) for number in line.incidents],
        "judged_at": to_rfc3339(line.judged_at),
    }


def _held(one: Incident) -> HeldDocument:
    return {
        "incident": one.incident_id,
        "class": str(one.blame),
        "page": incident_address(one.incident_id),
        "speaks_for": list(one.speaks_for),
        "speaks_against": list(one.speaks_against),
    }


def believed_document(believed: Believed | None) -> BelievedDocument | None:
    """Return a verdict as the board tells it."""
    if believed is None:
        return None
    return {
        "verdict": believed.verdict,
        "since": to_rfc3339(believed.since),
        "first_token_times": believed.times[Slowness.FIRST_TOKEN],
        "output_speed_times": believed.times[Slowness.OUTPUT_SPEED],
        "end_to_end_times": believed.times[Slowness.END_TO_END],
        "under_load_times": believed.times[Slowness.UNDER_LOAD],
    }


def incident_document(one: Incident) -> IncidentDocument:
    """Return an incident as lists tell it."""
    return {
        "incident": one.incident_id,
        "title": title_of(one),
        "state": one.state,
        "open": one.is_open,
        "class": str(one.blame),
        "trouble": str(one.trouble),
        "provider": one.provider or None,
        "region": one.region or None,
        "importance": str(one.importance),
        "pages": one.pages,
        "simulated": one.simulated,
        "since": to_rfc3339(one.since),
        "opened_at": to_rfc3339(one.opened_at),
        "confirmed_at": moment(one.confirmed_at),
        "eased_at": moment(one.eased_at),
        "ended_at": moment(one.ended_at),
        "acknowledged_at": moment(one.acknowledged_at),
        "unusual_end": one.unusual_end,
        "endpoints": [_part(part) for part in one.parts],
        "page": incident_address(one.incident_id),
    }


def whole_document(whole: WholeIncident) -> WholeIncidentDocument:
    """Return an incident whole."""
    return {
        **incident_document(whole.incident),
        "speaks_for": list(whole.incident.speaks_for),
        "speaks_against": list(whole.incident.speaks_against),
        "timeline": [
            {"at": to_rfc3339(event.at), "kind": event.kind, "text": event.text}
            for event in whole.events
        ],
        "confirming_runs": [_run(run) for run in whole.runs],
    }


def silence_document(one: Silence, now: datetime) -> SilenceDocument:
    """Return a silence."""
    return {
        "silence": one.silence_id,
        "endpoints": one.endpoints,
        "region": one.region or None,
        "starts_at": to_rfc3339(one.starts_at),
        "ends_at": to_rfc3339(one.ends_at),
        "holds": one.starts_at <= now < one.ends_at,
        "why": one.why,
        "by": one.made_by,
    }


def _part(part: Part) -> PartDocument:
    return {
        "endpoint": part.endpoint,
        "trouble": part.trouble,
        "slower": _times(part.ratio, part.ratio_low, part.ratio_high),
        "since": to_rfc3339(part.since),
        "eased_at": moment(part.eased_at),
    }


def _run(run: ConfirmingRun) -> ConfirmingRunDocument:
    return {
        "run": str(run.run_id),
        "endpoint": run.endpoint,
        "region": run.region,
        "ordered_at": to_rfc3339(run.ordered_at),
        "state": run.state,
        "reason": run.reason,
        "outcome": run.outcome,
        "ttft_s": run.ttft_s,
        "output_tokens_per_s": run.output_tokens_per_s,
        "document": f"/api{run_address(run.run_id)}",
    }


def _times(ratio: float | None, low: float | None, high: float | None) -> RatioDocument | None:
    return None if ratio is None else {"times": ratio, "low": low, "high": high}
