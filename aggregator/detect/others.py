"""What the rest of a fleet tells of a trouble: other providers' endpoints, by region. Pure."""

from collections.abc import Iterable, Mapping, Sequence, Set

from aggregator.detect.recent import Recent
from aggregator.detect.regions import Compared, compare_regions, median_z
from aggregator.detect.scope import BAR, Around, bar_of
from aggregator.detect.standing import Met
from aggregator.detect.watch import Watch
from pacewatch.words.endpoint import Endpoint
from pacewatch.words.figures import percentile

OTHERS_S = 3 * 3600
"""Of other endpoints the runs of so long are looked at, seconds of a whole day."""

Points = Mapping[str, Sequence[Recent]]
"""Latest runs of an endpoint by region."""

Others = Sequence[tuple[str, Mapping[str, float]]]
"""Provider and z by region, of one endpoint each."""


def others_of(
    endpoints: Iterable[Endpoint],
    recent: Mapping[str, Points],
    endpoint: Endpoint,
    met: Met,
    after: float,
) -> Others:
    """Return what the endpoints of other providers have found after a moment, on that trouble."""
    found = []
    for other in endpoints:
        if other.provider != endpoint.provider and other.id in recent:
            points = recent[other.id]
            zs = {r: median_z(points.get(r, ()), met.trouble, after) for r in points}
            found.append((other.provider, {r: z for r, z in zs.items() if z is not None}))
    return found


def look_around(
    watch: Watch, met: Met, others: Others, doubted: Set[str] = frozenset()
) -> tuple[Around, str]:
    """Return what runs tell around a trouble, and the region that has it worst; the network, our
    workers and what the provider changed are not in it.

    A region whose workers are doubted testifies only to what is well.
    """
    mine = compare_regions(watch, met)
    suspect = mine.suspect
    bar = bar_of([mine.zs.get(suspect, 0.0)])
    sees_it = {r for r in mine.others if mine.zs.get(r, 0.0) > bar or r in mine.over_limit}
    heard = [r for r in mine.others if r not in doubted or r not in sees_it]
    slow, probed = _providers(others, bar, doubted)
    around = Around(
        trouble=met.trouble,
        suspect_z=[mine.zs[suspect]] if suspect in mine.zs else (),
        other_regions_z=[mine.zs.get(region, 0.0) for region in heard],
        over_limit=_share_limit(mine, heard),
        regions=len(set(watch.heard) - (doubted & sees_it)),
        others_z=[_excess(zs, suspect) for _, zs in others if suspect in zs],
        providers_slow=slow,
        providers=probed,
    )
    return around, suspect


def _share_limit(mine: Compared, heard: Sequence[str]) -> bool:
    """Tell whether the suspect region and half of the others are slower than a limit."""
    over = sum(region in mine.over_limit for region in heard)
    return mine.suspect in mine.over_limit and bool(over) and 2 * over >= len(heard)


def _excess(zs: Mapping[str, float], region: str) -> float:
    """Return how much slower an endpoint is from a region than from its others."""
    elsewhere = percentile((z for other, z in zs.items() if other != region), 0.5)
    return zs[region] - (elsewhere or 0.0)


def _providers(others: Others, bar: float, doubted: Set[str]) -> tuple[int, int]:
    """Return how many other providers are slow from every region, not from doubted ones alone, and
    how many were probed.
    """
    found: dict[str, dict[str, list[float]]] = {}
    for provider, zs in others:
        for region, z in zs.items():
            found.setdefault(provider, {}).setdefault(region, []).append(z)
    slow = sum(
        not regions.keys() <= doubted
        and all((percentile(zs, 0.5) or 0.0) > max(bar, BAR) for zs in regions.values())
        for regions in found.values()
    )
    return slow, len(found)
