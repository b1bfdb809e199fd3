"""Regions from which nothing is heard: what was trouble there is no news any more. Pure.

A trouble of such regions alone is not told to stand. It stands again if they are heard within the
time after which an incident closes; what they come back with later is judged from nothing on.
"""

from collections.abc import Set

from aggregator.detect.turn import POOLED
from aggregator.detect.watch import Watch, fresh_charts

FORGOTTEN_AFTER_S = 6 * 3600
"""When nothing was heard from a region for so long, seconds of a whole day, its charts are
forgotten; as long as an ease must last, so that no incident comes back that has closed.
"""


def rest(watch: Watch, silent: Set[str], now: float) -> None:
    """Take note of the regions from which nothing is heard, before new runs are taken in.

    Of regions that are not probed from any more, charts and latest runs are forgotten at once.
    """
    regions = watch.rules.regions
    for scope in watch.charts.keys() - {POOLED, *regions}:
        del watch.charts[scope]
    for region in watch.recent.keys() - set(regions):
        del watch.recent[region]
        watch.loaded.pop(region, None)
    forgotten = [r for r, since in watch.away.items() if now >= forgotten_at(watch, since)]
    watch.charts |= {r: fresh_charts() for r in forgotten if r in watch.charts}
    if len(forgotten) == len(regions):
        watch.charts[POOLED] = fresh_charts()
        watch.service.said_by = watch.service.gone_since = None
    watch.away = {r: watch.away.get(r, now) for r in regions if r in silent}
    watch.thaw()


def due_at(watch: Watch, now: float) -> float | None:
    """Return when the next region is forgotten; None: none is away, or all are."""
    coming = [at for since in watch.away.values() if (at := forgotten_at(watch, since)) > now]
    return min(coming, default=None)


def missed(watch: Watch) -> tuple[str, ...]:
    """Return the regions whose silence hides that trouble stands; where none is heard, all."""
    if not watch.heard:
        return watch.rules.regions
    return tuple(region for region in watch.away if watch.alarms(region))


def is_well(watch: Watch, region: str, since: float) -> bool:
    """Tell whether the endpoint is as usual again after nothing was heard of it: no silence hides
    trouble, none is suspected, and the latest run of each region since then was good; of that
    region alone, or where it is POOLED of all that are heard.
    """
    if missed(watch) or watch.suspicion is not None:
        return False
    regions = (region,) if region else watch.heard
    latest = [recent[-1] for one in regions if (recent := watch.recent.get(one))]
    failed = [failed for at, _, _, failed, _ in latest if at > since]
    return bool(failed) and not any(failed)


def forgotten_at(watch: Watch, since: float) -> float:
    """Return when a region that is away since then is forgotten."""
    return since + watch.rules.scaled(FORGOTTEN_AFTER_S)
