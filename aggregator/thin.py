"""Leaves out whole slots, evenly over the day, until what is planned fits the caps. Pure.

A cap that is met at noon would leave the afternoons out of every median.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Literal

LONGEST_PAUSE_DAYS = 30
"""An endpoint that could only be probed more seldom is left out."""

WIDER = (2, 3, 4, 6, 12)
"""Sentinels are asked so many times as seldom before they are left out."""

Unit = Literal["requests", "tokens", "usd"]
"""What a cap counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often slots come, of one load of each of an endpoint's series."""

    per_day: int
    """On a day that has any."""
    every_days: int = 1
    """Of so many days, one has slots; the series take turns."""

    @property
    def mean(self) -> float:
        """Slots a day on the mean."""
        return self.per_day / self.every_days


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How often an endpoint is probed."""

    single: Rate
    parallel: Rate
    sentinel_s: int = 0
    """Between two sentinels from whatever regions, seconds; 0: none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """The most of something that some endpoints may be asked for a day."""

    provider: str | None
    """None: of the whole fleet."""
    unit: Unit
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MetCap:
    """A cap for which slots were left out."""

    cap: Cap
    asked: float
    """What would be asked without this cap."""


Amounts = Mapping[Unit, float]
"""What is asked for a day, in each unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Rates of an endpoint, and what they ask for, of all its series."""

    rates: Rates
    amounts: Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """Ever thinner rates of one endpoint."""

    provider: str
    steps: Sequence[Step]

    def costs(self, unit: Unit, step: int) -> list[float]:
        """Return what each step asks for from that one on."""
        return [one.amounts[unit] for one in self.steps[step:]]


def steps_of(asked: Rates, amounts_of: Callable[[Rates], Amounts]) -> list[Step]:
    """Return ever thinner rates, each with what it asks for.

    Sentinels come ever more seldom and go first, since what is shown stands on the schedule. Then
    singles go to half, then one parallel slot, and so on: verdicts stand on the singles, and a
    parallel slot costs as much as ten of them. When the last parallel slot is gone the singles
    begin anew, down to one in LONGEST_PAUSE_DAYS.
    """
    steps: list[Step] = []
    for rates in _thinner(asked):
        amounts = amounts_of(rates)
        if not steps or amounts["requests"] < steps[-1].amounts["requests"]:
            steps.append(Step(rates=rates, amounts=amounts))
    return steps


def _thinner(asked: Rates) -> Iterator[Rates]:
    single, parallel, none = asked.single, asked.parallel, Rate(per_day=0)
    yield asked
    for times in WIDER:
        yield replace(asked, sentinel_s=asked.sentinel_s * times)
    for left in range(parallel.per_day, 0, -1):
        for singles in range(single.per_day, ceil(single.per_day / 2) - 1, -1):
            fewer = Rate(per_day=left, every_days=parallel.every_days)
            yield Rates(single=Rate(per_day=singles), parallel=fewer)
    for singles in range(single.per_day, 0, -1):
        yield Rates(single=Rate(per_day=singles), parallel=none)
    for days in range(2, LONGEST_PAUSE_DAYS + 1) if single.per_day else ():
        yield Rates(single=Rate(per_day=1, every_days=days), parallel=none)
    yield Rates(single=none, parallel=none)


def thin(
    ladders: Mapping[str, Ladder], caps: Iterable[Cap]
) -> tuple[dict[str, Step], tuple[MetCap, ...]]:
    """Return the step of each ladder at which all caps hold, and the caps that were met."""
    at = dict.fromkeys(ladders, 0)
    met: list[MetCap] = []
    for cap in caps:
        costs = {
            key: ladder.costs(cap.unit, at[key])
            for key, ladder in ladders.items()
            if cap.provider in (None, ladder.provider)
        }
        asked = sum(ladder[0] for ladder in costs.values())
        fewer = _fit(costs, cap.most)
        for key, steps in fewer.items():
            at[key] += steps
        if any(fewer.values()):
            met.append(MetCap(cap=cap, asked=asked))
    return {key: ladder.steps[at[key]] for key, ladder in ladders.items()}, tuple(met)


def _fit(ladders: Mapping[str, list[float]], most: float) -> dict[str, int]:
    """Return the step of each ladder at which all together fit; the dearest are thinned first."""
    level = _level([ladder[0] for ladder in ladders.values()], most)
    steps = {
        key: next((n for n, cost in enumerate(ladder) if cost <= level), len(ladder) - 1)
        for key, ladder in ladders.items()
    }
    total = sum(ladders[key][n] for key, n in steps.items())
    moved = True
    while moved:  # what rounding to whole slots left over is given back, in the order of the ids
        moved = False
        for key in sorted(steps):
            ladder, n = ladders[key], steps[key]
            if n and total - ladder[n] + ladder[n - 1] <= most:
                total += ladder[n - 1] - ladder[n]
                steps[key] = n - 1
                moved = True
    return steps


def _level(costs: Iterable[float], most: float) -> float:
    """Return the most that one endpoint may cost, so that all of them keep to the cap."""
    left, ordered = most, sorted(costs)
    for n, cost in enumerate(ordered):
        share = left / (len(ordered) - n)
        if cost > share:
            return share
        left -= cost
    return float("inf")
