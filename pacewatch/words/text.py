"""How figures read to a person, on the board and on the screen alike. Unknown is an en dash."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from pacewatch.words.verdict import SLOWER_FROM, SLOWNESS_WORDS, Slowness

UNKNOWN = "\u2013"
"""What stands where a figure is undefined or not known."""

_DAY = timedelta(days=1)


def speed_text(tokens_per_s: float | None) -> str:
    """Return an output speed with three digits or all whole ones, without its unit."""
    return UNKNOWN if tokens_per_s is None else _three_digits(tokens_per_s)


def seconds_text(seconds: float | None) -> str:
    """Return a duration with its unit: milliseconds below one second, else seconds."""
    if seconds is None:
        return UNKNOWN
    if round(seconds * 1000) < 1000:
        return f"{_three_digits(seconds * 1000) if seconds < 0.01 else round(seconds * 1000)} ms"
    return f"{_three_digits(seconds)} s"


def usd_text(usd: float | None) -> str:
    """Return an amount of US$, with as many decimals as keep it from reading as nothing."""
    if usd is None:
        return UNKNOWN
    if usd and abs(usd) < 0.01:
        return f"US$ {usd:.4f}"
    return f"US$ {usd:,.2f}"


def count_text(count: int | None) -> str:
    """Return a count with its thousands parted."""
    return UNKNOWN if count is None else f"{count:,}"


def age_text(moment: datetime | None, now: datetime) -> str:
    """Return how long ago a moment was, in its largest fitting unit; one to come is `now`."""
    if moment is None:
        return UNKNOWN
    age = now - moment
    seconds = int(age.total_seconds())
    if seconds < 1:
        return "now"
    if seconds < 90:
        return f"{seconds} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    if age < 1.5 * _DAY:
        return f"{round(seconds / 3600)} h"
    return f"{round(age / _DAY)} d"


def ago_text(moment: datetime, now: datetime) -> str:
    """Return how long ago a moment was, as a sentence ends with it: `5 min ago`, `just now`."""
    age = age_text(moment, now)
    return "just now" if age == "now" else f"{age} ago"


def span_text(seconds: float) -> str:
    """Return a length of time as people say it: `72 h`, `24 min`, `45 s`."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:,.0f} s"


def hours_text(hours: float | None) -> str:
    """Return a time to find trouble: `26 min`, `4.1 h`; None: over two days."""
    if hours is None:
        return ">48 h"
    return f"{hours:.1f} h" if hours >= 2 else f"{hours * 60:.0f} min"


def few_text(runs: int, enough: int) -> str:
    """Return why a figure has no median: how many runs that have it there are, and are needed."""
    return f"{runs:,} of {enough} runs for a median"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural where there is not exactly one."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def word_text(word: str) -> str:
    """Return a word of the vocabulary as people read it: `server_error` as `server error`."""
    return word.replace("_", " ")


def _three_digits(value: float) -> str:
    for decimals, below in ((2, 9.995), (1, 99.95)):
        if abs(value) < below:
            return f"{value:.{decimals}f}"
    return f"{value:,.0f}"


def minute_text(moment: str) -> str:
    """Return a moment of RFC 3339 to the minute: `2026-12-01 12:00`."""
    return moment[:16].replace("T", " ")


def slower_text(times: float, low: float | None = None, high: float | None = None) -> str:
    """Return a slowdown as people say it: `1.6 times slower than alone`, or `as fast as alone`;
    with its interval `1.6 times slower than alone (1.4\u20131.9)`.
    """
    if times <= 0.95:
        times, low, high = 1 / times, high and 1 / high, low and 1 / low
        said = f"{times:.1f} times faster than alone"
    else:
        said = "as fast as alone" if times < 1.05 else f"{times:.1f} times slower than alone"
    return said if low is None or high is None else f"{said} ({low:.1f}\u2013{high:.1f})"


def than_usual_text(what: str, times: float) -> str:
    """Return how a figure is beside its usual level: `output 2.1 times slower than usual`."""
    if 0.95 < times < 1.05:
        return f"{what} as usual"
    change = f"{times:.1f} times slower" if times > 1 else f"{1 / times:.1f} times faster"
    return f"{what} {change} than usual"


def slower_figures(times: Mapping[Slowness, float | None]) -> str:
    """Return what is slower, and how much: `output 2.1, end to end 1.8 times slower`; `""` where
    nothing is to speak of.
    """
    told = [
        f"{SLOWNESS_WORDS[figure]} {found:.1f}"
        for figure, found in times.items()
        if found is not None and found >= SLOWER_FROM
    ]
    return f"{', '.join(told)} times slower" if told else ""


FAR_SPEED, FAR_TTFT = 1.5, 3.0
"""How many times under its median a speed, and over it a first token, is told of as far from it;
first tokens are spread wider.
"""


def far_text(
    speed: float | None,
    usual_speed: float | None,
    *,
    ttft_s: float | None,
    usual_ttft_s: float | None,
) -> str:
    """Return how a run lies far from the medians beside it; empty where it does not."""
    if speed is not None and usual_speed is not None and speed * FAR_SPEED < usual_speed:
        return f"{speed_text(speed)} tokens/s, its median is {speed_text(usual_speed)}"
    if ttft_s is not None and usual_ttft_s is not None and ttft_s > usual_ttft_s * FAR_TTFT:
        usual = seconds_text(usual_ttft_s)
        return f"first token after {seconds_text(ttft_s)}, its median is {usual}"
    return ""
