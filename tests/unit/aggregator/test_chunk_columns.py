import json
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.records import make_slot, record_of
from support.timings import make_timing

from aggregator.chunk_columns import fold, take_out, unfold
from aggregator.reading import packed, unpacked
from pacewatch.words.timing import Chunks

NUMBERS = st.one_of(st.integers(0, 300), st.integers(0, 2**64 - 1))
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.floats(0, 1))
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(("requests", "chunks", "at_us", "bytes", "tokens", "kind", "x")),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=30,
)


@st.composite
def columns(draw):
    """Whole columns of one length, as every record that was read has them."""
    at_us = sorted(draw(st.lists(NUMBERS, max_size=50)))
    length = len(at_us)
    numbers = st.lists(NUMBERS, min_size=length, max_size=length)
    return {
        "at_us": at_us,
        "bytes": draw(numbers),
        "tokens": draw(numbers),
        "kind": "".join(draw(st.sampled_from("rat")) for _ in range(length)),
    }


@given(st.lists(columns(), max_size=4))
def test_columns_come_back_as_they_were(made):
    held = b"".join(map(fold, made))
    found, place = [], 0
    for _ in made:
        one, place = unfold(held, place)
        found.append(one)

    assert made == found
    assert place == len(held)


@given(ANYTHING)
def test_a_record_of_any_form_comes_back_as_it_was(raw):
    before = json.dumps(raw)

    assert json.dumps(unpacked(packed(raw)), sort_keys=True) == json.dumps(raw, sort_keys=True)
    assert before == json.dumps(raw)


@given(columns(), ANYTHING)
def test_members_that_are_not_known_stay_beside_the_columns(made, unknown):
    raw = {"v": 1, "more": unknown, "requests": [{"n": 0}, {"chunks": {**made, "new": unknown}}]}

    rest, folded, _ = take_out(raw)

    assert folded == [1]
    assert rest["requests"][1] == {"chunks": {"new": unknown}}
    assert raw == unpacked(packed(raw))


@pytest.mark.parametrize(
    "changes",
    [
        {"at_us": [2, 1]},
        {"at_us": [1]},
        {"at_us": [1, 2**64 + 1]},
        {"bytes": [1, 2**64]},
        {"bytes": [1, True]},
        {"bytes": None},
        {"tokens": [1, -1]},
        {"kind": "äa"},
        {"kind": 7},
    ],
)
def test_columns_that_are_none_stay_in_the_json(changes):
    chunks = {"at_us": [1, 2], "bytes": [1, 1], "tokens": [1, 1], "kind": "aa"} | changes
    raw = {"requests": [{"chunks": chunks}]}

    assert take_out(raw)[1] == []
    assert raw == unpacked(packed(raw))


def test_a_record_of_the_first_form_is_still_read():
    raw = record_of(make_slot())

    assert raw == unpacked(zlib.compress(json.dumps(raw).encode(), 1))


@pytest.mark.parametrize(("tokens", "gap_us"), [(300, 570), (1_000, 8_300), (2_000, 20_000)])
def test_a_token_takes_at_most_five_bytes(tokens, gap_us):
    """One token a chunk, at the pace of the fastest and of a usual provider, of the usual sizes."""
    dice = random.Random(tokens)  # noqa: S311 - sizes and times, no secret
    at_us, at = [], 200_000
    for _ in range(tokens):
        at += max(1, int(dice.gauss(gap_us, gap_us / 3)))
        at_us.append(at)
    chunks = Chunks(
        at_us=tuple(at_us),
        size_bytes=tuple(dice.choices((1, 2, 3, 4, 5, 6, 8, 11), k=tokens)),
        tokens=(1,) * tokens,
        kind="a" * tokens,
    )

    record = packed(record_of(make_slot(), make_timing(chunks, end_us=at)))

    assert len(record) <= 5 * tokens
