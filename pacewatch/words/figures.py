"""THE definitions: a request's chunk times and tokens -> its figures. Pure.

All figures come from the integer microseconds of the record, on both sides of the wire alike.
Unknown is None, never 0 and never infinite. A change of meaning raises DEFINITION and is told
under "Measured differently" in the changelog.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import sub
from typing import NamedTuple

from pacewatch.words.flag import Figure, Flag
from pacewatch.words.outcome import Outcome
from pacewatch.words.timing import ANSWER, Run, Timing

DEFINITION = 1
"""Version of the definitions below; stored with every figure."""

ARRIVAL_GAP_US = 50
"""Chunks that each come at most this long after the one before are one arrival."""

SHORTEST_WINDOW_US = 5_000
"""Below this time between first and last arrival an output speed is undefined."""


class Arrivals(NamedTuple):
    """Chunks that came together, as columns: an answer has thousands of them."""

    at_us: Sequence[int]
    """The stamp of the first chunk of each."""
    tokens: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a request's timing says; each None where it is undefined."""

    ttft_s: float | None = None
    """To the first token-bearing chunk, reasoning included."""
    answer_s: float | None = None
    """To the first chunk of the visible answer."""
    end_to_end_s: float | None = None
    """To the last token-bearing chunk."""
    output_tokens_per_s: float | None = None
    """Tokens after the first arrival over the time from the first arrival to the last."""
    stall_s: float | None = None
    """The longest time between consecutive arrivals."""
    tokens: int = 0
    """o200k_base tokens of the whole text."""

    def value(self, figure: Figure) -> float | None:
        """Return the figure of that name."""
        value: float | None = getattr(self, figure)
        return value


NO_FIGURES = Figures()
"""What a failed request publishes."""


def arrivals(at_us: Sequence[int], tokens: Sequence[int]) -> Arrivals:
    """Return the arrivals of token-bearing chunks given in order of time.

    A chunk belongs to the arrival of the chunk before it when it came at most ARRIVAL_GAP_US
    after that chunk.
    """
    gaps = list(map(sub, at_us[1:], at_us))
    if not gaps or min(gaps) > ARRIVAL_GAP_US:
        return Arrivals(at_us, tokens)
    starts = [0, *(place for place, gap in enumerate(gaps, 1) if gap > ARRIVAL_GAP_US)]
    ends = [*starts[1:], len(at_us)]
    return Arrivals(
        [at_us[start] for start in starts],
        [sum(tokens[start:end]) for start, end in zip(starts, ends, strict=True)],
    )


def is_burst(came: Arrivals) -> bool:
    """Tell whether there is one arrival, or under SHORTEST_WINDOW_US from the first to the last."""
    return bool(came.at_us) and came.at_us[-1] - came.at_us[0] < SHORTEST_WINDOW_US


def output_tokens_per_s(came: Arrivals) -> float | None:
    """Return tokens after the first arrival per second from the first arrival to the last.

    None for a burst, and where no token ended after the first arrival.
    """
    tokens = sum(came.tokens[1:])
    if tokens == 0 or is_burst(came):
        return None
    return tokens / (came.at_us[-1] - came.at_us[0]) * 1e6


def figures_of(timing: Timing) -> Figures:
    """Return the figures of one request; a failed one, or one without generated text, has none.

    With most of the reasoning hidden the speed is of the answer alone (flag `hidden_reasoning`).
    """
    at_us, tokens, kind = timing.chunks.at_us, timing.chunks.tokens, timing.chunks.kind
    if timing.outcome is not Outcome.OK or not at_us:
        return NO_FIGURES
    came = arrivals(at_us, tokens)
    first_answer = kind.find(ANSWER)
    is_hidden = Flag.HIDDEN_REASONING in timing.flags
    return Figures(
        ttft_s=at_us[0] / 1e6,
        answer_s=None if first_answer < 0 else at_us[first_answer] / 1e6,
        end_to_end_s=at_us[-1] / 1e6,
        output_tokens_per_s=output_tokens_per_s(answer_arrivals(timing) if is_hidden else came),
        stall_s=_seconds(max(map(sub, came.at_us[1:], came.at_us), default=None)),
        tokens=sum(tokens),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """How long consecutive arrivals were apart; each None where there are not two."""

    p50_s: float | None = None
    p99_s: float | None = None


def gaps_of(timing: Timing) -> Gaps:
    """Return the inter-token gaps of one request; its figures, made at every push, lack them."""
    came = arrivals(timing.chunks.at_us, timing.chunks.tokens)
    gaps = sorted(map(sub, came.at_us[1:], came.at_us))
    return Gaps(
        p50_s=_seconds(percentile(gaps, 0.5)),
        p99_s=_seconds(percentile(gaps, 0.99)),
    )


def answer_arrivals(timing: Timing) -> Arrivals:
    """Return the arrivals of the visible answer alone: what the speed is taken of where most of the
    reasoning was hidden.
    """
    chunks = timing.chunks
    shown = [i for i, letter in enumerate(chunks.kind) if letter == ANSWER]
    return arrivals([chunks.at_us[i] for i in shown], [chunks.tokens[i] for i in shown])


def system_tokens_per_s(run: Run) -> float | None:
    """Return all tokens of a run over the time from its first send to its last token.

    None where no token came.
    """
    total, last_us = 0, 0
    for timing in run.timings:
        if timing.chunks.at_us and timing.sent_us is not None:
            total += sum(timing.chunks.tokens)
            last_us = max(last_us, timing.sent_us + timing.chunks.at_us[-1])
    return total / last_us * 1e6 if last_us else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What a slowdown compares; None: not known."""

    output_tokens_per_s: float | None = None
    ttft_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slowdown:
    """How many times slower a request is among others than alone; None: not known."""

    output_tokens_per_s: float | None = None
    ttft_s: float | None = None


def slowdown(alone: Pace, among: Pace) -> Slowdown:
    """Return how many times slower requests are among others than one alone."""
    return Slowdown(
        output_tokens_per_s=_ratio(alone.output_tokens_per_s, among.output_tokens_per_s),
        ttft_s=_ratio(among.ttft_s, alone.ttft_s),
    )


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


def percentile(values: Iterable[float], q: float) -> float | None:
    """Return the quantile q in 0..1, linear between order statistics; None of no values.

    The same as Postgres' percentile_cont.
    """
    ordered = sorted(values)
    if not ordered:
        return None
    place = (len(ordered) - 1) * q
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _seconds(us: float | None) -> float | None:
    return None if us is None else us / 1e6
