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
    UNCALIBRATED = "uncalibrated"
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
    Flag.UNCALIBRATED: frozenset(),
    Flag.CLOCK_GAP: frozenset({Figure.TTFT, Figure.ANSWER}),
    Flag.VIA_PROXY: frozenset(),
    Flag.NO_ANSWER: frozenset(),
    Flag.TOOL_CALL: frozenset(),
    Flag.TRUNCATED: frozenset(),
    Flag.THROTTLED: _ALL,
    Flag.INCONCLUSIVE: _ALL,
}
"""Which figures a flag takes out."""

FLAG_MEANINGS: dict[Flag, str] = {
    Flag.BURST: "one arrival, or under 5 ms from the first to the last",
    Flag.COALESCED: "one read brought several packets in front of the first or last arrival",
    Flag.CACHED: "the provider reports cached input",
    Flag.SHORT_ANSWER: "under half of the asked output, and no limit cut it",
    Flag.HIDDEN_REASONING: "billed output less streamed tokens is over 16 and over half of what is"
    " billed",
    Flag.DEGENERATE: "60 % or more of the tokens repeat what stood up to 24 tokens before, a whole "
    "such period at a time, or 90 % whatever the periods; of a text of under 48 tokens 80 %, and "
    "none of under 16",
    Flag.PROBER_SUSPECT: "the worker's own calibration is over its limit",
    Flag.UNCALIBRATED: "the worker had not calibrated itself since it started, so how exact it was"
    " is not known",
    Flag.CLOCK_GAP: "over 1 ms between the clock readings around the send",
    Flag.VIA_PROXY: "an egress proxy stood between",
    Flag.NO_ANSWER: "reasoning or tool calls, and no visible answer",
    Flag.TOOL_CALL: "the model called a tool",
    Flag.TRUNCATED: "a token limit cut the answer",
    Flag.THROTTLED: "a parallel run with 429s; set by the centre",
    Flag.INCONCLUSIVE: "a parallel run with under half of its requests finished; set by the centre",
}
"""When a flag is set."""

FIGURE_TEXTS: dict[Figure, str] = {
    Figure.TTFT: "time to first token",
    Figure.ANSWER: "time to first answer token",
    Figure.SPEED: "output speed",
    Figure.END_TO_END: "end-to-end",
    Figure.STALL: "longest gap",
}
"""What a person reads for a figure."""


def leaves_text(flag: Flag) -> str:
    """Return which figures a flag takes out of statistics and judging."""
    if not LEAVES[flag]:
        return "nothing"
    if LEAVES[flag] == _ALL:
        return "all"
    return ", ".join(FIGURE_TEXTS[figure] for figure in Figure if figure in LEAVES[flag])
