"""What is usual for one series: the median of its own last 72 hours. Pure.

Kept are ln of slowness (TTFT, or 1 / speed), at most one run each 72nd of the window. While the
endpoint is in trouble the baseline is frozen, and what comes in is put aside.
"""

from dataclasses import dataclass, field

FEWEST = {"single": 12, "parallel": 5}
"""From so many good runs on a series votes, by its load."""

KEPT = 12
"""So many of the newest runs stay though the window has left them, up to OLDEST_WINDOWS of it:
after a gap there is still something to compare with.
"""

OLDEST_WINDOWS = 5.0
PER_WINDOW = 72

Point = tuple[float, float | None, float | None]
"""Moment, and ln slowness of the first token and of the output; None where undefined."""


@dataclass(slots=True)
class Baseline:
    """The usual slowness of one series."""

    points: list[Point] = field(default_factory=list)
    aside: list[Point] = field(default_factory=list)
    """What came in while it was frozen: the new level, should it be there to stay."""
    medians: tuple[float | None, float | None] | None = None
    """Of the points; None: to be computed anew."""

    def usual(self, fewest: int) -> tuple[float | None, float | None]:
        """Return the medians of both figures, each None while it has fewer points."""
        if self.medians is None:
            self.medians = (_median(self.points, 1, fewest), _median(self.points, 2, fewest))
        return self.medians

    def take(self, point: Point, window_s: float, *, frozen: bool) -> None:
        """Take a good run in, or put it aside while frozen."""
        points = self.aside if frozen else self.points
        if points and point[0] - points[-1][0] < window_s / PER_WINDOW:
            return
        points.append(point)
        _age(points, point[0], window_s)
        if not frozen:
            self.medians = None

    def thaw(self) -> None:
        """Forget what was put aside: the usual is as it was."""
        self.aside.clear()

    def adopt(self) -> None:
        """Take what was put aside as the usual."""
        if self.aside:
            self.points, self.aside, self.medians = self.aside, [], None


def _age(points: list[Point], now: float, window_s: float) -> None:
    gone = 0
    for at, _, _ in points[:-KEPT]:
        if at > now - window_s:
            break
        gone += 1
    while points[gone][0] <= now - OLDEST_WINDOWS * window_s:
        gone += 1
    del points[:gone]


def _median(points: list[Point], place: int, fewest: int) -> float | None:
    values = sorted([v for point in points if (v := point[place]) is not None])
    middle, odd = divmod(len(values), 2)
    if len(values) < fewest:
        return None
    return values[middle] if odd else (values[middle - 1] + values[middle]) / 2
