"""Evidence and watches for the tests of judging."""

from copy import deepcopy
from functools import cache
from random import Random

from aggregator.backtest.noise import World
from aggregator.backtest.play import Play, Rate
from aggregator.detect.evidence import Evidence
from aggregator.detect.rules import make_rules
from aggregator.detect.watch import Watch
from pacewatch.words.judging import Limits

HOUR_S = 3600.0
REGIONS = ("r00", "r01", "r02")


def good(hour, region="r00", *, ttft_s=0.5, speed=100.0, **rest):
    return Evidence(
        at=hour * HOUR_S,
        region=region,
        workload="standard",
        ttft_s=ttft_s,
        speed=speed,
        failed=False,
        limited=False,
        **rest,
    )


def bad(hour, region="r00", **rest):
    return Evidence(
        at=hour * HOUR_S,
        region=region,
        workload="standard",
        **({"failed": True} if not rest.keys() & {"gone", "limited"} else {}),
        **rest,
    )


def make_watch(regions=REGIONS, *, runs_a_day=30.0, limits=None):
    limits = limits or Limits()
    return Watch(make_rules(regions, runs_a_day=runs_a_day, limits=limits))


def feed(watch, start_h, runs, make=good, *, step_h=1.0, **rest):
    """Give the watch so many runs, the regions in turn; return what changed."""
    changes = []
    for k in range(runs):
        hour = start_h + k * step_h
        region = watch.rules.regions[k % len(watch.rules.regions)]
        changes += watch.take([make(hour, region, **rest)], hour * HOUR_S)
    return changes


def learnt(regions=REGIONS, **rest):
    """Return a watch that knows 72 steady hours, which end at hour 72."""
    return deepcopy(steady(regions, **rest))


@cache
def steady(regions, **rest):
    watch = make_watch(regions, **rest)
    feed(watch, 0, 72)
    return watch


THREE = Rate(regions=3)


def played(seed, rate=THREE, *, days=5):
    """Return a play of some days of usual noise."""
    watch = Watch(make_rules(rate.names, runs_a_day=rate.runs_a_day))
    world = World(Random(seed), rate.regions)  # noqa: S311 - a simulation
    play = Play(watch, world, Random(seed + 1), rate)  # noqa: S311
    play.run(0, 24 * days)
    return play
