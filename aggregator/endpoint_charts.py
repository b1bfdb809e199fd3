"""The charts of an endpoint: its runs of the window and its days, region by region. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from aggregator.charts import (
    Chart,
    Frame,
    Span,
    chart_of_days,
    chart_of_runs,
    day_span,
    most_of,
    quantiles,
)
from aggregator.one_endpoint import SHOWN_DAYS, OneEndpoint
from aggregator.pooled import fewest_runs
from pacewatch.words.flag import Figure
from pacewatch.words.slot import Load

CHARTED = (Figure.SPEED, Figure.TTFT)
"""The figures that are drawn."""

_TITLES = {Figure.SPEED: "Output speed, tokens/s", Figure.TTFT: "Time to first token"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Charted:
    """The charts of one figure in one region."""

    title: str
    runs: Chart | None
    days: Chart | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The charts of one region."""

    region: str
    figures: tuple[Charted, ...]


def places_of(found: OneEndpoint, load: Load) -> tuple[Place, ...]:
    """Return the charts of each region that has runs or days; all of a figure have one scale."""
    enough = fewest_runs(load)
    regions = sorted(found.points.keys() | found.days.keys())
    made: dict[str, list[Charted]] = {region: [] for region in regions}
    for figure in CHARTED:
        runs, days = _frames(found, figure, enough)
        for region in regions:
            points, of_days = found.points.get(region, ()), found.days.get(region, ())
            made[region].append(
                Charted(
                    title=_TITLES[figure],
                    runs=chart_of_runs(points, runs, _median(found, region, figure)),
                    days=chart_of_days(of_days, days, enough),
                )
            )
    return tuple(Place(region=region, figures=tuple(charts)) for region, charts in made.items())


def _frames(found: OneEndpoint, figure: Figure, enough: int) -> tuple[Frame, Frame]:
    """Return what the charts of runs and those of days share over the regions."""
    now = found.board.at
    days = (
        value
        for of_region in found.days.values()
        for day in of_region
        for value in (quantiles(day, figure, enough) or ())[1:4]
    )
    window = Span(since=now - found.board.window, until=now)
    runs = most_of(_values(found, figure))
    return (
        Frame(figure=figure, span=window, most=runs, changes=found.changes),
        Frame(
            figure=figure,
            span=day_span(now, SHOWN_DAYS),
            most=most_of(days),
            changes=found.changes,
        ),
    )


def _values(found: OneEndpoint, figure: Figure) -> Iterator[float]:
    for points in found.points.values():
        for point in points:
            value: float | None = getattr(point, figure)
            if value is not None:
                yield value


def _median(found: OneEndpoint, region: str, figure: Figure) -> float | None:
    if found.shown is None or region not in found.shown.series[0].regions:
        return None
    return found.shown.series[0].regions[region].statistics[figure].median
