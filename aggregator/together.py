"""What requests of parallel runs get together, and how much slower each is than one alone. Pure.

The slowdown is a ratio of two medians, each with an interval of its own. Its interval reaches from
the one end of theirs to the other: it holds the ratio of the true medians wherever both intervals
hold theirs, and so at least as often as 100 % less what each of them misses, whether they miss
together or not: 90 % of two at 95 %, 85 % where one is of five runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from aggregator.pooled import SYSTEM, Pooled, fewest_runs
from aggregator.rows import TogetherRow
from aggregator.statistic import Statistic, over_regions, over_runs
from pacewatch.words.figures import Pace, slowdown
from pacewatch.words.flag import Figure
from pacewatch.words.slot import Load

Medians = Mapping[Figure, Statistic]
"""Of output speed and time to first token at least."""

_COMPARED = (Figure.SPEED, Figure.TTFT)
_PARALLEL, _SINGLE = fewest_runs(Load.PARALLEL), fewest_runs(Load.SINGLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """How many times slower a request is among others than alone, by one figure."""

    times: float | None = None
    """None: too few runs of either load have the figure."""
    low: float | None = None
    high: float | None = None
    """Bounds of its interval; None where none can be given."""
    interval_percent: int | None = None
    """How often such an interval holds it, at least."""
    runs: int = 0
    """Parallel runs that have the figure."""
    runs_alone: int = 0
    """Single runs that have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """What parallel runs come to, in one region or over several."""

    throughput: Statistic
    """All tokens of a run over its whole time, tokens/s."""
    slower: Mapping[Figure, Times]
    """By output speed and by time to first token."""


def in_region(told: TogetherRow | None, among: Medians) -> Together:
    """Return it of one region, whose parallel runs have these medians."""
    if told is None:
        return Together(throughput=Statistic(), slower=_slower({}, among))
    speed = over_runs(
        told.alone_tokens_per_s,
        told.alone_speed_low,
        told.alone_speed_high,
        runs=told.alone_speed_runs,
        enough=_SINGLE,
    )
    ttft = over_runs(
        told.alone_ttft_s,
        told.alone_ttft_low,
        told.alone_ttft_high,
        runs=told.alone_ttft_runs,
        enough=_SINGLE,
    )
    throughput = over_runs(
        told.system_tokens_per_s,
        told.system_low,
        told.system_high,
        runs=told.system_runs,
        enough=_PARALLEL,
    )
    return Together(
        throughput=throughput, slower=_slower({Figure.SPEED: speed, Figure.TTFT: ttft}, among)
    )


def in_regions(pooled: Pooled, among: Pooled, alone: Pooled) -> Together:
    """Return it over several regions, each weighing the same in every median; `among` and `alone`
    are of parallel and of single runs over the regions that have both.
    """
    return Together(
        throughput=over_regions(pooled.get(SYSTEM), _PARALLEL),
        slower=_slower(
            {figure: over_regions(alone.get(figure), _SINGLE) for figure in _COMPARED},
            {figure: over_regions(among.get(figure), _PARALLEL) for figure in _COMPARED},
        ),
    )


def _slower(alone: Medians, among: Medians) -> Mapping[Figure, Times]:
    """Return how many times slower requests are, by the medians; the interval's low end lays the
    slow end of those alone against the fast end of those among others, its high end the other way.
    """
    alone, among = (
        {figure: found.get(figure, Statistic()) for figure in _COMPARED} for found in (alone, among)
    )
    middle = slowdown(_middle(alone), _middle(among))
    low = slowdown(_slow_end(alone), _fast_end(among))
    high = slowdown(_fast_end(alone), _slow_end(among))
    return {
        figure: Times(
            times=getattr(middle, figure),
            low=getattr(low, figure),
            high=getattr(high, figure),
            interval_percent=_percent(alone[figure], among[figure]),
            runs=among[figure].runs,
            runs_alone=alone[figure].runs,
        )
        for figure in _COMPARED
    }


def _middle(found: Medians) -> Pace:
    return Pace(output_tokens_per_s=found[Figure.SPEED].median, ttft_s=found[Figure.TTFT].median)


def _fast_end(found: Medians) -> Pace:
    return Pace(output_tokens_per_s=found[Figure.SPEED].high, ttft_s=found[Figure.TTFT].low)


def _slow_end(found: Medians) -> Pace:
    return Pace(output_tokens_per_s=found[Figure.SPEED].low, ttft_s=found[Figure.TTFT].high)


def _percent(one: Statistic, other: Statistic) -> int | None:
    """Return how often both intervals hold their medians, at least."""
    if one.interval_percent is None or other.interval_percent is None:
        return None
    return one.interval_percent + other.interval_percent - 100
