"""The remarks on a timing that its own worker can make."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice
from operator import eq

from pacewatch.words.figures import arrivals, is_burst
from pacewatch.words.flag import Flag
from pacewatch.words.outcome import Outcome
from pacewatch.words.timing import ANSWER, TOOL, Run
from probe.seen import Seen
from probe.tokens import Counted

CLOCK_GAP_NS = 1_000_000
"""Between the clock readings around the send; above it the first token's time is in doubt."""

HIDDEN_TOKENS = 16
"""Billed tokens that were not streamed: up to here it is the vocabularies that differ."""

LONGEST_CYCLE = 24
"""Repetitions with a period of up to this many tokens are looked for."""

CYCLE_PART = 0.6
"""Part of the text that must repeat what stood one period before, in whole periods."""

LOOSE_PART = 0.9
"""The same where a period is never repeated whole: a loop that counts. Tables and lists repeat
their marks and names, and are under it.
"""

LEAST_TOKENS = 16
"""A text of fewer tokens is not called degenerate."""

LIST_TOKENS, LIST_PART = 48, 0.8
"""Of a text of fewer tokens than this, so much must repeat: a short list has whole periods too."""


def flags_of(  # noqa: PLR0913 - what the flags are of
    seen: Seen,
    *,
    outcome: Outcome,
    at_us: Sequence[int],
    counted: Counted,
    output_tokens: int,
    via_proxy: bool,
) -> tuple[Flag, ...]:
    """Return the flags in the order of their words; a failed request has none of its text's."""
    flags: set[Flag] = set()
    if via_proxy:
        flags.add(Flag.VIA_PROXY)
    if seen.send_gap_ns > CLOCK_GAP_NS:
        flags.add(Flag.CLOCK_GAP)
    if outcome in (Outcome.OK, Outcome.EMPTY) and _is_truncated(seen):
        flags.add(Flag.TRUNCATED)
    if outcome is Outcome.OK:
        flags |= _of_answer(seen, at_us, counted, output_tokens)
    return tuple(flag for flag in Flag if flag in flags)


def _of_answer(seen: Seen, at_us: Sequence[int], counted: Counted, output_tokens: int) -> set[Flag]:
    told, total = seen.tokens, len(counted.ids)
    billed = told.output if told is not None and told.output is not None else total
    found = {
        Flag.BURST: is_burst(arrivals(at_us, counted.of_chunks)),
        Flag.COALESCED: any(one is not None and one.is_blurred for one in (seen.first, seen.last)),
        Flag.CACHED: told is not None and bool(told.cached_input),
        Flag.SHORT_ANSWER: total < output_tokens / 2 and not _is_truncated(seen),
        Flag.HIDDEN_REASONING: billed - total > max(HIDDEN_TOKENS, billed / 2),
        Flag.NO_ANSWER: ANSWER not in seen.kinds,
        Flag.TOOL_CALL: TOOL in seen.kinds,
        Flag.DEGENERATE: is_degenerate(counted.ids),
    }
    return {flag for flag, is_set in found.items() if is_set}


def _is_truncated(seen: Seen) -> bool:
    return seen.finish is not None and seen.finish.is_truncated


def flagged(run: Run, flag: Flag) -> Run:
    """Return the run with that flag on each of its timings."""
    return replace(
        run,
        timings=tuple(
            replace(timing, flags=tuple(one for one in Flag if one in (*timing.flags, flag)))
            for timing in run.timings
        ),
    )


def is_degenerate(tokens: Sequence[int]) -> bool:
    """Tell whether a text repeats itself: one token, or a short cycle, over most of it."""
    return len(tokens) >= LEAST_TOKENS and any(
        _repeats(tokens, cycle) for cycle in range(1, LONGEST_CYCLE + 1)
    )


def _same(tokens: Sequence[int], cycle: int) -> Iterator[bool]:
    """Yield of each token whether it repeats what stood one period before."""
    return map(eq, tokens, islice(tokens, cycle, None))


def _repeats(tokens: Sequence[int], cycle: int) -> bool:
    size = len(tokens)
    found = sum(_same(tokens, cycle))
    if size < LIST_TOKENS:
        return found >= LIST_PART * size
    if found >= LOOSE_PART * (size - cycle):
        return True
    if found < CYCLE_PART * size:
        return False
    runs = (sum(run) for _, run in groupby(_same(tokens, cycle)))
    return sum(run for run in runs if run >= cycle) >= CYCLE_PART * size
