"""What `probe` shows of one request: its figures beside the provider's own, when its tokens came,
and what stands behind them.
"""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from pacewatch.cli.columns import columns_text, legend
from pacewatch.cli.render import Column, table
from pacewatch.words.endpoint import Limits
from pacewatch.words.figures import Figures, figures_of
from pacewatch.words.flag import Flag
from pacewatch.words.outcome import OUTCOME_MEANINGS, Outcome
from pacewatch.words.text import (
    UNKNOWN,
    count_text,
    seconds_text,
    speed_text,
    usd_text,
    word_text,
)
from pacewatch.words.timing import Chunks, ProviderTokens, Run, ServerTimings, Timing

WIDEST = 100
"""Cells of a timeline, on however wide a screen."""

_LIMITS = {
    Outcome.TIMEOUT_FIRST_TOKEN: ("first_token_s", "--first-token"),
    Outcome.TIMEOUT_STALL: ("stall_s", "--stall"),
    Outcome.TIMEOUT_TOTAL: ("total_s", "--total"),
}
"""The limit that an outcome tells of, and the option that sets it."""

_ROOMY = 72
"""Columns from which on each row of the table has room for what it is."""

_Row = tuple[str, str, str, str]
"""Name, ours, the provider's own, what it is."""


def screen(run: Run, *, limits: Limits | None, width: int) -> list[RenderableType]:
    """Return the parts that are shown of a run of one request; its limits, where they are known."""
    timing = run.timings[0]
    parts: list[RenderableType] = [_head(run, timing, limits), Text()]
    figures = figures_of(timing)
    if timing.chunks.at_us:
        parts += [*timeline(timing.chunks, width=min(width, WIDEST)), Text()]
    rows, notes = list(_rows(timing, figures)), list(_notes(timing, run))
    if width >= _ROOMY:
        return parts + _tables([*rows, *notes], _COLUMNS, width)
    lines = [Text(f"{name} {ours}".rstrip() + f": {what}") for name, ours, _, what in notes]
    return [*parts, *_tables(rows, _COLUMNS[:-1], width), Text(), *lines]


def run_text(run: Run) -> str:
    """Return what a run was of, and from where."""
    simulated = ", simulated" if run.simulated else ""
    return f"{run.endpoint} from {run.region}, workload {run.workload}{simulated}"


def outcome_style(outcome: Outcome) -> str:
    """Return the colour of an outcome."""
    return "bold green" if outcome is Outcome.OK else "bold red"


def _head(run: Run, timing: Timing, limits: Limits | None) -> Text:
    outcome = timing.outcome
    text = Text(f"{run_text(run)}: ")
    text.append(word_text(outcome), style=outcome_style(outcome))
    if outcome is not Outcome.OK:
        text.append(f"\n{OUTCOME_MEANINGS[outcome]}")
        if told := _limit_text(limits, outcome) or fault_text(timing):
            text.append(f" ({told})")
    return text


def _limit_text(limits: Limits | None, outcome: Outcome) -> str:
    if limits is None or outcome not in _LIMITS:
        return ""
    name, option = _LIMITS[outcome]
    limit: float = getattr(limits, name)
    return f"{seconds_text(limit)}, which {option} sets"


def fault_text(timing: Timing) -> str:
    """Return what the provider said of a failure; empty where it said nothing."""
    fault = timing.fault
    if fault is None:
        return ""
    parts = [
        f"HTTP {fault.status}" if fault.status is not None else "",
        fault.type or "",
        f"wait {seconds_text(fault.retry_after_s)}" if fault.retry_after_s is not None else "",
    ]
    return ", ".join(part for part in parts if part)


def timeline(chunks: Chunks, *, width: int) -> Sequence[Text]:
    """Return a line of columns, as high as the tokens that came in each slice of the time from
    the send to the last token, the line of the times below it, and what the colours mean.
    """
    end_us = max(chunks.at_us[-1], 1)
    columns = track(chunks, end_us=end_us, width=width)
    axis = Text(_axis(chunks.at_us[0], end_us, width), style="dim")
    return [columns, axis, *legend(chunks.kind)]


