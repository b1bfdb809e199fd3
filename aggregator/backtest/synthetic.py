"""The rule and simpler ones over generated histories: how soon, how often for nothing, whose fault.

Three regions, eight single and two parallel runs a day of each. Seeded.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from aggregator.backtest.noise import World
from aggregator.backtest.play import Rate
from aggregator.backtest.study import OTHERS, RULES, TROUBLES, Found, find, quiet, starts, summary
from aggregator.backtest.trouble import Injected
from pacewatch.words.verdict import Blame

RATE = Rate(regions=3)
ENDPOINTS, STARTS, QUIET_DAYS = 6, 3, 120
"""Endpoints of each rule, starts of each trouble at each, and quiet days of each endpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """How one rule found one trouble."""

    rule: str
    trouble: str
    starts: int
    median_h: float | None
    late_h: float | None
    """90 % were found within; None: over two days."""
    missed: float
    """Share that was not found within a day."""
    named_right: int | None
    """Of those found, whose class was right; None: the rule names none."""
    found: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calm:
    """What one rule made of quiet time."""

    rule: str
    years: float
    """Of one endpoint."""
    false_days: int
    """Days on which an alarm began."""


def blame_of(trouble: Injected) -> Blame:
    """Return whose fault a trouble of the generator is."""
    if trouble.limited:
        return Blame.QUOTA
    if trouble.gone:
        return Blame.MODEL
    return Blame.REGION_PATH if trouble.one_region else Blame.PROVIDER


def seeds_of(seed: int) -> range:
    """Return the seeds of a report: an endpoint each."""
    return range(seed * ENDPOINTS, (seed + 1) * ENDPOINTS)


def delays(seed: int, tell: Callable[[str], None]) -> Iterator[Delay]:
    """Yield how each rule finds each trouble."""
    for rule, make in RULES.items():
        found: dict[str, list[Found]] = {name: [] for name in TROUBLES}
        for one in seeds_of(seed):
            tell(f"{rule}: endpoint {one}")
            for play, hour in starts(RATE, one, STARTS, make):
                for name, trouble in TROUBLES.items():
                    found[name].append(find(play, hour, trouble, _others(one)))
        for name, trouble in TROUBLES.items():
            yield _delay(rule, trouble, found[name])


def calms(seed: int, tell: Callable[[str], None]) -> Iterator[Calm]:
    """Yield what each rule makes of quiet time."""
    for rule, make in RULES.items():
        tell(f"{rule}: quiet time")
        calm = quiet(RATE, seeds_of(seed), QUIET_DAYS, make)
        yield Calm(rule=rule, years=calm.years, false_days=calm.days_alarmed)


def _others(seed: int) -> Sequence[World]:
    return [
        World(Random(f"other {seed} {k}"), RATE.regions)  # noqa: S311 - a simulation
        for k in range(OTHERS)
    ]


def _delay(rule: str, trouble: Injected, found: Sequence[Found]) -> Delay:
    median, late, _, missed = summary(found)
    named = [one.blame for one in found if one.blame is not None]
    return Delay(
        rule=rule,
        trouble=trouble.name,
        starts=len(found),
        median_h=median,
        late_h=late,
        missed=missed,
        named_right=sum(blame is blame_of(trouble) for blame in named) if named else None,
        found=sum(one.hours is not None for one in found),
    )
