"""What a rule does: false alarms in quiet time, delays, classes, recovery. Seeded."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from math import log
from random import Random

from aggregator.backtest.noise import NOISE, Noise, World
from aggregator.backtest.plain import REGIONS, THRESHOLD, Regions, Threshold
from aggregator.backtest.play import Play, Rate, Rule
from aggregator.backtest.trouble import Injected
from aggregator.detect.regions import compare_regions
from aggregator.detect.rules import daily_budget, make_rules
from aggregator.detect.scope import Around, classify
from aggregator.detect.standing import Met
from aggregator.detect.turn import POOLED, Change, Turn
from aggregator.detect.watch import Watch
from pacewatch.words.figures import percentile
from pacewatch.words.verdict import Blame, Trouble

WARM_H = 16 * 24.0
"""Until a season is known."""

GIVEN_UP_H = 48.0
MISSED_H = 24.0

TROUBLES: dict[str, Injected] = {
    one.name: one
    for one in (
        Injected(name="speed halved", speed=0.5),
        Injected(name="speed to a third", speed=1 / 3),
        Injected(name="speed x0.7", speed=0.7),
        Injected(name="TTFT five times", ttft=5.0),
        Injected(name="TTFT twice", ttft=2.0),
        Injected(name="outage, refusing", failed=1.0),
        Injected(name="outage, hanging", failed=1.0, hangs=True),
        Injected(name="60 % rate-limited", limited=0.6),
        Injected(name="model retired", gone=True),
        Injected(name="TTFT five times, one region", ttft=5.0, one_region=True),
        Injected(name="speed halved, one region", speed=0.5, one_region=True),
    )
}

RuleMaker = Callable[[Rate], Rule]


def watch_for(rate: Rate) -> Watch:
    """Return the rule with its thresholds for that rate."""
    return Watch(make_rules(rate.names, runs_a_day=rate.runs_a_day))


RULES: dict[str, RuleMaker] = {
    "the rule": watch_for,
    THRESHOLD: lambda rate: Threshold(),
    REGIONS: lambda rate: Regions(regions=rate.regions),
}
"""The rule and simpler ones, played over the same histories."""


def play_of(rate: Rate, seed: int, make: RuleMaker = watch_for, noise: Noise = NOISE) -> Play:
    """Return an endpoint of that seed at its beginning."""
    return Play(
        rule=make(rate),
        world=World(Random(f"world {seed}"), rate.regions, noise),  # noqa: S311 - a simulation
        random=Random(f"play {seed}"),  # noqa: S311
        rate=rate,
        budget_a_day=int(daily_budget(rate.requests_a_day)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet:
    """Quiet time of some endpoints."""

    years: float
    days_alarmed: int
    """Days on which an alarm began, of any chart."""
    days_pooled: int
    """Those on which one of all regions began: what may page."""
    extra_share: float
    """Confirming probes as a share of the scheduled requests."""
    charts: Counter[str]


def quiet(
    rate: Rate, seeds: Sequence[int], days: int, make: RuleMaker = watch_for, noise: Noise = NOISE
) -> Quiet:
    """Play quiet histories of so many days, after a time to learn."""
    any_days = pooled = extra = 0
    charts: Counter[str] = Counter()
    for seed in seeds:
        play = play_of(rate, seed, make, noise)
        play.run(0, WARM_H)
        before = play.extra
        changes = play.run(WARM_H, WARM_H + days * 24)
        alarms = [change for change in changes if change.turn is Turn.ALARM]
        any_days += len({int(change.at / 86_400) for change in alarms})
        pooled += len({int(change.at / 86_400) for change in alarms if change.scope == POOLED})
        charts.update(f"{c.trouble}{'' if c.scope == POOLED else ' in a region'}" for c in alarms)
        extra += play.extra - before
    years = len(seeds) * days / 365.25
    return Quiet(
        years=years,
        days_alarmed=any_days,
        days_pooled=pooled,
        extra_share=extra / (len(seeds) * days * rate.requests_a_day),
        charts=charts,
    )


def starts(
    rate: Rate, seed: int, number: int, make: RuleMaker = watch_for
) -> Iterator[tuple[Play, float]]:
    """Yield an endpoint at so many moments of its quiet life, the same whatever the rule, but for
    those at which the rule stands on alarm.
    """
    play, hour = play_of(rate, seed, make), WARM_H
    play.run(0, hour)
    for _ in range(number):
        later = hour + play.random.uniform(5, 29)
        play.run(hour, later)
        hour = later
        if not _stands(play.rule):
            yield play, hour


def _stands(rule: Rule) -> bool:
    if isinstance(rule, Watch):
        return any(rule.alarms(scope) for scope in rule.charts)
    return isinstance(rule, Threshold | Regions) and rule.stands


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How one trouble was found."""

    hours: float | None
    """From its start to the alarm; None: not within GIVEN_UP_H."""
    blame: Blame | None = None


def find(play: Play, hour: float, trouble: Injected, others: Sequence[World] = ()) -> Found:
    """Lay a trouble over a copy of the endpoint and see how soon it is found."""
    copy = deepcopy(play)
    changes = copy.run(hour, hour + GIVEN_UP_H, trouble, until_alarm=True)
    alarm = next((change for change in changes if change.turn is Turn.ALARM), None)
    if alarm is None:
        return Found(hours=None)
    # a plain rule and a chart both note the moment of the run; what is known is known later
    known = copy.now
    blame = None
    if isinstance(copy.rule, Watch) and others:
        blame = classify(around(copy.rule, alarm, others, known, trouble)).blame
    return Found(hours=known - hour, blame=blame)


