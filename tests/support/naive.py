"""What the store must hold after any pushes, reckoned the plain way: all runs in a list."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import comb
from typing import Any
from uuid import UUID

from pacewatch.words.figures import figures_of, system_tokens_per_s
from pacewatch.words.flag import LEAVES, Figure, Flag
from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import Load, Slot
from pacewatch.words.timing import Run, Timing

NAMES = {
    "ttft_s": "ttft",
    "answer_s": "answer",
    "output_tokens_per_s": "speed",
    "end_to_end_s": "end_to_end",
    "stall_s": "stall",
}
"""Figures, and how their counts and intervals are named."""

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass
class NaiveStore:
    """The runs that won, in the order in which they came."""

    window: timedelta
    runs: dict[Slot, Run] = field(default_factory=dict)
    beaten: dict[Slot, set[object]] = field(default_factory=dict)
    unrun: set[object] = field(default_factory=set)

    def push(self, slot: Slot, run: Run) -> str:
        """Take an execution; return the answer."""
        if all(timing.outcome is Outcome.INTERNAL for timing in run.timings):
            is_known = run.execution in self.unrun
            self.unrun.add(run.execution)
            return "held" if is_known else "stored"
        won = self.runs.setdefault(slot, run)
        if won is run:
            is_known = run.execution in self.beaten.setdefault(slot, set())
            self.beaten[slot].add(run.execution)
            return "held" if is_known else "stored"
        if won.execution == run.execution:
            return "held"
        self.beaten[slot].add(run.execution)
        return "duplicate"

    @property
    def duplicates(self) -> int:
        """How many executions were beaten."""
        return sum(len(executions) - 1 for executions in self.beaten.values())

    def rows(self) -> dict[UUID, tuple[Any, ...]]:
        """Of each run what wins: its execution; its requests' numbers, outcomes and TTFT."""
        return {
            slot.run_id: (
                run.execution,
                [timing.n for timing in run.timings],
                [str(timing.outcome) for timing in run.timings],
                [figures_of(timing).ttft_s for timing in run.timings],
            )
            for slot, run in self.runs.items()
        }

    def statistics(self, load: Load, now: datetime) -> dict[str, Any]:
        """The row of `series_stat` of the series of that load."""
        mine = [(slot, run) for slot, run in self.runs.items() if slot.load is load]
        seen = [(slot, run) for slot, run in mine if now - self.window < slot.slot_at <= now]
        good = [slot.slot_at for slot, run in mine if any(is_good(t) for t in run.timings)]
        latest = max(mine, key=lambda pair: (pair[0].slot_at, pair[0].run_id), default=None)
        changes = [slot.slot_at + self.window for slot, _ in seen]
        changes += [slot.slot_at for slot, _ in mine if slot.slot_at > now]
        return {
            "runs": len(seen),
            "requests": sum(len(run.timings) for _, run in seen),
            "good": sum(is_good(timing) for _, run in seen for timing in run.timings),
            "oldest_at": min((slot.slot_at for slot, _ in seen), default=None),
            "newest_at": max((slot.slot_at for slot, _ in seen), default=None),
            "next_expiry": min(changes, default=None),
            "latest_at": latest and latest[0].slot_at,
            "latest_run_id": latest and latest[0].run_id,
            "latest_ttft_s": latest and median(values(latest[1], Figure.TTFT)),
            "last_success_at": max(good, default=None),
            "tried": sum(
                timing.outcome is not Outcome.INTERNAL for _, run in mine for timing in run.timings
            ),
            "succeeded": sum(is_good(timing) for _, run in mine for timing in run.timings),
            **{
                name: value
                for figure in Figure
                for name, value in spread([run for _, run in seen], figure).items()
            },
            **throughput([run for _, run in seen]),
        }


def throughput(runs: Iterable[Run]) -> dict[str, Any]:
    """The median of what whole runs got, over those that have an output speed, and its interval."""
    shown = [run for run in runs if values(run, Figure.SPEED)]
    found = sorted(system for run in shown if (system := system_tokens_per_s(run)) is not None)
    low, high = interval(found)
    return {
        "system_tokens_per_s": median(found),
        "system_runs": len(found),
        "system_low": low,
        "system_high": high,
    }


def is_good(timing: Timing) -> bool:
    return timing.outcome is Outcome.OK


def values(run: Run, figure: Figure) -> list[float]:
    """The figure of every request of the run whose flags leave it in."""
    flags: set[Flag] = set()
    if run.load is Load.PARALLEL:
        if any(timing.outcome is Outcome.RATE_LIMITED for timing in run.timings):
            flags.add(Flag.THROTTLED)
        if sum(map(is_good, run.timings)) * 2 < len(run.timings):
            flags.add(Flag.INCONCLUSIVE)
    kept = [t for t in run.timings if not any(figure in LEAVES[f] for f in flags | set(t.flags))]
    found = [figures_of(timing).value(figure) for timing in kept]
    return sorted(value for value in found if value is not None)


def spread(runs: Iterable[Run], figure: Figure) -> dict[str, Any]:
    """The quantiles of a figure over runs, how many have it, and the interval of the median."""
    each = [values(run, figure) for run in runs]
    medians = sorted(middle for middle in map(median, each) if middle is not None)
    everything = sorted(value for found in each for value in found)
    quantiles = [quantile(everything, q) for q in QUANTILES] if medians else None
    if quantiles:
        quantiles[2] = median(medians)
    low, high = interval(medians)
    name = NAMES[figure]
    return {
        str(figure): quantiles,
        f"{name}_runs": len(medians),
        f"{name}_low": low,
        f"{name}_high": high,
    }


def median(ordered: list[float]) -> float | None:
    return quantile(ordered, 0.5) if ordered else None


def quantile(ordered: list[float], q: float) -> float:
    place = q * (len(ordered) - 1)
    below, above = ordered[int(place)], ordered[min(int(place) + 1, len(ordered) - 1)]
    return below + (above - below) * (place - int(place))


def interval(ordered: list[float]) -> tuple[float | None, float | None]:
    """The narrowest pair of order statistics that covers the median often enough."""
    n = len(ordered)
    wanted = 0.90 if n == 5 else 0.95
    for rank in range(n // 2, 0, -1):
        covered = sum(comb(n, below) for below in range(rank, n - rank + 1)) / 2**n
        if n >= 5 and covered >= wanted:
            return ordered[rank - 1], ordered[n - rank]
    return None, None
