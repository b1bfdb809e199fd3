"""A watch as plain JSON values and back: the one row of an endpoint. Pure.

Numbers are kept to thousandths or so, and moments of baselines to seconds, so that twenty regions
fit in some 30 kB, or 50 with sentinels.
"""

from dataclasses import asdict
from typing import Any

from aggregator.detect.baseline import Baseline, Point
from aggregator.detect.chart import Standing
from aggregator.detect.failing import Service
from aggregator.detect.rules import Rules
from aggregator.detect.season import Season
from aggregator.detect.suspicion import Suspicion
from aggregator.detect.watch import Watch

VERSION = 1
"""Of the form; a state of another one is not read, and judging begins anew."""


_WITHOUT_WHOLE = 4
"""A recent run as it was written before whole answers were compared has so many values."""


def state_of(watch: Watch) -> dict[str, Any]:
    """Return all that the watch knows, but for its rules."""
    return {
        "v": VERSION,
        "baselines": [
            [*key, [_packed(p) for p in one.points], [_packed(p) for p in one.aside]]
            for key, one in sorted(watch.baselines.items())
        ],
        "seasons": [asdict(season) for season in watch.seasons],
        "charts": {
            scope: [[c.s, c.since, c.alarmed_at, c.peak] for c in charts]
            for scope, charts in watch.charts.items()
        },
        "recent": {region: [list(p) for p in points] for region, points in watch.recent.items()},
        "loaded": {region: [list(p) for p in points] for region, points in watch.loaded.items()},
        "service": asdict(watch.service),
        "row": watch.row,
        "suspicion": None if watch.suspicion is None else asdict(watch.suspicion),
        "away": watch.away,
    }


def watch_of(state: dict[str, Any] | None, rules: Rules) -> Watch:
    """Return the watch that goes on from a state; a fresh one for none, or for another version."""
    watch = Watch(rules)
    if state is None or state["v"] != VERSION:
        return watch
    for *key, points, aside in state["baselines"]:
        watch.baselines[key[0], key[1], key[2]] = Baseline(
            points=[_unpacked(p) for p in points], aside=[_unpacked(p) for p in aside]
        )
    first, second = (_season(season) for season in state["seasons"])
    watch.seasons = first, second
    watch.charts = {
        scope: [Standing(s, since, alarmed_at, peak) for s, since, alarmed_at, peak in charts]
        for scope, charts in state["charts"].items()
    }
    watch.recent = {
        region: [
            (p[0], p[1], p[2], p[3], p[4] if len(p) > _WITHOUT_WHOLE else None) for p in points
        ]
        for region, points in state["recent"].items()
    }
    watch.loaded = {
        region: [(at, z) for at, z in points] for region, points in state.get("loaded", {}).items()
    }
    watch.service = Service(**state["service"])
    watch.row = state.get("row", 0)
    watch.suspicion = state["suspicion"] and Suspicion(**state["suspicion"])
    watch.away = state.get("away", {})
    watch.forget_limits()
    return watch


def _season(state: dict[str, Any]) -> Season:
    parts = [[(z, n) for z, n in part] for part in state["parts"]]
    return Season(**{**state, "parts": parts})


def _packed(point: Point) -> list[int | None]:
    at, *xs = point
    return [round(at), *(None if x is None else round(x * 1000) for x in xs)]


def _unpacked(point: list[Any]) -> Point:
    at, first, second = point
    return (
        float(at),
        None if first is None else first / 1000,
        None if second is None else second / 1000,
    )
