"""Simpler rules, to be played over the same histories. They order no probes."""

from dataclasses import dataclass, field

from aggregator.detect.chart import Chart
from aggregator.detect.evidence import Evidence
from aggregator.detect.suspicion import Order
from aggregator.detect.turn import POOLED, Change, Turn
from pacewatch.words.figures import percentile
from pacewatch.words.slot import Load

WINDOW_S = 72 * 3600.0
THRESHOLD = "72-h median 1.4 times the one before"
REGIONS = "half of the regions over 3 times"
FIGURES = (Chart.TTFT, Chart.SPEED)


def slowness_of(run: Evidence) -> tuple[float | None, float | None]:
    """Return seconds to the first token and seconds a token; None where undefined."""
    return run.ttft_s, None if run.speed is None else 1 / run.speed


def rises(at: float, chart: Chart) -> Change:
    """Return the alarm of a plain rule."""
    return Change(turn=Turn.ALARM, at=at, scope=POOLED, chart=chart, since=at)


@dataclass(slots=True)
class Threshold:
    """The median of the last 72 hours is so many times that of the 72 hours before."""

    times: float = 1.4
    window_s: float = WINDOW_S
    runs: list[tuple[float, float | None, float | None]] = field(default_factory=list)
    above: set[Chart] = field(default_factory=set)

    def take(self, runs: list[Evidence], now: float) -> list[Change]:
        """Take runs in; return the alarms that begin."""
        self.runs += [(run.at, *slowness_of(run)) for run in runs if run.load is Load.SINGLE]
        while self.runs and self.runs[0][0] < now - 2 * self.window_s:
            self.runs.pop(0)
        found = []
        for place, chart in enumerate(FIGURES, 1):
            if self._is_above(place, now):
                found += [] if chart in self.above else [rises(now, chart)]
                self.above.add(chart)
            else:
                self.above.discard(chart)
        return found

    @property
    def stands(self) -> bool:
        """Tell whether it stands on alarm."""
        return bool(self.above)

    def _is_above(self, place: int, now: float) -> bool:
        values = [(run[0], v) for run in self.runs if (v := run[place]) is not None]
        new = percentile((v for at, v in values if at > now - self.window_s), 0.5)
        old = percentile((v for at, v in values if at <= now - self.window_s), 0.5)
        return new is not None and old is not None and new > self.times * old

    def orders(self, now: float, allowed: int) -> list[Order]:
        """Return no probe."""
        return []


@dataclass(slots=True)
class Regions:
    """At least half of the regions, two where there are more, had their latest run over 3 times
    their own 72-hour median, or failed.
    """

    regions: int
    times: float = 3.0
    window_s: float = WINDOW_S
    runs: dict[str, list[tuple[float, float, float]]] = field(default_factory=dict)
    over: dict[str, Chart | None] = field(default_factory=dict)
    alarmed: bool = False

    def take(self, runs: list[Evidence], now: float) -> list[Change]:
        """Take runs in; return the alarms that begin."""
        for run in runs:
            self.over[run.region] = self._look(run)
        over = [chart for chart in self.over.values() if chart is not None]
        was, self.alarmed = (
            self.alarmed,
            len(over) >= max((self.regions + 1) // 2, min(self.regions, 2)),
        )
        return [rises(now, over[0])] if self.alarmed and not was else []

    @property
    def stands(self) -> bool:
        """Tell whether it stands on alarm."""
        return self.alarmed

    def _look(self, run: Evidence) -> Chart | None:
        if run.failed:
            return Chart.FAILURES
        ttft, slowness = slowness_of(run)
        if ttft is None or slowness is None:
            return None
        kept = self.runs.setdefault(run.region, [])
        found = None
        for place, value in ((1, ttft), (2, slowness)):
            usual = percentile((point[place] for point in kept), 0.5)
            if usual is not None and value > self.times * usual:
                found = FIGURES[place - 1]
        kept.append((run.at, ttft, slowness))
        while kept[0][0] < run.at - self.window_s:
            kept.pop(0)
        return found

    def orders(self, now: float, allowed: int) -> list[Order]:
        """Return no probe."""
        return []
