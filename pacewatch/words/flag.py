"""What makes a timing's figures special, and which figures that takes out of statistics and
judging.
"""

from enum import StrEnum


class Figure(StrEnum):
    """A figure that statistics are kept of; the value is its column and JSON name."""

    TTFT = "ttft_s"
    ANSWER = "answer_s"
    SPEED = "output_tokens_per_s"
    END_TO_END = "end_to_end_s"
    STALL = "stall_s"


class Flag(StrEnum):
    """A remark on a timing; the value is the word on the wire."""

    BURST = "burst"
    COALESCED = "coalesced"
    CACHED = "cached"
    SHORT_ANSWER = "short_answer"
    HIDDEN_REASONING = "hidden_reasoning"
    DEGENERATE = "degenerate"
    PROBER_SUSPECT = "prober_suspect"
    CLOCK_GAP = "clock_gap"
    VIA_PROXY = "via_proxy"
    NO_ANSWER = "no_answer"
    TOOL_CALL = "tool_call"
    TRUNCATED = "truncated"
    THROTTLED = "throttled"
    INCONCLUSIVE = "inconclusive"


CENTRE_FLAGS = frozenset({Flag.THROTTLED, Flag.INCONCLUSIVE})
"""Flags of a whole parallel run, set by the centre and refused from a worker."""

_ALL = frozenset(Figure)

LEAVES: dict[Flag, frozenset[Figure]] = {
    Flag.BURST: frozenset({Figure.SPEED}),
    Flag.COALESCED: frozenset(),
    Flag.CACHED: frozenset({Figure.TTFT, Figure.ANSWER, Figure.END_TO_END}),
    Flag.SHORT_ANSWER: frozenset({Figure.SPEED, Figure.END_TO_END}),
    Flag.HIDDEN_REASONING: frozenset(),
    Flag.DEGENERATE: _ALL,
    Flag.PROBER_SUSPECT: _ALL,
    Flag.CLOCK_GAP: frozenset({Figure.TTFT, Figure.ANSWER}),
    Flag.VIA_PROXY: frozenset(),
    Flag.NO_ANSWER: frozenset(),
    Flag.TOOL_CALL: frozenset(),
    Flag.TRUNCATED: frozenset(),
    Flag.THROTTLED: _ALL,
    Flag.INCONCLUSIVE: _ALL,
}
"""Which figures a flag takes out."""
