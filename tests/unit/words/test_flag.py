import pytest

from pacewatch.words.flag import Flag, leaves_text


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
