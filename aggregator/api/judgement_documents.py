"""Verdicts, incidents and silences as JSON documents. Pure; unknown is null."""

from datetime import datetime
from typing import Any

from aggregator.incident_texts import title_of
from aggregator.incident_views import ConfirmingRun, Incident, Part, WholeIncident
from aggregator.places import incident_address, run_address
from aggregator.silences import Silence
from aggregator.verdict_views import Believed, VerdictLine
from pacewatch.words.slot import to_rfc3339

Document = dict[str, Any]


def verdict_document(line: VerdictLine) -> Document:
    """Return a verdict with its ratios and their intervals."""
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
        "judged_at": to_rfc3339(line.judged_at),
    }


def believed_document(believed: Believed | None) -> Document | None:
    """Return a verdict as the board tells it."""
    if believed is None:
        return None
    return {
        "verdict": believed.verdict,
        "since": to_rfc3339(believed.since),
        **{f"{figure}_times": times for figure, times in believed.times.items()},
    }


def incident_document(one: Incident) -> Document:
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


def whole_document(whole: WholeIncident) -> Document:
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


def silence_document(one: Silence, now: datetime) -> Document:
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


def moment(at: datetime | None) -> str | None:
    """Return a moment as documents tell it."""
    return None if at is None else to_rfc3339(at)


def _part(part: Part) -> Document:
    return {
        "endpoint": part.endpoint,
        "trouble": part.trouble,
        "slower": _times(part.ratio, part.ratio_low, part.ratio_high),
        "since": to_rfc3339(part.since),
        "eased_at": moment(part.eased_at),
    }


def _run(run: ConfirmingRun) -> Document:
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


def _times(ratio: float | None, low: float | None, high: float | None) -> Document | None:
    return None if ratio is None else {"times": ratio, "low": low, "high": high}
