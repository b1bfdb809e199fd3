"""How much slower than usual the latest runs of a scope are, by what is slow. Pure."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from aggregator.detect.chart import SLOW_CHARTS, TROUBLES
from aggregator.detect.watch import Watch
from pacewatch.words.verdict import Slowness

_WHOLE = (Slowness.END_TO_END, Slowness.UNDER_LOAD)
_PLACES = {
    Slowness.FIRST_TOKEN: 1,
    Slowness.OUTPUT_SPEED: 2,
    Slowness.END_TO_END: 4,
    Slowness.UNDER_LOAD: 1,
}
"""Where a figure's z stands in a remembered run: in a parallel one for the last."""


def zs_of(watch: Watch, scope: str, figure: Slowness, since: float | None = None) -> list[float]:
    """Return the z of the latest runs of a scope since then; without a moment, of those since that
    figure began to be slow where the scope stands on alarm for it, else of all. Whole answers are
    slow since the earlier of both figures that alarm.
    """
    if since is None:
        began = (
            watch.charts[scope][chart].since
            for chart in watch.alarms(scope)
            if chart in SLOW_CHARTS and figure in (TROUBLES[chart], *_WHOLE)
        )
        since = min(began, default=-inf)
    is_loaded, place = figure is Slowness.UNDER_LOAD, _PLACES[figure]
    points: Mapping[str, Sequence[Sequence[Any]]] = watch.loaded if is_loaded else watch.recent
    return [
        point[place]
        for region in ([scope] if scope else watch.rules.regions)
        for point in points.get(region, ())
        if point[0] > since and point[place] is not None
    ]
