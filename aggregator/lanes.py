"""The timelines of a run's requests as marks on one axis of time, for a drawing of vectors. Pure.

Everything is in parts of WIDE, counted from the run's earliest send.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pacewatch.words.text import seconds_text
from pacewatch.words.timing import Timing

WIDE = 1_000
"""How wide a drawing is; marks that fall on the same part are one."""

HIGH = 16
"""How high a lane is."""

KINDS = {"r": "reasoning", "a": "answer", "t": "tool call"}
"""What the letters of a chunk's kind mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticks:
    """The chunks of one kind."""

    kind: str
    """A word, also the name of its colour."""
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One request: from its send to its end, with a tick where chunks came."""

    n: int
    begins: int
    length: int
    headers: int | None
    """Where the answer's headers came."""
    ticks: tuple[Ticks, ...]
    outcome: str
    label: str
    """What it says, for whoever does not see it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """All requests of a run, and how long the axis is."""

    lanes: tuple[Lane, ...]
    lasts: str
    kinds: tuple[str, ...]
    """The kinds of text there are, for the legend."""


def lanes_of(timings: Sequence[Timing]) -> Lanes | None:
    """Return the drawing of the requests that were sent; None where none was."""
    sent = [(timing, timing.sent_us) for timing in timings if timing.sent_us is not None]
    if not sent:
        return None
    whole_us = max(1, *(sent_us + _length_us(timing) for timing, sent_us in sent))
    lanes = tuple(_lane(timing, sent_us, whole_us) for timing, sent_us in sent)
    found = {ticks.kind for lane in lanes for ticks in lane.ticks}
    return Lanes(
        lanes=lanes,
        lasts=seconds_text(whole_us / 1e6),
        kinds=tuple(kind for kind in KINDS.values() if kind in found),
    )


def _length_us(timing: Timing) -> int:
    last_us = timing.chunks.at_us[-1] if timing.chunks.at_us else 0
    return max(timing.end_us or 0, last_us)


def _lane(timing: Timing, sent_us: int, whole_us: int) -> Lane:
    length_us = _length_us(timing)
    begins = sent_us * WIDE // whole_us
    headers = timing.headers_us
    return Lane(
        n=timing.n,
        begins=begins,
        length=max(1, (sent_us + length_us) * WIDE // whole_us - begins),
        headers=None if headers is None else (sent_us + headers) * WIDE // whole_us,
        ticks=_ticks(timing, sent_us, whole_us),
        outcome=str(timing.outcome),
        label=_label(timing, length_us),
    )


def _ticks(timing: Timing, sent_us: int, whole_us: int) -> tuple[Ticks, ...]:
    at: dict[str, set[int]] = {}
    for at_us, letter in zip(timing.chunks.at_us, timing.chunks.kind, strict=True):
        at.setdefault(letter, set()).add((sent_us + at_us) * WIDE // whole_us)
    return tuple(
        Ticks(kind=word, path="".join(f"M{x} 0v{HIGH}" for x in sorted(at[letter])))
        for letter, word in KINDS.items()
        if letter in at
    )


def _label(timing: Timing, length_us: int) -> str:
    came = timing.chunks.at_us
    ends = f"ended after {seconds_text(length_us / 1e6)}"
    if not came:
        return f"request {timing.n}: no text, {ends}"
    first = seconds_text(came[0] / 1e6)
    return f"request {timing.n}: first token after {first}, {len(came):,} chunks, {ends}"
