"""What is told of an incident, and how bad it is. Pure."""

from enum import IntFlag, StrEnum

from aggregator.incident_views import Incident
from pacewatch.words.endpoint import Importance
from pacewatch.words.verdict import Blame, Trouble


class Kind(StrEnum):
    """What a notice tells."""

    OPENED = "opened"
    WORSE = "worse"
    REMINDER = "reminder"
    CLOSED = "closed"


class Grade(IntFlag):
    """How bad an incident is; what was not so when it was last told makes it worse."""

    WIDE = 1
    """It is the whole provider, not one model."""
    FAILS = 2
    """Requests fail or the model is gone, where it was slow."""
    PAGES = 4
    """It may wake somebody."""


GRADE_MEANINGS: dict[Grade, str] = {
    Grade.WIDE: "it is the whole provider now",
    Grade.FAILS: "requests fail now",
    Grade.PAGES: "it pages now",
}


def notifies(incident: Incident) -> bool:
    """Tell whether anybody is told of it."""
    return incident.importance is not Importance.WATCH


def grade_of(incident: Incident) -> Grade:
    """Return how bad it is."""
    fails = {incident.trouble, *(one.trouble for one in incident.parts if not one.eased_at)}
    is_so = {
        Grade.WIDE: incident.blame is Blame.PROVIDER,
        Grade.FAILS: bool(fails & {Trouble.FAILURES, Trouble.GONE}),
        Grade.PAGES: incident.pages,
    }
    grade = Grade(0)
    for part, so in is_so.items():
        grade |= part if so else Grade(0)
    return grade


def key_of(incident: Incident) -> str:
    """Return a name of it that no incident of another centre has."""
    return f"pacewatch-{incident.incident_id}-{incident.opened_at.timestamp():.0f}"
