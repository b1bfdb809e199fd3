"""An incident as those who tell of it see it: values, and how bad it is. Pure."""

from dataclasses import dataclass
from datetime import datetime
from enum import IntFlag, StrEnum

from pacewatch.words.endpoint import Importance
from pacewatch.words.verdict import PAGING, Blame, Trouble

OPEN = frozenset({"confirmed", "eased"})
"""States of an incident that is open."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """One endpoint's part in an incident."""

    endpoint: str
    trouble: Trouble
    ratio: float | None
    """Times slower than usual, as last judged."""
    ratio_low: float | None
    ratio_high: float | None
    eased_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """An incident that was confirmed."""

    id: int
    provider: str
    """Empty: of no single one."""
    region: str
    """Empty: not of one region alone."""
    trouble: Trouble
    blame: Blame
    state: str
    importance: Importance
    simulated: bool
    since: datetime
    opened_at: datetime
    eased_at: datetime | None
    ended_at: datetime | None
    acknowledged_at: datetime | None
    speaks_for: tuple[str, ...]
    speaks_against: tuple[str, ...]
    affected: tuple[Affected, ...]
    """The worst first."""
    ended_as: str | None = None
    """How it ended, in the words of its timeline."""
    accepted: bool = False
    """Its level was accepted as the usual one."""

    @property
    def is_open(self) -> bool:
        """Tell whether it lasts, or may come back at any moment."""
        return self.state in OPEN

    @property
    def key(self) -> str:
        """Return a name of it that no incident of another centre has."""
        return f"pacewatch-{self.id}-{self.opened_at.timestamp():.0f}"

    @property
    def endpoints(self) -> tuple[str, ...]:
        """Return the endpoints it gathers."""
        return tuple(dict.fromkeys(one.endpoint for one in self.affected))


def pages(incident: Incident) -> bool:
    """Tell whether it may wake somebody."""
    return incident.blame in PAGING and incident.importance is Importance.PAGE


def notifies(incident: Incident) -> bool:
    """Tell whether anybody is told of it."""
    return incident.importance is not Importance.WATCH


def grade_of(incident: Incident) -> Grade:
    """Return how bad it is."""
    fails = {incident.trouble, *(one.trouble for one in incident.affected if not one.eased_at)}
    is_so = {
        Grade.WIDE: incident.blame is Blame.PROVIDER,
        Grade.FAILS: bool(fails & {Trouble.FAILURES, Trouble.GONE}),
        Grade.PAGES: pages(incident),
    }
    grade = Grade(0)
    for part, so in is_so.items():
        grade |= part if so else Grade(0)
    return grade
