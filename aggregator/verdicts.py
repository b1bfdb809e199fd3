"""From a watch to the rows of `verdict`: of an endpoint in each region, and over them. Pure."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from math import exp
from typing import Any

from aggregator.detect.chart import SLOW_CHARTS, Chart
from aggregator.detect.slowness import zs_of
from aggregator.detect.turn import POOLED
from aggregator.detect.verdict import judge
from aggregator.detect.watch import Watch
from aggregator.stats import low_ranks
from pacewatch.words.slot import to_rfc3339
from pacewatch.words.verdict import Slowness, Verdict

Interval = tuple[float | None, float | None, float | None]
"""A median and the ends of its interval."""


def rows_of(watch: Watch, silent: Mapping[str, datetime], now: datetime) -> list[dict[str, Any]]:
    """Return the rows; `silent` says when each silent region was last heard of."""
    judged = judge(watch, silent.keys())
    heard_none = silent.keys() >= set(watch.rules.regions)
    over_all = max(silent.values()) if heard_none and silent else None
    scopes = [(POOLED, judged.verdict, over_all)]
    scopes += [(region, verdict, silent.get(region)) for region, verdict in judged.regions.items()]
    return [
        {
            "region": scope,
            "verdict": str(verdict),
            "since": to_rfc3339(_since(watch, scope, verdict, last_at, now)),
            "silent_since": None if last_at is None else to_rfc3339(last_at),
            **_named("ttft_ratio", ratio(watch, scope, Slowness.FIRST_TOKEN)),
            **_named("speed_ratio", ratio(watch, scope, Slowness.OUTPUT_SPEED)),
            **_named("end_to_end_ratio", ratio(watch, scope, Slowness.END_TO_END)),
            **_named("under_load_ratio", ratio(watch, scope, Slowness.UNDER_LOAD)),
        }
        for scope, verdict, last_at in scopes
    ]


def ratio(watch: Watch, scope: str, figure: Slowness, since: float | None = None) -> Interval:
    """Return how many times slower than usual the latest runs since then are, as their median with
    its distribution-free interval, 95 % from six runs on; without a moment, of those since the
    scope is slow, or of all.
    """
    zs = sorted(zs_of(watch, scope, figure, since))
    if not zs:
        return None, None, None
    middle, odd = divmod(len(zs), 2)
    median = exp(zs[middle] if odd else (zs[middle - 1] + zs[middle]) / 2)
    rank = low_ranks()[len(zs) - 1]
    if not rank:
        return median, None, None
    return median, exp(zs[rank - 1]), exp(zs[-rank])


def _named(name: str, found: Interval) -> dict[str, float | None]:
    return dict(zip((name, f"{name}_low", f"{name}_high"), found, strict=True))


def _since(
    watch: Watch, scope: str, verdict: Verdict, last_at: datetime | None, now: datetime
) -> datetime:
    """Return when a verdict began, were it new; of trouble, when that is thought to have begun."""
    if verdict is Verdict.NOT_SERVED and watch.service.gone_since is not None:
        return datetime.fromtimestamp(watch.service.gone_since, UTC)
    if verdict is Verdict.SILENT and last_at is not None:
        return last_at
    if verdict is Verdict.FAILING:
        return _began(watch, scope, (Chart.FAILURES,)) or now
    if verdict is Verdict.SLOW:
        return _began(watch, scope, SLOW_CHARTS) or now
    return now


def _began(watch: Watch, scope: str, charts: Iterable[Chart]) -> datetime | None:
    """Return when the earliest of the scope's alarms began; over the regions, of any of theirs
    where their own charts stand on none.
    """
    for scopes in ([scope], watch.rules.regions):
        found = [
            watch.charts[one][chart].since
            for one in scopes
            for chart in watch.alarms(one)
            if chart in charts
        ]
        if found:
            return datetime.fromtimestamp(min(found), UTC)
    return None
