"""A rule and a history played against each other: the rule's confirming probes are run too.

Moments are hours from the history's start; the rule sees seconds.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from aggregator.backtest.noise import World
from aggregator.backtest.trouble import HANG_S, Injected, evidence_of
from aggregator.detect.evidence import Evidence
from aggregator.detect.suspicion import Order
from aggregator.detect.turn import Change
from pacewatch.words.slot import Load, Purpose

ANSWER_S = {"standard": 15.0, "sentinel": 3.0}
"""From the send of a run to its evidence at the centre."""

ORDER_S = (10.0, 90.0)
"""From an order to the send of its probe."""


class Rule(Protocol):
    """What can be played against a history."""

    def take(self, runs: list[Evidence], now: float) -> list[Change]:
        """Take runs in; return what changed."""

    def orders(self, now: float, allowed: int) -> list[Order]:
        """Return the probes that should go out now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often an endpoint is probed."""

    regions: int
    single_a_day: int = 8
    parallel_a_day: int = 2
    sentinel_s: float | None = None
    """One sentinel each so many seconds, the regions in turn."""

    @property
    def runs_a_day(self) -> float:
        """Return all runs a day."""
        probes = self.regions * (self.single_a_day + self.parallel_a_day)
        return probes + (86_400 / self.sentinel_s if self.sentinel_s else 0)

    @property
    def requests_a_day(self) -> float:
        """Return all requests a day."""
        return self.runs_a_day + self.regions * self.parallel_a_day * 9

    @property
    def names(self) -> tuple[str, ...]:
        """Return the regions."""
        return tuple(f"r{number:02}" for number in range(self.regions))


Planned = tuple[float, int, str, Load, Purpose]
"""Hour, region, workload, load, purpose."""


def schedule(rate: Rate, start_h: float, end_h: float) -> Iterator[Planned]:
    """Yield the runs of a span in order of time, staggered over the regions."""
    return heapq.merge(
        _spread(rate, rate.single_a_day, Load.SINGLE, 0.0, start_h, end_h),
        _spread(rate, rate.parallel_a_day, Load.PARALLEL, 0.37, start_h, end_h),
        _sentinels(rate, start_h, end_h),
    )


def _spread(  # noqa: PLR0913 - a span of one kind of run
    rate: Rate, a_day: int, load: Load, shift: float, start_h: float, end_h: float
) -> Iterator[Planned]:
    if not a_day:
        return
    step = 24 / a_day / rate.regions
    k = int(start_h / step)
    while (hour := (k + shift) * step) < end_h:
        if hour >= start_h:
            yield hour, k % rate.regions, "standard", load, Purpose.SCHEDULED
        k += 1


def _sentinels(rate: Rate, start_h: float, end_h: float) -> Iterator[Planned]:
    if rate.sentinel_s is None:
        return
    step = rate.sentinel_s / 3600
    k = int(start_h / step)
    while (hour := k * step) < end_h:
        if hour >= start_h:
            yield hour, k % rate.regions, "sentinel", Load.SINGLE, Purpose.SENTINEL
        k += 1


@dataclass(slots=True)
class Play:
    """One endpoint's history under way; `run` goes on where it stopped."""

    rule: Rule
    world: World
    random: Random
    """Of the schedule's runs; what the rule orders has one of its own."""
    rate: Rate
    budget_a_day: int = 12
    extra: int = 0
    """Confirming probes so far."""
    spent: dict[int, int] = field(default_factory=dict)
    """By day."""
    now: float = 0.0
    """The latest moment that was played, hours."""
    due_at: float | None = None
    """When the rule was last told to be asked again."""
    extra_random: Random = field(init=False)

    def __post_init__(self) -> None:
        """Draw what the rule's own probes are drawn from."""
        self.extra_random = Random(self.random.random())  # noqa: S311 - a simulation

    def run(
        self,
        start_h: float,
        end_h: float,
        trouble: Injected | None = None,
        *,
        until_alarm: bool = False,
    ) -> list[Change]:
        """Play a span, with the trouble over it from its start; return what changed.

        With `until_alarm` it ends at the first alarm.
        """
        queue: list[tuple[float, int, object]] = []
        plan = schedule(self.rate, start_h, end_h)
        upcoming = next(plan, None)
        number, changes = 0, list[Change]()
        while upcoming is not None or queue:
            if upcoming is not None and (not queue or upcoming[0] <= queue[0][0]):
                what: object = upcoming
                hour, upcoming = upcoming[0], next(plan, None)
            else:
                hour, _, what = heapq.heappop(queue)
            if hour >= end_h:
                break
            self.now = hour
            if isinstance(what, Evidence):
                found = self.rule.take([what], hour * 3600)
                changes += found
                if until_alarm and any(change.turn == "alarm" for change in found):
                    break
            elif what is not None:
                known, evidence = self._probe(what, start_h, trouble)  # type: ignore[arg-type]
                number += 1
                heapq.heappush(queue, (known, number, evidence))
                continue
            for item in self._order(hour):
                number += 1
                heapq.heappush(queue, (item[0], number, item[1]))
        return changes

    def _probe(
        self, planned: Planned, start_h: float, trouble: Injected | None
    ) -> tuple[float, Evidence]:
        hour, region, workload, load, purpose = planned
        extra = purpose is Purpose.CONFIRM
        sample = self.world.sample(hour, region, parallel=load is Load.PARALLEL, extra=extra)
        lies = trouble is not None and hour - start_h < trouble.hours
        if trouble is None or not lies or (trouble.one_region and region):
            trouble = None
        evidence = evidence_of(
            sample,
            trouble,
            random=self.extra_random if extra else self.random,
            at=hour * 3600,
            region=self.rate.names[region],
            workload=workload,
            load=load,
            purpose=purpose,
        )
        hangs = evidence.failed and trouble is not None and trouble.hangs
        return hour + (HANG_S if hangs else ANSWER_S[workload]) / 3600, evidence

    def _order(self, hour: float) -> Iterator[tuple[float, object]]:
        day = int(hour / 24)
        left = self.budget_a_day - self.spent.get(day, 0)
        for order in self.rule.orders(hour * 3600, left):
            self.spent[day] = self.spent.get(day, 0) + 1
            self.extra += 1
            sent = hour + self.extra_random.uniform(*ORDER_S) / 3600
            yield (
                sent,
                (
                    sent,
                    self.rate.names.index(order.region),
                    order.workload,
                    Load.SINGLE,
                    Purpose.CONFIRM,
                ),
            )
        suspicion = getattr(self.rule, "suspicion", None)
        due_at = None if suspicion is None else suspicion.due_at
        if due_at is not None and left > 0 and due_at != self.due_at:
            self.due_at = due_at
            yield max(due_at / 3600, hour), None
