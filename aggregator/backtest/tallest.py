"""How high the charts of an endpoint would go if none ever alarmed: what calibration reads."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from aggregator.detect.chart import SLOW_CHARTS
from aggregator.detect.evidence import Evidence
from aggregator.detect.suspicion import Order, Suspicion
from aggregator.detect.turn import POOLED, Change
from aggregator.detect.watch import Watch


@dataclass(slots=True)
class Tallest:
    """A muted watch that notes how high its charts of all regions go each day."""

    watch: Watch
    days: dict[int, float] = field(default_factory=dict)
    """By day of the schedule, counted from 1970, the greatest share of a threshold."""

    @property
    def suspicion(self) -> Suspicion | None:
        """Return the watch's."""
        return self.watch.suspicion

    def take(self, runs: Sequence[Evidence], now: float) -> list[Change]:
        """Take runs in."""
        changes = self.watch.take(runs, now)
        charts, level = self.watch.charts[POOLED], self.watch.rules.pooled
        share = max(charts[chart].s / level[chart] for chart in SLOW_CHARTS)
        day = int(now / self.watch.rules.day_s)
        self.days[day] = max(self.days.get(day, 0.0), share)
        return changes

    def orders(self, now: float, allowed: int) -> list[Order]:
        """Return the watch's."""
        return self.watch.orders(now, allowed)
