"""What was measured, for people: on a terminal, and as a section of the page that tells of it."""

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clock.bounds import BESIDE, FAR_REALTIME, RATE, STREAMS
from clock.measure import Cell, Found, Spread, Trapped, over
from clock.score import Score

PAGE = Path(__file__).parents[2] / "docs/explanation/how-exact-a-timing-is.md"
START, END = "<!-- measured: clock -->\n", "<!-- end -->"

HEAD = (
    *("way", "beside", "client", "arrival p50", "p99", "ratio"),
    *("TTFT p99", "speed p50", "worst", "gate"),
)
OWN_HEAD = ("way", "arrival p50", "p99", "TTFT p99", "speed p50", "worst")
SEND_HEAD = ("workload", "way", "beside", "median run", "worst run", "gate")
TRAP_HEAD = ("answer", "outcome", "speed error", "TTFT error", "plain client", "gate")

Row = tuple[str, ...]


def machine() -> str:
    """Return when and on what this is measured."""
    count, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    return (
        f"{day}, {count} processors ({platform.machine()}), Linux {platform.release()}, "
        f"Python {platform.python_version()}, load {load:.1f} before"
    )


def text(found: Found) -> str:
    """Return all of it for a terminal."""
    parts = [found.at]
    for title, head, rows in tables(found):
        parts += ["", title, "", *columns([head, *rows])]
    return "\n".join(parts)


def markdown(found: Found) -> str:
    """Return all of it for a page."""
    parts = [f"Measured on {found.at}."]
    for title, head, rows in tables(found):
        lines = [head, ("---",) * len(head), *rows]
        parts += ["", f"{title}:", "", *(f"| {' | '.join(line)} |" for line in lines)]
    return "\n".join(parts) + "\n"


def put_into_page(section: str) -> None:
    """Put the section into its place on the page; raises ValueError where there is none."""
    page = PAGE.read_text(encoding="utf-8")
    before, start, rest = page.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError(f"{PAGE} has no place for it")
    PAGE.write_text(before + start + section + end + after, encoding="utf-8")


def tables(found: Found) -> list[tuple[str, Row, list[Row]]]:
    """Return each table's title, head and rows."""
    many = [row for one in found.many for row in rows_of(one, BESIDE[one.how.beside])]
    alone = [row for one in found.alone for row in rows_of(one, one.how.model.split("-")[2])]
    return [
        (f"{STREAMS} streams of {RATE:,} tokens/s", HEAD, many),
        ("One stream", HEAD, alone),
        (
            f"From the first to the last send of a parallel run of {STREAMS}",
            SEND_HEAD,
            [send_row(one) for one in found.spreads],
        ),
        (
            "Answers that are easily measured wrongly",
            TRAP_HEAD,
            [trap_row(one) for one in found.traps],
        ),
        (
            f"{STREAMS} streams of {RATE:,} tokens/s, by `pacewatch calibrate`",
            OWN_HEAD,
            [own_row(one) for one in found.own],
        ),
    ]


def own_row(play: dict[str, Any]) -> Row:
    """Return the row of a play of the host's own calibration."""
    times = (play[name] for name in ("arrival_p50_s", "arrival_p99_s", "ttft_p99_s"))
    speeds = (play[name] for name in ("speed_p50_ratio", "speed_worst_ratio"))
    return ("TLS" if play["tls"] else "plain", *map(time_text, times), *map(percent, speeds))


def rows_of(cell: Cell, beside: str) -> list[Row]:
    """Return the rows of the three clients."""
    missed = over(cell.probe, cell.limits)
    gate = f"FAIL: {', '.join(missed)}" if missed else "PASS"
    yardstick = cell.plain.figures()["arrival_p50_s"]
    rows = [row(cell.how.way, beside, cell.probe, "probe", yardstick, gate)]
    if cell.realtime is not None:
        far = over(cell.realtime, FAR_REALTIME[cell.how.way] if cell.how.streams > 1 else {})
        told = f"over: {', '.join(far)}" if far else ""
        rows.append(row("", "", cell.realtime, "probe, real-time", yardstick, told))
    rows.append(row("", "", cell.plain, "plain client", None, ""))
    return rows


def row(  # noqa: PLR0913 - what a row is made of
    way: str, beside: str, made: Score, client: str, yardstick_s: float | None, gate: str
) -> Row:
    """Return one client's row; the ratio is how much later the plain client is."""
    told = made.figures()
    p50_s = told["arrival_p50_s"]
    return (
        way,
        beside,
        client,
        time_text(p50_s),
        time_text(told["arrival_p99_s"]),
        "" if yardstick_s is None else f"{yardstick_s / p50_s:,.0f}",
        time_text(told["ttft_p99_s"]),
        percent(told["speed_p50"]),
        percent(told["speed_worst"]),
        gate,
    )


def send_row(one: Spread) -> Row:
    """Return the row of a workload's parallel runs."""
    return (
        one.how.workload or "",
        one.how.way,
        BESIDE[one.how.beside],
        time_text(one.median_s),
        time_text(max(one.runs_s)),
        "FAIL" if one.is_wrong else "PASS",
    )


def trap_row(one: Trapped) -> Row:
    """Return a trap's row."""
    plain = one.plain_outcome if one.plain_error is None else f"{one.plain_error * 100:+.1f} %"
    return (
        one.trap.model.split("-", 4)[4],
        one.outcome,
        "none told" if one.tokens_per_s is None else signed(one.speed_error),
        "" if one.ttft_error_s is None else time_text(abs(one.ttft_error_s)),
        plain,
        f"FAIL: {', '.join(one.wrong)}" if one.wrong else "PASS",
    )


def signed(ratio: float | None) -> str:
    """Return a relative error with its sign."""
    return "?" if ratio is None else f"{ratio * 100:+.3f} %"


def time_text(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    return f"{seconds * 1e6:,.0f} us" if seconds < 0.001 else f"{seconds * 1e3:,.1f} ms"


def percent(ratio: float) -> str:
    """Return a share in percent."""
    return f"{ratio * 100:.3f} %" if ratio < 0.01 else f"{ratio * 100:.1f} %"


def columns(rows: Sequence[Row]) -> list[str]:
    """Return rows as lines whose columns stand under one another."""
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
