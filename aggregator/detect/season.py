"""The shape of an endpoint's day: how much slower than its median each of eight parts is. Pure.

A part's figure is the median, over 14 days, of each day's median over all regions, shrunk by
n / (n + 8) where n are the runs behind it: what few runs say counts little.
"""

from dataclasses import dataclass, field

BINS, DAYS, SHRINK = 8, 14, 8
MOST_A_PART = 60
"""Runs that a part of a day is judged by at most; more say the same."""


@dataclass(slots=True)
class Season:
    """The profile of one figure."""

    parts: list[list[tuple[float, int]]] = field(default_factory=lambda: [[] for _ in range(BINS)])
    """By part of the day the latest days' (median z, runs)."""
    part: int = -1
    """The part that is being filled, counted from 1970."""
    filling: list[float] = field(default_factory=list)
    profile: list[float] = field(default_factory=lambda: [0.0] * BINS)

    def at(self, moment: float, day_s: float) -> float:
        """Return how much slower than its median the endpoint usually is then, in units of ln."""
        return self.profile[int(moment * BINS / day_s) % BINS]

    def take(self, moment: float, z: float, day_s: float) -> None:
        """Take in the z of a run, the season not taken out."""
        part = int(moment * BINS / day_s)
        if part > self.part:
            self._finish()
            self.part, self.filling = part, [z]
        elif part == self.part and len(self.filling) < MOST_A_PART:
            self.filling.append(z)

    def _finish(self) -> None:
        if not self.filling:
            return
        place = self.part % BINS
        days = self.parts[place]
        days.append((round(_middle(self.filling), 4), len(self.filling)))
        del days[:-DAYS]
        runs = sum(n for _, n in days)
        self.profile[place] = round(_middle([z for z, _ in days]) * runs / (runs + SHRINK), 4)


def _middle(values: list[float]) -> float:
    ordered = sorted(values)
    middle, odd = divmod(len(ordered), 2)
    return ordered[middle] if odd else (ordered[middle - 1] + ordered[middle]) / 2
