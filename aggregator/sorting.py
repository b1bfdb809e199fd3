"""A trouble, sorted: whose fault it looks like, and which incident it is part of for that. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from aggregator.detect.scope import Attribution
from aggregator.detect.standing import Met
from aggregator.incident_rows import SLOW, Open
from pacewatch.words.verdict import Blame

_WIDENS = (
    Blame.UNKNOWN,
    Blame.REGION_PATH,
    Blame.PROVIDER,
    Blame.MODEL,
    Blame.PROBER,
    Blame.OURS,
)
"""A class gives way only to a later one of these, so that none goes to and fro."""

_KIN = {
    Blame.PROVIDER: {Blame.PROVIDER, Blame.UNKNOWN},
    Blame.UNKNOWN: {Blame.PROVIDER, Blame.UNKNOWN},
    Blame.REGION_PATH: {Blame.REGION_PATH, Blame.PROBER},
    Blame.PROBER: {Blame.REGION_PATH, Blame.PROBER},
}
"""Classes that are one incident where they are of one place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    """A trouble with its class."""

    met: Met
    found: Attribution
    place: tuple[str, str]
    """Provider and region that an incident of it is of, each '' for none alone."""

    def is_wider_than(self, blame: Blame) -> bool:
        """Tell whether an incident of that class gives way to this one."""
        return _WIDENS.index(self.found.blame) > _WIDENS.index(blame)

    def home(self, incidents: Iterable[Open]) -> Open | None:
        """Return the confirmed incident that already holds such trouble of others."""
        blame = self.found.blame
        if blame is Blame.MODEL:
            return None
        for one in incidents:
            is_alike = (one.trouble in SLOW) == (self.met.trouble in SLOW) or self.found.is_wide
            is_kin = one.blame in _KIN.get(blame, {blame})
            if one.is_confirmed and is_kin and is_alike and one.place == self.place:
                return one
        return None

    def columns(self) -> dict[str, object]:
        """Return the columns of an incident that follow from it."""
        return {
            "class": str(self.found.blame),
            "provider": self.place[0],
            "region": self.place[1],
            "speaks_for": list(self.found.speaks_for),
            "speaks_against": list(self.found.speaks_against),
        }
