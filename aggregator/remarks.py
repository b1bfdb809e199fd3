"""What is to be said of an endpoint in words, beside its figures. Pure."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from aggregator.board import BoardSeries
from aggregator.cells import Cell, State
from aggregator.changes import Change
from aggregator.pooled import fewest_runs
from aggregator.rows import EndpointRow
from aggregator.together import Together
from aggregator.tones import Remark, Tone
from aggregator.verdict_remarks import verdict_remark
from aggregator.verdict_views import Believed
from pacewatch.words.flag import FIGURE_TEXTS, Figure
from pacewatch.words.outcome import outcome_text
from pacewatch.words.slot import Load
from pacewatch.words.text import (
    age_text,
    far_text,
    few_text,
    plural,
    slower_text,
    speed_text,
    word_text,
)
from pacewatch.words.verdict import Verdict

_NO_TROUBLE = frozenset({Verdict.OK, Verdict.LEARNING})
"""Verdicts beside which the figures say enough."""


def remarks_of(
    facts: EndpointRow,
    series: BoardSeries,
    now: datetime,
    changes: Sequence[Change] = (),
    believed: Believed | None = None,
) -> tuple[Remark, ...]:
    """Return what is to be said of an endpoint's series, the gravest first; never nothing.

    `believed` is the verdict on what the series shows: of its region, or over all of them.
    """
    cell = series.pooled
    verdict = _verdict(believed, now, is_failing=bool(cell.failing_in))
    is_gone = believed is not None and believed.verdict == Verdict.NOT_SERVED
    failures = _failures(cell, series, now, is_gone=is_gone)
    seen = failures or ([] if verdict else _far(series)) or _shortfalls(cell)
    found = [*verdict, *seen, *_quiet(facts, cell)]
    found = found or [_fine(believed)]
    return (*found, *(_changed(change, now) for change in changes))


def _fine(believed: Believed | None) -> Remark:
    if believed is not None and believed.verdict == Verdict.LEARNING:
        return Remark(tone=Tone.QUIET, text=word_text(believed.verdict))
    return Remark(tone=Tone.FINE, text="ok")


def _verdict(believed: Believed | None, now: datetime, *, is_failing: bool) -> list[Remark]:
    """Return what is believed where that is trouble and the latest runs do not say it already."""
    if believed is None or believed.verdict in _NO_TROUBLE:
        return []
    if is_failing and believed.verdict == Verdict.FAILING:
        return []
    return [verdict_remark(believed, now)]


def _changed(change: Change, now: datetime) -> Remark:
    age = age_text(change.changed_at, now)
    return Remark(tone=Tone.QUIET, text=f"{change.facet} as answered changed {age} ago")


def _failures(cell: Cell, series: BoardSeries, now: datetime, *, is_gone: bool) -> list[Remark]:
    """Return how the latest runs failed; of a model that is gone only when it was there last."""
    latest = cell.latest
    if latest is None:
        return []
    if cell.failing_in and is_gone:
        return [Remark(tone=Tone.QUIET, text=_last_good(cell, series, now))]
    if cell.failing_in:
        outcomes = sorted(
            {
                outcome_text(found.outcome)
                for region in cell.failing_in
                if (found := series.regions[region].latest) is not None
            }
        )
        where = _where(cell.failing_in, series)
        good = _last_good(cell, series, now)
        return [Remark(tone=Tone.BAD, text=f"failing{where}: {' and '.join(outcomes)}; {good}")]
    if latest.outcome != "ok":
        return [Remark(tone=Tone.WARN, text=f"latest run: {outcome_text(latest.outcome)}")]
    return []


def _where(regions: Sequence[str], series: BoardSeries) -> str:
    if len(series.regions) == 1:
        return ""
    if len(regions) == len(series.regions):
        return " everywhere"
    return f" in {', '.join(sorted(regions))}"


def _last_good(cell: Cell, series: BoardSeries, now: datetime) -> str:
    """Return when a run went well where it now fails."""
    good = [series.regions[region].last_success_at for region in cell.failing_in]
    latest = max((at for at in good if at is not None), default=None)
    return "never yet well" if latest is None else f"last well {age_text(latest, now)} ago"


def _far(series: BoardSeries) -> list[Remark]:
    """Return how the latest run of a region lies far from the region's own median, if one does; a
    look at one run, not a verdict.
    """
    for region, cell in sorted(series.regions.items()):
        if text := _far_text(cell):
            where = f" in {region}" if len(series.regions) > 1 else ""
            return [Remark(tone=Tone.WARN, text=f"latest run{where}: {text}")]
    return []


def _far_text(cell: Cell) -> str:
    latest = cell.latest
    if latest is None:
        return ""
    return far_text(
        latest.output_tokens_per_s,
        cell.statistics[Figure.SPEED].median,
        ttft_s=latest.ttft_s,
        usual_ttft_s=cell.statistics[Figure.TTFT].median,
    )


def _shortfalls(cell: Cell) -> list[Remark]:
    if cell.state is State.UNMEASURED:
        return [Remark(tone=Tone.QUIET, text="no run yet" if cell.latest is None else "no run now")]
    if cell.state is State.INSUFFICIENT:
        most = max(statistic.runs for statistic in cell.statistics.values())
        text = f"{few_text(most, cell.fewest_runs)}{_latest(cell)}"
        return [Remark(tone=Tone.QUIET, text=text)]
    return [
        Remark(tone=Tone.QUIET, text=f"{FIGURE_TEXTS[figure]}: {few_text(few, cell.fewest_runs)}")
        for figure in (Figure.SPEED, Figure.TTFT)
        if (few := cell.statistics[figure].runs) < cell.fewest_runs
    ]


def _latest(cell: Cell) -> str:
    """Return what the latest run measured, where there is no median to show yet."""
    latest = cell.latest
    if latest is None or latest.output_tokens_per_s is None:
        return ""
    return f"; the latest: {speed_text(latest.output_tokens_per_s)} tokens/s"


def _together(found: Together) -> Iterator[Remark]:
    """Give what parallel runs get in all, and how much slower each request is for it."""
    throughput, slower = found.throughput, found.slower[Figure.SPEED]
    if throughput.median is None:
        return
    told = f"{speed_text(throughput.median)} tokens/s in all"
    title = f"in all: {plural(throughput.runs, 'run')}"
    if throughput.interval_percent is not None:
        told += f" ({speed_text(throughput.low)}\u2013{speed_text(throughput.high)})"
        title += f", {throughput.interval_percent} % interval"
    if slower.times is None:
        told += f", to compare {slower.runs_alone} of {fewest_runs(Load.SINGLE)} runs alone"
    else:
        told += f", each {slower_text(slower.times, slower.low, slower.high)}"
        title += f"; slower: {plural(slower.runs, 'run')} and {slower.runs_alone:,} alone"
    if slower.interval_percent is not None:
        title += f", at least {slower.interval_percent} % interval"
    yield Remark(tone=Tone.QUIET, text=told, title=title)


def _quiet(facts: EndpointRow, cell: Cell) -> list[Remark]:
    found = [] if cell.together is None else list(_together(cell.together))
    if cell.is_mixed:
        versions = " and ".join(map(str, cell.definitions))
        text = f"medians mix runs of definitions {versions}"
        found.append(Remark(tone=Tone.QUIET, text=text))
    if not facts.active:
        found.append(Remark(tone=Tone.QUIET, text="no longer probed"))
    if cell.latest is not None and cell.latest.answer_only:
        text = "reasoning hidden: speed of the answer only, first visible token"
        found.append(Remark(tone=Tone.QUIET, text=text))
    return found
