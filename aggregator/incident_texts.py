"""An incident in words: what it is, how much, and how it stands. Pure."""

from datetime import datetime

from aggregator.incident_views import Incident, Part
from aggregator.tones import Tone
from pacewatch.words.text import UNKNOWN, age_text, ago_text, plural, than_usual_text
from pacewatch.words.verdict import (
    SLOW_FIGURES,
    SLOWER_FROM,
    TROUBLE_MEANINGS,
    UNUSUAL_ENDS,
    Blame,
)

BESIDE_LIMIT = "slower than its limit"
"""What is told of trouble that is about as usual: only a limit that was set makes it one."""


def title_of(one: Incident) -> str:
    """Return who has what trouble, and how much: `groq: output 2.1 times slower than usual`."""
    return f"{subject_of(one)}: {_what(one)}"


def subject_of(one: Incident) -> str:
    """Return who has the trouble, and from where if not from everywhere: `groq, 3 endpoints`."""
    where = f" from {one.region}" if one.region else ""
    endpoints = one.endpoints
    if one.blame is Blame.PROBER:
        return f"our workers in {one.region}" if one.region else "our workers"
    if len(endpoints) == 1:
        return f"{endpoints[0]}{where}"
    gathered = f", {plural(len(endpoints), 'endpoint')}" if endpoints else ""
    return f"{one.provider or 'several providers'}{gathered}{where}"


def _what(one: Incident) -> str:
    if one.trouble in SLOW_FIGURES:
        own = (part for part in one.parts if part.trouble == one.trouble)
        worst = next((part.ratio for part in own if part.ratio is not None), None)
        if worst is not None and worst < SLOWER_FROM:
            return f"{SLOW_FIGURES[one.trouble]} {BESIDE_LIMIT}"
        if worst is not None:
            return than_usual_text(SLOW_FIGURES[one.trouble], worst)
    return TROUBLE_MEANINGS[one.trouble]


def state_of(one: Incident, now: datetime) -> str:
    """Return how it stands, in a few words."""
    if one.ended_at is not None:
        return f"{one.state} {ago_text(one.ended_at, now)}"
    if one.state == "eased" and one.eased_at is not None:
        if one.unusual_end is None:
            return f"as usual again for {age_text(one.eased_at, now)}"
        return f"eased {ago_text(one.eased_at, now)}: {eased_text(one)}"
    if one.state == "suspected":
        return "suspected: confirming probes are on their way"
    held = ", acknowledged" if one.acknowledged_at is not None else ""
    return f"open{held}"


def eased_text(one: Incident) -> str:
    """Return how it eased."""
    return "as usual again" if one.unusual_end is None else UNUSUAL_ENDS[one.unusual_end]


def tone_of(one: Incident) -> Tone:
    """Return how much it asks for attention."""
    if one.state == "confirmed":
        return Tone.BAD if one.pages else Tone.WARN
    return Tone.QUIET


def times_text(part: Part) -> str:
    """Return how many times slower an endpoint is, with its interval: `2.1 (1.9-2.3)`."""
    if part.ratio is None:
        return UNKNOWN
    if part.ratio_low is None or part.ratio_high is None:
        return f"{part.ratio:.1f}"
    return f"{part.ratio:.1f} ({part.ratio_low:.1f}\u2013{part.ratio_high:.1f})"


def lasted_text(one: Incident, now: datetime) -> str:
    """Return how long it has gone on, or went on."""
    end = one.ended_at if one.eased_at is None else one.eased_at
    return age_text(one.since, end or now)
