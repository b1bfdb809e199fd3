"""The charts: each adds votes up and forgets what was good (a CUSUM). Pure.

S = max(0, S + vote). Above its threshold h the chart alarms and S stays at h at most, until it is
down to a third of h.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from pacewatch.words.verdict import Trouble

WIDTH = 0.25
"""A slowness this far above the margin is a whole vote, in units of ln."""

FAILED, GOOD = 2.71, -0.34
"""Votes of a failed run and of a good one: ln of how much likelier each is while 30 % fail than
while 2 % do.
"""

EASED = 1 / 3
"""At this share of its threshold an alarm ends."""


class Chart(IntEnum):
    """The bank; the value is the place in a scope's list."""

    TTFT = 0
    TTFT_BIG = 1
    SPEED = 2
    SPEED_BIG = 3
    FAILURES = 4
    QUOTA = 5
    TTFT_LIMIT = 6
    SPEED_LIMIT = 7


LINGERS = 0.15
"""While a chart stands on alarm its margin is so much lower, in ln: the level of a slowdown drifts
as every other does, and is no recovery when it drifts down.
"""

MARGIN, BIG_TTFT_MARGIN, BIG_SPEED_MARGIN = 0.35, 0.9, 0.5
"""ln of the slowdown that votes neither way: 1.42, 2.46 and 1.65 times."""

SLOW_CHARTS = (
    Chart.TTFT,
    Chart.TTFT_BIG,
    Chart.SPEED,
    Chart.SPEED_BIG,
    Chart.TTFT_LIMIT,
    Chart.SPEED_LIMIT,
)

TROUBLES: Mapping[Chart, Trouble] = {
    Chart.TTFT: Trouble.FIRST_TOKEN,
    Chart.TTFT_BIG: Trouble.FIRST_TOKEN,
    Chart.TTFT_LIMIT: Trouble.FIRST_TOKEN,
    Chart.SPEED: Trouble.OUTPUT_SPEED,
    Chart.SPEED_BIG: Trouble.OUTPUT_SPEED,
    Chart.SPEED_LIMIT: Trouble.OUTPUT_SPEED,
    Chart.FAILURES: Trouble.FAILURES,
    Chart.QUOTA: Trouble.QUOTA,
}

LIMIT_CHARTS: Mapping[Trouble, Chart] = {
    Trouble.FIRST_TOKEN: Chart.TTFT_LIMIT,
    Trouble.OUTPUT_SPEED: Chart.SPEED_LIMIT,
}
"""Charts of limits of one's own, by what is slow."""


def vote_of(excess: float, *, alarmed: bool = False) -> float:
    """Return the vote, -1 to 1, of a slowness so far above the margin of its chart, in ln."""
    vote = (excess + (LINGERS if alarmed else 0.0)) / WIDTH
    return -1.0 if vote < -1.0 else 1.0 if vote > 1.0 else vote


@dataclass(slots=True)
class Standing:
    """Where one chart stands."""

    s: float = 0.0
    since: float = 0.0
    """When S was last 0, seconds since 1970: about when the trouble began."""
    alarmed_at: float | None = None
    peak: float = 0.0
    """The highest S since it was last 0."""

    def take(self, vote: float, at: float, threshold: float) -> bool:
        """Add a vote; tell whether the alarm began or ended with it."""
        s = round(self.s + vote, 4)
        if not self.since:
            self.since = at  # trouble from the first vote on has no moment before it
        if s <= 0.0:
            s, self.since, self.peak = 0.0, at, 0.0
        elif s > self.peak:
            self.peak = s
        if self.alarmed_at is None:
            if s <= threshold:
                self.s = s
                return False
            self.s, self.alarmed_at = threshold, at
            return True
        self.s = min(s, threshold)
        if self.s > threshold * EASED:
            return False
        self.alarmed_at = None
        return True
