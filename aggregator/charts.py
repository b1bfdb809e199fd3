"""A figure over time as shapes of a small drawing: of single runs, or of days. Pure.

Shapes lie in a box of WIDE by HIGH, y from the top; the drawing is stretched to its place.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from itertools import pairwise

from aggregator.changes import Change
from aggregator.days import Day
from aggregator.one_endpoint import Point
from aggregator.places import run_address
from pacewatch.words.figures import percentile
from pacewatch.words.flag import Figure
from pacewatch.words.outcome import outcome_text
from pacewatch.words.slot import to_rfc3339
from pacewatch.words.text import plural, seconds_text, speed_text

WIDE, HIGH = 600, 60

_HEADROOM = 1.1
_CUT = 3.0
"""Values over so many times the median of what is drawn are drawn at the upper edge."""

_MEDIAN, _P25, _P75 = 2, 1, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """One run."""

    x: float
    y: float
    tone: str
    """good, failed, or aside: one that does not enter the statistics."""
    text: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A moment that figures before and after it are to be parted at."""

    x: float
    kind: str
    """definition, or change: of the provider's."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One drawing."""

    label: str
    """What it says, for whoever does not see it."""
    top: str
    """What its upper edge stands for."""
    dots: tuple[Dot, ...] = ()
    line: str = ""
    band: str = ""
    level: float | None = None
    """Height of the window's median."""
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The time that charts beside one another show."""

    since: datetime
    until: datetime

    def x(self, moment: datetime) -> float:
        """Return where a moment lies."""
        return round(WIDE * (moment - self.since) / (self.until - self.since), 1)

    def holds(self, moment: datetime) -> bool:
        """Tell whether a moment lies in it."""
        return self.since <= moment <= self.until


def write_figure(figure: Figure, value: float | None) -> str:
    """Return a value of a figure with its unit."""
    return f"{speed_text(value)} tokens/s" if figure is Figure.SPEED else seconds_text(value)


def most_of(values: Iterable[float]) -> float:
    """Return what the upper edge of charts that show these values stands for; 0 for none."""
    found = list(values)
    middle = percentile(found, 0.5)
    return 0.0 if middle is None else min(max(found), middle * _CUT) * _HEADROOM


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What charts beside one another share."""

    figure: Figure
    span: Span
    most: float
    """What the upper edge stands for."""
    changes: Sequence[Change]


def chart_of_runs(points: Sequence[Point], frame: Frame, median: float | None) -> Chart | None:
    """Return the chart of a figure of single runs; None where nothing is there to draw."""
    figure, most = frame.figure, frame.most
    if not points or most <= 0:
        return None
    good = sum(point.good > 0 for point in points)
    told = "too few for a median" if median is None else f"median {write_figure(figure, median)}"
    return Chart(
        label=f"{plural(len(points), 'run')}, {good} with a good request; {told}",
        top=write_figure(figure, most),
        dots=tuple(_dot(point, frame) for point in points),
        level=None if median is None else _y(median, most),
        rules=(
            *_boundaries([(point.slot_at, point.definition) for point in points], frame.span),
            *_changed(frame),
        ),
    )


def chart_of_days(days: Sequence[Day], frame: Frame, enough: int) -> Chart | None:
    """Return the chart of a figure's daily medians with the middle half of the requests around
    them; None where no day has enough runs for a median.
    """
    figure, span, most = frame.figure, frame.span, frame.most
    shown = [(noon_of(day), found) for day in days if (found := quantiles(day, figure, enough))]
    if not shown or most <= 0:
        return None
    middles = [(span.x(at), _y(found[_MEDIAN], most)) for at, found in shown]
    upper = [(span.x(at), _y(found[_P75], most)) for at, found in shown]
    lower = [(span.x(at), _y(found[_P25], most)) for at, found in shown]
    newest = shown[-1][1][_MEDIAN]
    return Chart(
        label=f"{plural(len(shown), 'day')}; the latest median {write_figure(figure, newest)}",
        top=write_figure(figure, most),
        line=_path(middles),
        band=f"{_path([*upper, *reversed(lower)])}z",
        rules=(
            *_boundaries([(noon_of(day), day.definition) for day in days], span),
            *_changed(frame),
        ),
    )


STEMS = {Figure.SPEED: "speed", Figure.TTFT: "ttft"}


def quantiles(day: Day, figure: Figure, enough: int) -> list[float] | None:
    """Return a day's quantiles of a figure; None with too few runs for a median."""
    found: list[float | None] | None = getattr(day, figure)
    runs: int = getattr(day, f"{STEMS[figure]}_runs")
    if found is None or runs < enough:
        return None
    middle = found[_MEDIAN]
    return None if middle is None else [middle if one is None else one for one in found]


def noon_of(day: Day) -> datetime:
    """Return the middle of a day."""
    return datetime.combine(day.day, time(12), UTC)


def day_span(now: datetime, days: int) -> Span:
    """Return the last so many days."""
    return Span(since=now - timedelta(days=days), until=now)


def _dot(point: Point, frame: Frame) -> Dot:
    value: float | None = getattr(point, frame.figure)
    tone, y = "good" if point.rolls else "aside", HIGH - 4.0
    if value is None:
        tone = "failed" if point.outcome != "ok" else "aside"
        told = outcome_text(point.outcome) if point.outcome != "ok" else "no figure"
    else:
        y, told = _y(value, frame.most), write_figure(frame.figure, value)
    purpose = "" if point.rolls else f", {point.purpose}"
    return Dot(
        x=frame.span.x(point.slot_at),
        y=y,
        tone=tone,
        text=f"{to_rfc3339(point.slot_at)}{purpose}: {told}",
        address=run_address(point.run_id),
    )


def _boundaries(told: Sequence[tuple[datetime, int]], span: Span) -> list[Rule]:
    """Return where the version of the definitions is another than at the one before."""
    return [
        Rule(
            x=span.x(at),
            kind="definition",
            text=f"definitions of version {now} from here on, version {before} until here",
        )
        for (_, before), (at, now) in pairwise(told)
        if now != before
    ]


def _changed(frame: Frame) -> list[Rule]:
    return [
        Rule(
            x=frame.span.x(change.changed_at),
            kind="change",
            text=f"{to_rfc3339(change.changed_at)}: {change.facet} as answered changed "
            f"from {change.before} to {change.value}",
        )
        for change in frame.changes
        if frame.span.holds(change.changed_at)
    ]


def _y(value: float, most: float) -> float:
    return round(HIGH * (1 - min(value / most, 1)), 1)


def _path(points: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