def around(
    watch: Watch, alarm: Change, others: Sequence[World], hour: float, trouble: Injected
) -> Around:
    """Return what an alarm's class follows from: runs since it began, and one run of each of the
    other endpoints of the suspect region.
    """
    mine = compare_regions(watch, Met(trouble=alarm.trouble, region=alarm.scope, since=alarm.since))
    place = 2 if alarm.trouble is Trouble.OUTPUT_SPEED else 1
    return Around(
        trouble=alarm.trouble,
        suspect_z=[mine.zs[mine.suspect]] if mine.suspect in mine.zs else (),
        other_regions_z=[mine.zs[region] for region in mine.others],
        regions=len(watch.rules.regions),
        others_z=[_z_of(world, hour, trouble, place) for world in others],
    )


def _z_of(world: World, hour: float, trouble: Injected, place: int) -> float:
    """Return the z of a run of another endpoint: in trouble only where our prober is."""
    sample = world.sample(hour, 0)
    is_ours = trouble.name.startswith("prober")
    if place == 2:
        return -log(sample.speed / world.speed * (trouble.speed if is_ours else 1.0))
    return log(sample.ttft_s / world.ttft_s * (trouble.ttft if is_ours else 1.0))


def find_all(
    rate: Rate,
    names: Sequence[str],
    seeds: Sequence[int],
    number: int,
    make: RuleMaker = watch_for,
) -> dict[str, list[Found]]:
    """Return how the named troubles were found, from so many starts of each seed."""
    found: dict[str, list[Found]] = {name: [] for name in names}
    for seed in seeds:
        for play, hour in starts(rate, seed, number, make):
            for name in names:
                found[name].append(find(play, hour, TROUBLES[name]))
    return found


def summary(found: Sequence[Found]) -> tuple[float | None, float | None, float, float]:
    """Return median, 90 % and the longest of the hours (None: longer than GIVEN_UP_H), and the
    share not found within MISSED_H.
    """
    hours = sorted(GIVEN_UP_H if one.hours is None else one.hours for one in found)
    middle, late = percentile(hours, 0.5), percentile(hours, 0.9)
    missed = sum(hour > MISSED_H for hour in hours) / len(hours)
    return (
        None if middle == GIVEN_UP_H else middle,
        None if late == GIVEN_UP_H else late,
        hours[-1],
        missed,
    )


CLASSES: dict[str, tuple[Injected, Blame]] = {
    "provider, twice as slow": (Injected(name="provider", ttft=2.0, speed=0.5), Blame.PROVIDER),
    "one region, twice as slow": (
        Injected(name="path", ttft=2.0, speed=0.5, one_region=True),
        Blame.REGION_PATH,
    ),
    "prober, twice as slow": (
        Injected(name="prober", ttft=2.0, speed=0.5, one_region=True),
        Blame.PROBER,
    ),
    "60 % rate-limited": (TROUBLES["60 % rate-limited"], Blame.QUOTA),
    "model retired": (TROUBLES["model retired"], Blame.MODEL),
}

OTHERS = 20
"""Other endpoints of a region, by which a prober is told from a path."""


def name_all(rate: Rate, seeds: Sequence[int], number: int) -> dict[str, tuple[int, int]]:
    """Return how often each trouble of a known class was named right, of how many found."""
    right = dict.fromkeys(CLASSES, 0)
    found = dict.fromkeys(CLASSES, 0)
    for seed in seeds:
        for play, hour in starts(rate, seed, number):
            others = [
                World(Random(f"other {seed} {k}"), rate.regions)  # noqa: S311 - a simulation
                for k in range(OTHERS)
            ]
            for name, (trouble, expected) in CLASSES.items():
                blame = find(play, hour, trouble, others).blame
                found[name] += blame is not None
                right[name] += blame is expected
    return {name: (right[name], found[name]) for name in CLASSES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasting:
    """What becomes of a slowdown that lasts, and of its end."""

    called_ok: bool
    """It was called ok while it lasted."""
    recovery_h: float | None
    """From its end to ok; None: not within four days."""


def last(play: Play, hour: float, trouble: Injected, days: float) -> Lasting | None:
    """Lay a slowdown of some days over a copy of the endpoint; None where it was not found."""
    copy = deepcopy(play)
    watch = copy.rule
    end, called_ok, alarmed = hour + days * 24, False, False
    step = hour
    while step < end:
        copy.run(step, min(step + 1, end), trouble)
        stands = isinstance(watch, Watch) and bool(watch.alarms(POOLED))
        called_ok, alarmed = called_ok or (alarmed and not stands), alarmed or stands
        step += 1
    if not alarmed:
        return None
    for later in range(4 * 24):
        copy.run(end + later, end + later + 1)
        if isinstance(watch, Watch) and not watch.alarms(POOLED):
            return Lasting(called_ok=called_ok, recovery_h=later + 1.0)
    return Lasting(called_ok=called_ok, recovery_h=None)
