"""Calibration of a fleet on its own quiet weeks, and what came of it in the weeks after. Seeded."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aggregator.backtest.play import Rate
from aggregator.backtest.study import WARM_H, play_of
from aggregator.backtest.tallest import Tallest
from aggregator.detect.calibrate import allowed_in, multiplier_of
from aggregator.detect.rules import make_rules
from aggregator.detect.turn import POOLED, Turn
from aggregator.detect.watch import Watch

WEEK_H = 7 * 24.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """A multiplier from some weeks, and the pages of as many weeks after them."""

    multiplier: float
    allowed: float
    pages: int


def calibrate_fleet(
    rate: Rate, seeds: Sequence[int], weeks: int, pages_a_month: float = 1.0
) -> Calibrated:
    """Calibrate endpoints of these seeds on quiet weeks, and count the false pages of the next."""
    allowed = allowed_in(weeks, pages_a_month)
    middle = WARM_H + weeks * WEEK_H
    peaks: list[float] = []
    for seed in seeds:
        tallest = Tallest(_watch(rate, 1.0, muted=True))
        play_of(rate, seed, lambda _, rule=tallest: rule).run(0, middle)  # type: ignore[misc]
        peaks += [peak for day, peak in tallest.days.items() if day * 24 >= WARM_H]
    multiplier = multiplier_of(peaks, allowed=allowed)
    pages = 0
    for seed in seeds:
        play = play_of(rate, seed, lambda rate: _watch(rate, multiplier, muted=False))
        play.run(0, middle)
        changes = play.run(middle, middle + weeks * WEEK_H)
        alarms = [c for c in changes if c.turn is Turn.ALARM and c.scope == POOLED]
        pages += len({int(change.at / 86_400) for change in alarms})
    return Calibrated(multiplier=multiplier, allowed=allowed, pages=pages)


def _watch(rate: Rate, multiplier: float, *, muted: bool) -> Watch:
    rules = make_rules(rate.names, runs_a_day=rate.runs_a_day, multiplier=multiplier)
    return Watch(replace(rules, muted=muted))
