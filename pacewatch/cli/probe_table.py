"""What `probe` shows of several requests: those of a parallel run, or runs one after another."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from aggregator.measured import centre_flags, good_of, left_out, medians
from aggregator.stats import interval, level_percent
from pacewatch.cli.columns import legend
from pacewatch.cli.probe_screen import WIDEST, fault_text, outcome_style, run_text, track
from pacewatch.cli.render import Cell, Column, table
from pacewatch.words.figures import (
    Pace,
    figures_of,
    percentile,
    slowdown,
    system_tokens_per_s,
)
from pacewatch.words.flag import LEAVES, Figure, Flag
from pacewatch.words.outcome import Outcome
from pacewatch.words.text import (
    count_text,
    plural,
    seconds_text,
    slower_text,
    speed_text,
    usd_text,
    word_text,
)
from pacewatch.words.timing import Run, Timing

_LABEL_CELLS = 4
_ROOMY = 60
"""Columns from which on the tokens have room beside the figures."""
_FIGURES = {
    Figure.TTFT: Column(name="First token", right=True),
    Figure.ANSWER: Column(name="First answer", right=True, narrow=False),
    Figure.SPEED: Column(name="Tokens/s", right=True),
    Figure.END_TO_END: Column(name="End to end", right=True),
    Figure.STALL: Column(name="Longest gap", right=True, narrow=False),
}

_Values = Mapping[Figure, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """One line of the table."""

    label: str
    outcome: Text
    shown: _Values
    counted: _Values
    """What of it enters the medians: flags leave figures out."""
    tokens: int


def parallel_screen(run: Run, *, width: int, alone: Run | None = None) -> list[RenderableType]:
    """Return the parts that are shown of a run of several requests, beside one that was alone."""
    flags = centre_flags(run)
    lines = [_of_request(timing, flags) for timing in run.timings]
    return [
        _head(run, flags),
        Text(),
        *_tracks(run.timings, width=min(width, WIDEST)),
        _table("Request", lines, width),
        Text(),
        *_notes((run,), alone),
    ]


def repeated_screen(
    runs: Sequence[Run], *, width: int, alone: Run | None = None
) -> list[RenderableType]:
    """Return the parts that are shown of runs that were made one after another."""
    lines = [_of_run(n, run) for n, run in enumerate(runs, start=1)]
    head = Text(f"{run_text(runs[0])}: {plural(len(runs), 'run')}")
    return [
        head,
        Text(),
        _table("Run", lines, width),
        Text(),
        *_notes(runs, alone),
    ]


def _head(run: Run, flags: Sequence[Flag]) -> Text:
    good, all_ = good_of(run), len(run.timings)
    text = Text(f"{run_text(run)}, {all_} requests together: ")
    text.append(f"{good} of {all_} ok", style="bold green" if good == all_ else "bold red")
    for flag in flags:
        text.append(f", {word_text(flag)}", style="bold red")
    return text


def _tracks(timings: Sequence[Timing], *, width: int) -> Iterator[Text]:
    """Give a line of columns for each answer, all on the axis from the first send to the end."""
    came = [(one, one.sent_us or 0) for one in timings if one.chunks.at_us]
    if not came:
        return
    cells = width - _LABEL_CELLS
    end_us = max(sent_us + one.chunks.at_us[-1] for one, sent_us in came)
    for one, _ in came:
        label = f"{one.n + 1}".rjust(_LABEL_CELLS - 1) + " "
        yield Text(label, no_wrap=True) + track(one.chunks, end_us=max(end_us, 1), width=cells)
    last = seconds_text(end_us / 1e6)
    yield Text(" " * _LABEL_CELLS + "sent".ljust(cells - len(last)) + last, style="dim")
    yield from legend("".join(one.chunks.kind for one, _ in came))
    yield Text()


def _table(label: str, lines: Sequence[_Line], width: int) -> RenderableType:
    columns = [
        Column(name=label, right=True),
        Column(name="Outcome", gives_way=True),
        *_FIGURES.values(),
        Column(name="Tokens", right=True),
    ]
    rows = [*_table_rows(lines), *_summary(lines)]
    if width < _ROOMY:
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return table(columns, rows, width=width)


def _of_request(timing: Timing, flags: Sequence[Flag]) -> _Line:
    out = left_out((*timing.flags, *flags))
    figures = figures_of(timing)
    shown = {figure: figures.value(figure) for figure in Figure}
    return _Line(
        label=str(timing.n + 1),
        outcome=_outcome_text(timing),
        shown=shown,
        counted={figure: None if figure in out else shown[figure] for figure in Figure},
        tokens=sum(timing.chunks.tokens),
    )


def _outcome_text(timing: Timing) -> Text:
    text = Text(word_text(timing.outcome), style=outcome_style(timing.outcome))
    if timing.outcome is not Outcome.OK and (told := fault_text(timing)):
        text.append(f" ({told})", style="not bold")
    return text


def _of_run(n: int, run: Run) -> _Line:
    flags = centre_flags(run)
    pairs = [(timing, figures_of(timing)) for timing in run.timings]
    if len(pairs) == 1:
        line = _of_request(run.timings[0], flags)
        shown, counted, outcome = line.shown, line.counted, line.outcome
    else:
        shown, counted = _by_figure(medians(pairs, ())), _by_figure(medians(pairs, flags))
        outcome = Text(", ".join([f"{good_of(run)} of {len(pairs)} ok", *map(word_text, flags)]))
    return _Line(
        label=str(n),
        outcome=outcome,
        shown=shown,
        counted=counted,
        tokens=sum(sum(timing.chunks.tokens) for timing in run.timings),
    )


def _by_figure(found: Mapping[str, float | None]) -> _Values:
    return {figure: found[figure] for figure in Figure}


def _table_rows(lines: Iterable[_Line]) -> Iterator[list[Cell]]:
    for line in lines:
        figures = [_shown_text(line, figure) for figure in _FIGURES]
        yield [line.label, line.outcome, *figures, count_text(line.tokens)]


def _shown_text(line: _Line, figure: Figure) -> Text:
    text = _text(figure, line.shown[figure])
    if line.counted[figure] == line.shown[figure]:
        return Text(text)
    return Text(f"({text})", style="dim")


def _summary(lines: Sequence[_Line]) -> Iterator[list[Cell]]:
    """Give the rows of lowest, median and highest, where several lines count."""
    values = {
        figure: [v for line in lines if (v := line.counted[figure]) is not None]
        for figure in _FIGURES
    }
    if max(map(len, values.values())) < 2:
        return
    for name, q in (("lowest", 0.0), ("median", 0.5), ("highest", 1.0)):
        texts = (_text(figure, percentile(found, q)) for figure, found in values.items())
        style = "bold" if name == "median" else "dim"
        yield [Text(name, style=style), "", *(Text(text, style=style) for text in texts), ""]


def _text(figure: Figure, value: float | None) -> str:
    return speed_text(value) if figure is Figure.SPEED else seconds_text(value)


def _notes(runs: Sequence[Run], alone: Run | None) -> Iterator[Text]:
    """Give what is told of all runs together, a line each."""
    if any(len(run.timings) > 1 for run in runs):
        speeds = [speed for run in runs if (speed := system_tokens_per_s(run)) is not None]
        if (speed := percentile(speeds, 0.5)) is not None:
            of = "" if len(runs) == 1 else f", the median of {plural(len(speeds), 'run')}"
            said = "all tokens from the first send to the last token"
            told = f"{speed_text(speed)} tokens/s{_interval_text(speeds)}"
            yield Text(f"System throughput {told}: {said}{of}")
        if alone is not None:
            yield _slowdown_note(runs, alone)
        sends = [[t.sent_us for t in run.timings if t.sent_us is not None] for run in runs]
        apart_s = max((max(sent) for sent in sends if sent), default=0) / 1e6
        yield Text(f"The requests left within {seconds_text(apart_s)} of one another")
    yield from _flag_notes(runs)
    paid = [*runs, *([] if alone is None else [alone])]
    costs = [run.cost_usd for run in paid if run.cost_usd is not None]
    if costs:
        which = "this run" if len(paid) == 1 else "these runs"
        yield Text(f"Price {usd_text(sum(costs))} of {which}")


def _interval_text(speeds: Sequence[float]) -> str:
    """Return the interval of the median of speeds; nothing where they are too few."""
    found = interval(sorted(speeds))
    if found is None:
        return ""
    between = "\u2013".join(map(speed_text, found))
    return f" ({between}, {level_percent(len(speeds))} % interval)"


def _slowdown_note(runs: Sequence[Run], alone: Run) -> Text:
    """Return how much slower each request was than the one alone."""
    by_itself, among = _pace([alone]), _pace(runs)
    found = slowdown(by_itself, among)
    parts = []
    if (times := found.output_tokens_per_s) is not None:
        speeds = [speed_text(one.output_tokens_per_s) for one in (among, by_itself)]
        parts.append(f"speed {slower_text(times)} ({' against '.join(speeds)} tokens/s)")
    if (times := found.ttft_s) is not None:
        waits = [seconds_text(one.ttft_s) for one in (among, by_itself)]
        parts.append(f"first token {slower_text(times)} ({' against '.join(waits)})")
    if not parts:
        return Text(f"One request alone: {word_text(alone.timings[0].outcome)}; no slowdown known")
    return Text(f"Each request: {', '.join(parts)}")


def _pace(runs: Sequence[Run]) -> Pace:
    """Return the medians over the runs, each run one value, its own median."""
    found = [
        medians([(timing, figures_of(timing)) for timing in run.timings], centre_flags(run))
        for run in runs
    ]
    speed, ttft = (
        percentile((value for one in found if (value := one[figure]) is not None), 0.5)
        for figure in (Figure.SPEED, Figure.TTFT)
    )
    return Pace(output_tokens_per_s=speed, ttft_s=ttft)


def _flag_notes(runs: Sequence[Run]) -> Iterator[Text]:
    flags = Counter(flag for run in runs for timing in run.timings for flag in timing.flags)
    told = [f"{word_text(flag)} ({plural(count, 'request')})" for flag, count in flags.items()]
    of_runs = Counter(flag for run in runs for flag in centre_flags(run))
    told += [f"{word_text(flag)} ({plural(count, 'run')})" for flag, count in of_runs.items()]
    if told:
        leaves_any = any(LEAVES[flag] for flag in (*flags, *of_runs))
        more = "; what they leave out of the medians is in parentheses" if leaves_any else ""
        yield Text(f"Flags: {', '.join(told)}{more}")
