"""How much slower an endpoint is in each region since a trouble began. Pure."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from aggregator.detect.chart import LIMIT_CHARTS
from aggregator.detect.scope import FAILED_Z
from aggregator.detect.standing import Met
from aggregator.detect.watch import Watch
from pacewatch.words.figures import percentile
from pacewatch.words.verdict import Trouble

LATEST = 4
"""Runs of a region that its z is the median of, at most."""

OTHER_REGIONS = 4
"""Of the endpoint's other regions so many are looked at, those tested last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The regions that have tested an endpoint since a trouble began."""

    zs: Mapping[str, float]
    """By region."""
    suspect: str
    """The region of the trouble; of a trouble of all, the one that has it worst; '': none."""
    others: tuple[str, ...]
    """Of the others those tested last."""
    over_limit: Set[str]
    """Regions whose latest runs are slower than a limit of one's own, whatever is usual."""


def compare_regions(watch: Watch, met: Met) -> Compared:
    """Return what the regions have found since the trouble is thought to have begun; what is slower
    than a limit counts before it is known what is usual.
    """
    zs = {
        region: z
        for region in watch.rules.regions
        if (z := median_z(watch.recent.get(region, ()), met.trouble, met.since)) is not None
    }
    over = {r for r in watch.rules.regions if r in watch.recent}
    over = {r for r in over if is_over_limit(watch, r, met.trouble)}
    worst = max(zs, key=lambda region: zs[region], default="") or min(over, default="")
    suspect = met.region or worst
    tested = (zs.keys() | over) - {suspect}
    others = sorted(tested, key=lambda region: -watch.recent[region][-1][0])
    return Compared(
        zs=zs,
        suspect=suspect,
        others=tuple(others[:OTHER_REGIONS]),
        over_limit=over,
    )


def is_over_limit(watch: Watch, scope: str, trouble: Trouble) -> bool:
    """Tell whether the latest runs of a scope are slower than the limit that was set on it."""
    chart, charts = LIMIT_CHARTS.get(trouble), watch.charts.get(scope)
    return chart is not None and charts is not None and charts[chart].s > 0


def median_z(points: Iterable[Sequence[Any]], trouble: Trouble, after: float) -> float | None:
    """Return the median z of a region's latest runs after a moment; a failure counts as 2."""
    zs: list[float] = []
    for at, first, speed, has_failed, *_ in points:
        z = first if trouble is Trouble.FIRST_TOKEN else speed
        if trouble is Trouble.FAILURES:
            z = 0.0
        z = FAILED_Z if has_failed else z
        if at > after and z is not None:
            zs.append(z)
    return percentile(zs[-LATEST:], 0.5)
