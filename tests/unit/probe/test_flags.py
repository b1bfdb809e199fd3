import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.seen import billed, make_seen

from pacewatch.words.flag import Flag
from pacewatch.words.outcome import Outcome
from probe.flags import flags_of, is_degenerate
from probe.protocols.interface import Finish
from probe.seen import Seen
from probe.stamps import Portion
from probe.tokens import count_chunks

CUT = Finish(word="length", is_truncated=True)


def flags(seen: Seen, outcome: Outcome = Outcome.OK, **fields: Any) -> set[Flag]:
    sent_ns = seen.sent_ns or 0
    values: dict[str, Any] = {
        "outcome": outcome,
        "at_us": tuple((at - sent_ns) // 1000 for at in seen.at_ns),
        "counted": count_chunks(seen.texts, seen.kinds),
        "output_tokens": 2,
        "via_proxy": False,
    }
    return set(flags_of(seen, **(values | fields)))


def test_an_ordinary_answer_has_no_flags():
    assert flags(make_seen("Salt", " air", " rises")) == set()


def test_one_arrival_is_a_burst_and_so_is_a_window_under_5_ms():
    assert flags(make_seen("The whole answer")) == {Flag.BURST}
    assert flags(make_seen("Salt", " air", at_ns=[10**9, 10**9 + 4_999_000])) == {Flag.BURST}
    assert flags(make_seen("Salt", " air", at_ns=[10**9, 10**9 + 5_000_000])) == set()


@pytest.mark.parametrize("place", ["first", "last"])
def test_several_events_of_several_packets_in_one_read_are_coalesced_where_figures_hang_on_it(
    place,
):
    merged = Portion(data=b"x", stamp_ns=1, packets=2, events=2)
    single = Portion(data=b"x", stamp_ns=1)

    assert flags(make_seen("Salt", " air", **{place: merged})) == {Flag.COALESCED}
    assert flags(make_seen("Salt", " air", first=single, last=single)) == set()


def test_cached_is_what_the_provider_says_it_is():
    assert flags(make_seen("Salt", " air", tokens=billed(2, cached_input=960))) == {Flag.CACHED}
    assert flags(make_seen("Salt", " air", tokens=billed(2, cached_input=0))) == set()


def test_an_answer_under_half_of_what_was_asked_is_short_unless_a_limit_cut_it():
    assert flags(make_seen("Salt", " air"), output_tokens=5) == {Flag.SHORT_ANSWER}
    assert flags(make_seen("Salt", " air"), output_tokens=4) == set()
    assert flags(make_seen("Salt", " air", finish=CUT), output_tokens=5) == {Flag.TRUNCATED}


@pytest.mark.parametrize(
    ("output", "is_hidden"), [(2, False), (18, False), (19, True), (131, True)]
)
def test_reasoning_is_hidden_where_much_more_is_billed_than_was_streamed(output, is_hidden):
    found = flags(make_seen("Salt", " air", tokens=billed(output)))

    assert (Flag.HIDDEN_REASONING in found) is is_hidden


def test_half_of_a_long_answer_may_be_counted_otherwise_without_being_hidden():
    words = [f" {word}" for word in ["tide", "boat", "wind", "salt", "rope", "sail"]] * 10
    seen = make_seen(*words, tokens=billed(119))

    assert Flag.HIDDEN_REASONING not in flags(seen)


def test_an_answer_of_reasoning_or_tools_alone_is_no_answer():
    assert flags(make_seen("Low", " tide", kinds="rr")) == {Flag.NO_ANSWER}
    assert flags(make_seen("look", "{}", kinds="tt")) == {Flag.NO_ANSWER, Flag.TOOL_CALL}


def test_a_failed_request_has_no_flag_of_its_text():
    seen = make_seen("The whole", finish=CUT, tokens=billed(900, cached_input=5))

    assert flags(seen, Outcome.DISCONNECTED, output_tokens=900) == set()


def test_an_empty_answer_at_the_token_limit_is_truncated():
    assert flags(make_seen(finish=CUT), Outcome.EMPTY) == {Flag.TRUNCATED}


def test_a_wide_gap_around_the_send_and_a_proxy_are_told_of_every_request():
    seen = make_seen(send_gap_ns=1_000_001)

    assert flags(seen, Outcome.CONNECT, via_proxy=True) == {Flag.CLOCK_GAP, Flag.VIA_PROXY}
    assert flags(make_seen(send_gap_ns=1_000_000), Outcome.CONNECT) == set()


@pytest.mark.parametrize("cycle", [[7], [7, 8], [7, 8, 9, 7, 10], list(range(24))])
def test_a_short_cycle_over_most_of_a_text_is_degenerate(cycle):
    start = list(range(100, 120))

    assert is_degenerate(start + cycle * (120 // len(cycle)))


def test_what_only_ends_in_a_repetition_or_is_short_is_not_degenerate():
    random = Random(1)  # noqa: S311 - repeatable
    text = [random.randrange(5_000) for _ in range(300)]

    assert not is_degenerate(text)
    assert not is_degenerate(text + [7] * 100)
    assert not is_degenerate([7] * 15)
    assert not is_degenerate([*range(3), *[7] * 13])
    assert is_degenerate([7] * 20)


TOKEN = st.integers(0, 200_000)


@given(
    st.lists(TOKEN, min_size=1, max_size=24),
    st.integers(0, 30),
    st.integers(120, 400),
)
def test_any_short_cycle_is_degenerate_whatever_stood_before_it(cycle, before, size):
    assert is_degenerate([*range(before), *(cycle * size)[:size]])


@pytest.mark.parametrize("size", [0, 1, 16, 47, 48, 300])
def test_a_text_without_repetitions_is_not_degenerate(size):
    assert not is_degenerate(range(size))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=3), st.integers(60, 120))
def test_rows_whose_marks_alone_repeat_are_not_degenerate(marks, rows):
    assert not is_degenerate([token for n in range(rows) for token in (*marks, 10 + n)])


@pytest.mark.parametrize(
    "text",
    [
        ", ".join(str(n * 7) for n in range(100)),
        " ".join(f"w{n}" for n in range(1_000, 1_200)),
        "".join(f"| {word} | {n} |\n" for n, word in enumerate(["tide", "boat", "salt"] * 9)),
        "".join(f"{n}. {word}\n" for n, word in enumerate(["tide", "boat", "wind", "sail"] * 5)),
        json.dumps([{"id": n, "hour": n * 7 % 24, "name": f"tide {n}"} for n in range(20)]),
    ],
    ids=["numbers", "counted words", "a table", "a list", "JSON"],
)
def test_numbers_tables_and_lists_are_not_degenerate(text):
    assert not is_degenerate(count_chunks([text], ["a"]).ids)


@pytest.mark.parametrize(
    "text",
    [
        "!" * 300,
        "the the " * 20,
        "I am the tide. " * 12,
        "\n\n---" * 30,
        "Ebbe und Flut, " * 20,
        "潮" * 40,
        "🌊" * 40,
        '{"a": 1}, ' * 20,
        "Salt air rises over the bay at dawn, and then " + "again and " * 40,
        "".join(f"{n}. The tide comes in, and the tide goes out.\n" for n in range(15)),
    ],
)
def test_texts_that_broken_serving_makes_are_degenerate(text):
    assert is_degenerate(count_chunks([text], ["a"]).ids)


def test_a_short_list_repeats_itself_more_before_it_is_degenerate():
    assert not is_degenerate([*range(10), *[7] * 37])
    assert is_degenerate([*range(10), *[7] * 38])


def test_a_text_that_goes_over_the_same_paragraph_is_degenerate_in_the_record_too():
    seen = make_seen(*([" la la la la la"] * 20))

    assert Flag.DEGENERATE in flags(seen)
