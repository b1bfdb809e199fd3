import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.protocols.foreign import MAX_TOLD, MAX_WORD, count, identity, number, timings, word

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=70), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("server_error", "server_error"),
        (503, "503"),
        (" two\nlines ", "two lines"),
        ("", None),
        ("x" * (MAX_WORD + 1), None),
        ("a\x00b", None),
        ("half \ud83c", None),
        (True, None),
        (1.5, None),
        (None, None),
        ({"a": 1}, None),
    ],
)
def test_a_word_is_one_bounded_line(told, kept):
    assert word(told) == kept


@pytest.mark.parametrize(
    ("told", "kept"),
    [(0, 0), (7, 7), (7.0, 7), (7.5, None), (-1, None), (True, None), ("7", None), (10**12, None),
     (float("nan"), None), (float("inf"), None), (None, None)],
)  # fmt: skip
def test_a_count_is_whole_and_not_negative(told, kept):
    assert count(told) == kept


@pytest.mark.parametrize(
    ("told", "kept"),
    [(0.5, 0.5), (3, 3.0), ("0.25", 0.25), ("soon", None), (-1, None), (True, None), ([], None),
     (float("nan"), None), ("inf", None)],
)  # fmt: skip
def test_a_number_is_finite_and_not_negative(told, kept):
    assert number(told) == kept


def test_a_structure_is_nobodys_name():
    assert identity({"a": 1}, 7, None, "x" * 10_000) == identity(None, None, None, None)


def test_timings_are_few_and_their_names_short():
    told = timings(None, {f"time_{n}": 0.1 for n in range(100)} | {"n" * 61: 1, "é": 1})

    assert told is not None
    assert len(told.as_told) == MAX_TOLD


def test_no_timings_are_none():
    assert timings(None, None, {}) is None
    assert timings({"prompt_tokens": 3}, {"deep": {"a": 1}}) is None


@given(JSON)
def test_whatever_is_told_is_kept_as_something_short_or_not_at_all(told):
    assert len(word(told) or "") <= MAX_WORD
    kept = timings(told, told)
    for name, value in (kept.as_told if kept is not None else {}).items():
        assert len(name) <= 60
        assert isinstance(value, bool | int | float) or len(value) <= MAX_WORD
