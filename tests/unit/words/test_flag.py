import pytest

from pacewatch.words.flag import LEAVES, Figure, Flag, leaves_text


@pytest.mark.parametrize(
    ("flag", "text"),
    [
        (Flag.COALESCED, "nothing"),
        (Flag.DEGENERATE, "all"),
        (Flag.SHORT_ANSWER, "output speed, end-to-end"),
    ],
)
def test_what_a_flag_takes_out_is_told_in_words(flag, text):
    assert leaves_text(flag) == text


FIRST = {Figure.TTFT, Figure.ANSWER}


@pytest.mark.parametrize(
    ("flags", "figures"),
    [
        ((Flag.BURST,), {Figure.SPEED}),
        ((Flag.CACHED,), {*FIRST, Figure.END_TO_END}),
        ((Flag.SHORT_ANSWER,), {Figure.SPEED, Figure.END_TO_END}),
        ((Flag.CLOCK_GAP,), FIRST),
        ((Flag.DEGENERATE, Flag.PROBER_SUSPECT, Flag.THROTTLED, Flag.INCONCLUSIVE), set(Figure)),
        ((Flag.COALESCED, Flag.HIDDEN_REASONING, Flag.VIA_PROXY, Flag.UNCALIBRATED), set()),
        ((Flag.NO_ANSWER, Flag.TOOL_CALL, Flag.TRUNCATED), set()),
    ],
)
def test_a_flag_takes_out_what_it_makes_unlike_the_others(flags, figures):
    assert {flag: LEAVES[flag] for flag in flags} == dict.fromkeys(flags, figures)
