"""What a calibration found, as a document and on a terminal. Pure."""

from collections.abc import Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from pacewatch.cli.render import Column, table
from pacewatch.words.text import UNKNOWN, count_text, plural
from probe.calibration import Played
from probe.timing_error import (
    MOST_MEDIAN_SPEED,
    MOST_SPEED,
    MOST_TTFT_S,
    Errors,
    Spread,
    summed,
)

Document = dict[str, Any]

_WRONG = {
    "lost": "answers did not come through whole",
    "ttft": "times to first token are off by more than the limit",
    "speed": "output speeds are off by more than the limit",
}
"""What is over a limit, in words."""

COLUMNS = (
    Column(name="Stream"),
    Column(name="tok/s", right=True),
    Column(name="Streams", right=True),
    Column(name="TTFT p50", right=True),
    Column(name="p99", right=True),
    Column(name="worst", right=True, narrow=False),
    Column(name="Arrival p50", right=True),
    Column(name="p99", right=True),
    Column(name="worst", right=True, narrow=False),
    Column(name="Speed p50", right=True),
    Column(name="p99", right=True, narrow=False),
    Column(name="worst", right=True),
    Column(name="", gives_way=True),
)


def document(played: Sequence[Played], *, priority: str | None) -> Document:
    """Return all that was found; `over` names what is over its limit in one play or more."""
    plays = [
        {
            "tls": one.play.is_tls,
            "tokens_per_s": one.play.tokens_per_s,
            "streams": one.play.streams,
            "stamp": str(one.stamp),
            **_errors(summed([one.raw])),
        }
        for one in played
    ]
    return {
        "reader": priority,
        "limits": {
            "ttft_p99_s": MOST_TTFT_S,
            "speed_p50_ratio": MOST_MEDIAN_SPEED,
            "speed_worst_ratio": MOST_SPEED,
        },
        "plays": plays,
        "all": _errors(summed(one.raw for one in played)),
        "over": sorted({name for play in plays for name in play["over"]}),
    }


def _errors(errors: Errors) -> Document:
    return {
        "requests": errors.requests,
        "lost": errors.lost,
        **_spread("ttft_{}_s", errors.ttft_s),
        **_spread("arrival_{}_s", errors.arrival_s),
        **_spread("speed_{}_ratio", errors.speed),
        "over": list(errors.over()),
    }


def _spread(name: str, spread: Spread) -> Document:
    told = (("p50", spread.p50), ("p99", spread.p99), ("worst", spread.worst))
    return {name.format(part): value for part, value in told}


def screen(told: Document, *, width: int) -> list[RenderableType]:
    """Return what to print of the document."""
    rows = [_row(play) for play in told["plays"]]
    return [
        Text(_reader(told)),
        Text(),
        table(COLUMNS, rows, title="Error of this host's timings", width=width),
        Text(),
        Text(_limits(told["limits"]), style="dim"),
        _verdict(told),
    ]


def _reader(told: Document) -> str:
    stamps = " and ".join(sorted({play["stamp"] for play in told["plays"]}))
    if told["reader"] is None:
        return f"No reader process; stamps: {stamps}."
    return f"Reader process: {told['reader']} priority; stamps: {stamps}."


def _limits(told: Document) -> str:
    median, worst = _percent(told["speed_p50_ratio"]), _percent(told["speed_worst_ratio"])
    return f"Limits: TTFT p99 {_time(told['ttft_p99_s'])}; speed p50 {median}, worst {worst}."


def _verdict(told: Document) -> Text:
    if not told["over"]:
        return Text(
            "Timings of this host can be trusted: all are within the limits.", style="green"
        )
    wrong = [_WRONG[name] for name in _WRONG if name in told["over"]]
    return Text(
        f"Timings of this host are in doubt: {' and '.join(wrong)}. "
        "A worker on it would be suspect while this lasts, and none of its figures would count.",
        style="red",
    )


def _row(play: Document) -> list[str]:
    over = [f"{name} over" for name in play["over"] if name != "lost"]
    if play["lost"]:
        over = [f"{plural(play['lost'], 'request')} lost", *over]
    return [
        "TLS" if play["tls"] else "plain",
        count_text(play["tokens_per_s"]),
        count_text(play["streams"]),
        *(_time(play[f"ttft_{part}_s"]) for part in ("p50", "p99", "worst")),
        *(_time(play[f"arrival_{part}_s"]) for part in ("p50", "p99", "worst")),
        *(_percent(play[f"speed_{part}_ratio"]) for part in ("p50", "p99", "worst")),
        ", ".join(over),
    ]


def _time(seconds: float | None) -> str:
    if seconds is None:
        return UNKNOWN
    return f"{seconds * 1e6:.0f} us" if seconds < 0.001 else f"{seconds * 1e3:.1f} ms"


def _percent(ratio: float) -> str:
    return f"{ratio * 100:.3f} %"
