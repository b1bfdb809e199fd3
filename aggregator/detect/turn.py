"""What can change in the judging of an endpoint as evidence comes in. Values only."""

from dataclasses import dataclass
from enum import StrEnum

from aggregator.detect.chart import TROUBLES, Chart
from pacewatch.words.verdict import Trouble

POOLED = ""
"""The scope of all regions."""


class Turn(StrEnum):
    """What can change with a run."""

    SUSPECTED = "suspected"
    CLEARED = "cleared"
    UNCONFIRMED = "unconfirmed"
    ALARM = "alarm"
    EASED = "eased"
    NEW_LEVEL = "new_level"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that changed."""

    turn: Turn
    at: float
    scope: str
    """A region, or all of them."""
    chart: Chart | None
    """None: the model itself is gone, or back."""
    since: float
    """When it is thought to have begun."""

    @property
    def trouble(self) -> Trouble:
        """Return what it is about."""
        return Trouble.GONE if self.chart is None else TROUBLES[self.chart]
