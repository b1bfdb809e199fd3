"""What `probe` shows of one request: its figures, a timeline, and what stands behind them."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from pacewatch.cli.render import Column, table
from pacewatch.words.endpoint import Endpoint
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
from pacewatch.words.timing import ANSWER, REASONING, TOOL, Chunks, Run, Timing

_HEIGHTS = "▁▂▃▄▅▆▇█"
_COLOURS = {REASONING: "magenta", ANSWER: "cyan", TOOL: "yellow"}
_NAMES = {REASONING: "reasoning", ANSWER: "answer", TOOL: "tool call"}
_WIDEST = 100
_LIMITS = {
    Outcome.TIMEOUT_FIRST_TOKEN: ("first_token_s", "--first-token"),
    Outcome.TIMEOUT_STALL: ("stall_s", "--stall"),
    Outcome.TIMEOUT_TOTAL: ("total_s", "--total"),
}
"""The limit that an outcome tells of, and the option that sets it."""


def screen(endpoint: Endpoint, run: Run, *, width: int) -> list[RenderableType]:
    """Return the parts that are shown of a run of one request."""
    timing = run.timings[0]
    parts: list[RenderableType] = [_head(endpoint, run, timing), Text()]
    figures = figures_of(timing)
    if timing.chunks.at_us:
        parts += [*timeline(timing.chunks, width=min(width, _WIDEST)), Text()]
    if rows := list(_rows(timing, figures, run)):
        parts.append(table(_columns(), rows))
    return parts


def _head(endpoint: Endpoint, run: Run, timing: Timing) -> Text:
    simulated = ", simulated" if run.simulated else ""
    text = Text(f"{endpoint.id} from {run.region}, workload {run.workload}{simulated}: ")
    is_good = timing.outcome is Outcome.OK
    text.append(word_text(timing.outcome), style="bold green" if is_good else "bold red")
    if not is_good:
        text.append(f"\n{OUTCOME_MEANINGS[timing.outcome]}")
        if told := _limit_text(endpoint, timing.outcome) or _fault_text(timing):
            text.append(f" ({told})")
    return text


def _limit_text(endpoint: Endpoint, outcome: Outcome) -> str:
    if outcome not in _LIMITS:
        return ""
    name, option = _LIMITS[outcome]
    limit: float = getattr(endpoint.limits, name)
    return f"{seconds_text(limit)}, which {option} sets"


def _fault_text(timing: Timing) -> str:
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
    heights = [0] * width
    kinds = [""] * width
    for at_us, tokens, kind in zip(chunks.at_us, chunks.tokens, chunks.kind, strict=True):
        column = min(at_us * width // end_us, width - 1)
        heights[column] += max(tokens, 1)
        kinds[column] = kind
    most = max(heights)
    line = Text()
    for height, kind in zip(heights, kinds, strict=True):
        mark = " " if not height else _HEIGHTS[-(-height * len(_HEIGHTS) // most) - 1]
        line.append(mark, style=_COLOURS.get(kind, ""))
    lines = [line, Text(_axis(chunks.at_us[0], end_us, width), style="dim")]
    if len(told := [kind for kind in _COLOURS if kind in chunks.kind]) > 1:
        lines.append(Text(" ").join(Text(f"█ {_NAMES[kind]}", _COLOURS[kind]) for kind in told))
    return lines


def _axis(first_us: int, end_us: int, width: int) -> str:
    """Return the send at the left, a mark below the first token's column, the end at the right."""
    first, last = seconds_text(first_us / 1e6), seconds_text(end_us / 1e6)
    column = min(first_us * width // end_us, width - 1)
    mark, at = f"^ {first}", column
    if column + len(mark) + 1 + len(last) > width:
        mark, at, last = f"{first} ^", max(column - len(first) - 1, 0), ""
    sent = "sent" if at > len("sent") else ""
    return (sent.ljust(at) + mark).ljust(width - len(last)) + last


def _columns() -> tuple[Column, ...]:
    return (
        Column(name="Figure"),
        Column(name="Value", right=True),
        Column(name="What it is", gives_way=True),
    )


def _rows(timing: Timing, figures: Figures, run: Run) -> Iterator[tuple[str, str, str]]:
    if timing.outcome is Outcome.OK:
        yield from _figure_rows(figures, hidden=Flag.HIDDEN_REASONING in timing.flags)
    if timing.chunks.at_us or timing.provider_tokens is not None:
        yield "Tokens", count_text(sum(timing.chunks.tokens)), _tokens_text(timing)
    if (took := _setting_up_s(timing)) != UNKNOWN:
        yield "Setting up", took, _connection_text(timing)
    if timing.server_timings is not None:
        yield "Server's own", "", _told_text(timing)
    if timing.flags:
        yield "Flags", "", ", ".join(word_text(flag) for flag in timing.flags)
    if run.cost_usd is not None:
        yield "Price", usd_text(run.cost_usd), "of this run"


def _figure_rows(figures: Figures, *, hidden: bool) -> Iterator[tuple[str, str, str]]:
    speed = "tokens/s after the first arrival" + (", of the answer alone" if hidden else "")
    yield "Time to first token", seconds_text(figures.ttft_s), "reasoning included"
    yield "First answer token", seconds_text(figures.answer_s), "the visible answer"
    yield "Output speed", speed_text(figures.output_tokens_per_s), speed
    yield "End to end", seconds_text(figures.end_to_end_s), "to the last token"
    yield "Longest gap", seconds_text(figures.stall_s), "between two arrivals"


def _tokens_text(timing: Timing) -> str:
    told = timing.provider_tokens
    arrived = f"o200k_base, in {count_text(len(timing.chunks.at_us))} chunks"
    if told is None:
        return f"{arrived}; the provider told none"
    parts = [f"{count_text(told.input)} in", f"{count_text(told.output)} out"]
    if told.reasoning:
        parts.append(f"{count_text(told.reasoning)} of them reasoning")
    if told.cached_input:
        parts.append(f"{count_text(told.cached_input)} from a cache")
    return f"{arrived}; the provider says {', '.join(parts)}"


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


def _told_text(timing: Timing) -> str:
    told = timing.server_timings
    if told is None:
        return ""
    named = (
        ("queue", told.queue_s),
        ("prompt", told.prompt_s),
        ("first token", told.ttft_s),
        ("completion", told.completion_s),
        ("total", told.total_s),
    )
    parts = [f"{name} {seconds_text(value)}" for name, value in named if value is not None]
    if told.tokens_per_s is not None:
        parts.append(f"{speed_text(told.tokens_per_s)} tokens/s")
    return ", ".join(parts) or ", ".join(told.as_told)