def track(chunks: Chunks, *, end_us: int, width: int) -> Text:
    """Return the columns of an answer on an axis that ends then."""
    heights, kinds = [0] * width, [""] * width
    for at_us, tokens, kind in zip(chunks.at_us, chunks.tokens, chunks.kind, strict=True):
        cell = min(at_us * width // end_us, width - 1)
        heights[cell] += max(tokens, 1)
        kinds[cell] = kind
    return columns_text(heights, kinds)


def _axis(first_us: int, end_us: int, width: int) -> str:
    """Return the send at the left, a mark below the first token's column, the end at the right."""
    first, last = seconds_text(first_us / 1e6), seconds_text(end_us / 1e6)
    column = min(first_us * width // end_us, width - 1)
    mark, at = f"^ {first}", column
    if column + len(mark) + 1 + len(last) > width:
        mark, at, last = f"{first} ^", max(column - len(first) - 1, 0), ""
    sent = "sent" if at > len("sent") else ""
    return (sent.ljust(at) + mark).ljust(width - len(last)) + last


_COLUMNS = (
    Column(name="Figure"),
    Column(name="Measured", right=True),
    Column(name="Provider's", right=True),
    Column(name="What it is", gives_way=True),
)


def _tables(rows: Sequence[_Row], columns: Sequence[Column], width: int) -> list[RenderableType]:
    """Return the table of the rows, without columns in which nothing stands; none without rows."""
    kept = [n for n in range(len(columns)) if any(row[n] for row in rows)]
    if not kept:
        return []
    cells = [[row[n] for n in kept] for row in rows]
    return [table([columns[n] for n in kept], cells, width=width)]


def _rows(timing: Timing, figures: Figures) -> Iterator[_Row]:
    told = timing.server_timings or ServerTimings()
    if timing.outcome is Outcome.OK:
        yield from _figure_rows(figures, told, hidden=Flag.HIDDEN_REASONING in timing.flags)
    yield from _token_rows(timing)
    yield from _told_rows(told)


def _notes(timing: Timing, run: Run) -> Iterator[_Row]:
    """Give the rows that are words rather than figures."""
    if (told := timing.server_timings) is not None and told.as_told and not _has_normal(told):
        said = ", ".join(f"{name} {value}" for name, value in told.as_told.items())
        yield "Provider says", "", "", said
    if (took := _setting_up_s(timing)) != UNKNOWN:
        yield "Setting up", took, "", _connection_text(timing)
    if timing.flags:
        yield "Flags", "", "", ", ".join(word_text(flag) for flag in timing.flags)
    if run.cost_usd is not None:
        whose = "our" if timing.provider_tokens is None else "the provider's"
        yield "Price", usd_text(run.cost_usd), "", f"of this run, by {whose} count of tokens"


def _figure_rows(figures: Figures, told: ServerTimings, *, hidden: bool) -> Iterator[_Row]:
    speed = "tokens/s after the first arrival" + (", of the answer alone" if hidden else "")
    first = "the first that is visible" if hidden else "reasoning included"
    more = _more_text(figures.ttft_s, told.ttft_s)
    yield "Time to first token", seconds_text(figures.ttft_s), _s(told.ttft_s), first + more
    yield "First answer token", seconds_text(figures.answer_s), "", "the visible answer"
    theirs = "" if told.tokens_per_s is None else speed_text(told.tokens_per_s)
    yield "Output speed", speed_text(figures.output_tokens_per_s), theirs, speed
    more = _more_text(figures.end_to_end_s, told.total_s)
    yield "End to end", seconds_text(figures.end_to_end_s), _s(told.total_s), f"to the end{more}"
    yield "Longest gap", seconds_text(figures.stall_s), "", "between two arrivals"


def _more_text(ours_s: float | None, theirs_s: float | None) -> str:
    """Return what path and queue cost: our time less the provider's."""
    if ours_s is None or theirs_s is None or ours_s < theirs_s:
        return ""
    return f"; path and queue took {seconds_text(ours_s - theirs_s)}"


def _token_rows(timing: Timing) -> Iterator[_Row]:
    told, chunks = timing.provider_tokens, timing.chunks
    if told is None and not chunks.at_us:
        return
    told = told or ProviderTokens()
    kept = f", {count_text(told.reasoning)} of the provider's reasoning" if told.reasoning else ""
    counted = f"o200k_base, in {count_text(len(chunks.at_us))} chunks{kept}"
    yield "Output tokens", count_text(sum(chunks.tokens)), _n(told.output), counted
    if told.input is not None:
        cached = (
            f"{count_text(told.cached_input)} of them from a cache" if told.cached_input else ""
        )
        yield "Input tokens", "", _n(told.input), cached


def _told_rows(told: ServerTimings) -> Iterator[_Row]:
    named = (
        ("Queue", told.queue_s, "before the prompt is read"),
        ("Prompt", told.prompt_s, "to read it"),
        ("Completion", told.completion_s, "to write it"),
    )
    yield from ((name, "", _s(value), what) for name, value, what in named if value is not None)


def _has_normal(told: ServerTimings) -> bool:
    """Tell whether anything that the provider told has a place among the figures."""
    named = (told.queue_s, told.prompt_s, told.completion_s, told.total_s, told.ttft_s)
    return (*named, told.tokens_per_s) != (None,) * 6


def _s(seconds: float | None) -> str:
    return "" if seconds is None else seconds_text(seconds)


def _n(count: int | None) -> str:
    return "" if count is None else count_text(count)


def _setting_up_s(timing: Timing) -> str:
    link = timing.connection
    took = [us for us in (link.dns_us, link.connect_us, link.tls_us) if us is not None]
    return seconds_text(sum(took) / 1e6) if took else UNKNOWN


def _connection_text(timing: Timing) -> str:
    link = timing.connection
    stations = (("DNS", link.dns_us), ("TCP", link.connect_us), ("TLS", link.tls_us))
    parts = [f"{name} {seconds_text(us / 1e6)}" for name, us in stations if us is not None]
    if (rtt_us := link.rtt_us[1] or link.rtt_us[0]) is not None:
        parts.append(f"round trip {seconds_text(rtt_us / 1e6)}")
    if link.retransmits:
        parts.append(f"{link.retransmits} retransmissions")
    return ", ".join([*parts, "in no other figure"])
