"""The board as a person reads it: every text, bar and link of the page. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from aggregator.board import Board, BoardEndpoint, BoardModel, BoardSeries
from aggregator.cells import Cell, State
from aggregator.places import endpoint_address, model_address
from aggregator.remarks import remarks_of
from aggregator.statistic import Statistic
from aggregator.tones import Remark
from pacewatch.words.flag import Figure
from pacewatch.words.slot import Load, to_rfc3339
from pacewatch.words.text import age_text, count_text, seconds_text, speed_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What the reader chose to see."""

    region: str | None
    """None: all of them, pooled."""
    workload: str
    load: Load
    renews: bool = True
    """False: the page stays as it is."""
    after: str = ""
    """The models after this one; all: from the first on."""

    def query(self, **changes: object) -> str:
        """Return the address of this choice with some of it changed; what is usual is left out."""
        chosen = {
            "region": self.region,
            "workload": self.workload,
            "load": str(self.load),
            "refresh": None if self.renews else "off",
            "after": self.after,
        } | changes
        return "/?" + urlencode({name: value for name, value in chosen.items() if value})


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A tick on a bar, in percent of its length: the median of one region."""

    at: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A bar on the scale of its model, everything in percent of the fastest."""

    filled: str
    low: str | None
    spread: str | None
    """Start and length of the median's interval."""
    marks: tuple[Mark, ...]
    label: str
    """What it says, for whoever does not see it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A moment, told as its age."""

    text: str
    exact: str | None
    """RFC 3339; None: there is no moment."""


def moment_of(moment: datetime | None, now: datetime) -> Moment:
    """Return a moment as a page tells it."""
    exact = None if moment is None else to_rfc3339(moment)
    return Moment(text=age_text(moment, now), exact=exact)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One endpoint."""

    endpoint: str
    address: str
    """Of its own page."""
    provider: str
    details: str
    """What tells it from others of the same provider."""
    precision: str
    speed: str
    interval: str
    bar: Bar | None
    ttft: str
    runs: str
    newest: Moment
    remarks: tuple[Remark, ...]
    simulated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One model."""

    model: str
    address: str
    summary: str
    lines: tuple[Line, ...]


def make_sections(board: Board, choice: Choice, now: datetime) -> tuple[Section, ...]:
    """Return the models of a board that was read for one workload and load."""
    return tuple(_section(model, choice, now) for model in board.models)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What the bars of a model are measured by, tokens per second."""

    fastest: float
    """The greatest median."""
    most: float
    """The greatest value that is drawn: the end of an interval, or a single region's median."""


def _section(model: BoardModel, choice: Choice, now: datetime) -> Section:
    chosen = [(endpoint, endpoint.series[0]) for endpoint in model.endpoints]
    speeds = [
        median
        for _, series in chosen
        if (median := series.pooled.statistics[Figure.SPEED].median) is not None
    ]
    scale = Scale(
        fastest=max(speeds, default=0.0),
        most=max((value for _, series in chosen for value in _drawn(series)), default=0.0),
    )
    return Section(
        model=model.model,
        address=model_address(model.model, workload=choice.workload, load=str(choice.load)),
        summary=_summary(len(chosen), speeds),
        lines=tuple(
            _line(endpoint, series, scale, now, choice.region) for endpoint, series in chosen
        ),
    )


def _summary(endpoints: int, speeds: Sequence[float]) -> str:
    """Return how many endpoints a model has, and how far apart they are."""
    if len(speeds) < 2 or min(speeds) <= 0:
        return ""
    ratio = max(speeds) / min(speeds)
    apart = f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:.0f}"
    return f"{endpoints} endpoints, the fastest {apart} times as fast as the slowest"


def _drawn(series: BoardSeries) -> list[float]:
    """Return the values that the bars of a model must have room for."""
    speed = series.pooled.statistics[Figure.SPEED]
    single = [cell.statistics[Figure.SPEED].median for cell in series.regions.values()]
    ends = [speed.median, *single] if len(single) > 1 else [speed.median, speed.high]
    return [value for value in ends if value is not None]


def _line(
    endpoint: BoardEndpoint, series: BoardSeries, scale: Scale, now: datetime, region: str | None
) -> Line:
    cell, facts = series.pooled, endpoint.facts
    speed = cell.statistics[Figure.SPEED]
    return Line(
        endpoint=facts.endpoint,
        address=endpoint_address(facts.endpoint, workload=series.workload, load=str(series.load)),
        provider=facts.provider_name,
        details=_details(endpoint),
        precision=facts.precision,
        speed=speed_text(speed.median),
        interval=_interval(speed),
        bar=_bar(series, scale),
        ttft=seconds_text(cell.statistics[Figure.TTFT].median),
        runs=count_text(cell.runs),
        newest=moment_of(cell.newest_at, now),
        remarks=remarks_of(
            facts, series, now, endpoint.changes, endpoint.believed.get(region or "")
        ),
        simulated=endpoint.simulated,
    )


def _details(endpoint: BoardEndpoint) -> str:
    facts = endpoint.facts
    _, _, variant = facts.endpoint.partition("#")
    place = None if facts.location == variant else facts.location
    told = (f"#{variant}" if variant else None, place, facts.account, facts.tier)
    return " \u00b7 ".join(part for part in told if part)


def _interval(speed: Statistic) -> str:
    """Return the interval with how often it holds the median."""
    if speed.interval_percent is None:
        return ""
    between = f"{speed_text(speed.low)}\u2013{speed_text(speed.high)}"
    return f"{speed.interval_percent} % interval: {between}"


def _bar(series: BoardSeries, scale: Scale) -> Bar | None:
    speed = series.pooled.statistics[Figure.SPEED]
    if speed.median is None or scale.fastest <= 0:
        return None
    low = spread = None
    if speed.low is not None and speed.high is not None and len(series.regions) == 1:
        low, spread = _percent(speed.low, scale), _percent(speed.high - speed.low, scale)
    return Bar(
        filled=_percent(speed.median, scale),
        low=low,
        spread=spread,
        marks=_marks(series.regions, scale) if len(series.regions) > 1 else (),
        label=f"{speed_text(speed.median)} tokens per second, "
        f"{speed.median / scale.fastest:.0%} of the fastest",
    )


def _marks(regions: Mapping[str, Cell], scale: Scale) -> tuple[Mark, ...]:
    return tuple(
        Mark(at=_percent(median, scale), text=f"{region}: {speed_text(median)}")
        for region, cell in regions.items()
        if cell.state is State.SHOWN
        and (median := cell.statistics[Figure.SPEED].median) is not None
    )


def _percent(value: float, scale: Scale) -> str:
    return f"{100 * value / scale.most:.1f}%"
