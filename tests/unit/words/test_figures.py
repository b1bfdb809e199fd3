import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.timings import make_chunks, make_run, make_timing

from pacewatch.words.figures import (
    NO_FIGURES,
    Arrivals,
    Figures,
    Gaps,
    Pace,
    Slowdown,
    arrivals,
    figures_of,
    gaps_of,
    is_burst,
    output_tokens_per_s,
    percentile,
    slowdown,
    system_tokens_per_s,
)
from pacewatch.words.flag import Figure, Flag
from pacewatch.words.outcome import Outcome
from pacewatch.words.timing import Chunks


def test_a_worked_example():
    chunks = Chunks(
        at_us=(120_000, 350_000, 400_000, 520_000),
        size_bytes=(4, 4, 4, 8),
        tokens=(1, 1, 1, 2),
        kind="rraa",
    )

    figures, gaps = figures_of(make_timing(chunks)), gaps_of(make_timing(chunks))

    assert figures == Figures(
        ttft_s=0.12,
        answer_s=0.4,
        end_to_end_s=0.52,
        output_tokens_per_s=4 / 0.4,
        stall_s=0.23,
        tokens=5,
    )
    assert gaps == Gaps(p50_s=0.12, p99_s=pytest.approx(0.2278))
    assert figures.value(Figure.TTFT) == 0.12


def test_a_failed_request_publishes_no_figure():
    timing = make_timing(outcome=Outcome.DISCONNECTED)

    assert figures_of(timing) == NO_FIGURES


def test_an_answer_without_generated_text_publishes_no_figure():
    assert figures_of(make_timing(Chunks())) == NO_FIGURES


def test_one_arrival_has_no_output_speed_and_no_stall():
    figures = figures_of(make_timing(make_chunks(600, tokens=6)))

    assert (figures.output_tokens_per_s, figures.stall_s) == (None, None)
    assert (figures.ttft_s, figures.end_to_end_s) == (0.6, 0.6)


def test_under_five_milliseconds_there_is_no_output_speed():
    assert figures_of(make_timing(make_chunks(100, 104.999))).output_tokens_per_s is None
    assert figures_of(make_timing(make_chunks(100, 105))).output_tokens_per_s == 200.0


def test_without_a_visible_answer_there_is_no_time_to_it():
    figures = figures_of(make_timing(make_chunks(100, 200, kind="rt")))

    assert figures.answer_s is None
    assert figures.ttft_s == 0.1


def test_chunks_at_most_fifty_microseconds_apart_are_one_arrival():
    came = arrivals([1000, 1050, 1100, 1151], [1, 2, 3, 4])

    assert Arrivals([1000, 1151], [6, 4]) == came


def test_speed_of_arrivals_of_fifty_leaves_out_the_first_arrival():
    """A tool that divides all tokens but one reads too fast here."""
    came = arrivals([0, 0, 100_000, 100_000, 200_000, 200_000], [25] * 6)

    assert output_tokens_per_s(came) == 500.0


def test_speed_is_of_the_answer_alone_where_reasoning_was_hidden():
    chunks = make_chunks(160, 270, 340, 420, 500, kind="rraaa")
    hidden = make_timing(chunks, flags=(Flag.HIDDEN_REASONING,))

    assert figures_of(hidden).output_tokens_per_s == 2 / 0.16
    assert figures_of(make_timing(chunks)).output_tokens_per_s == pytest.approx(4 / 0.34)


def test_tokens_that_all_ended_in_the_first_arrival_give_no_speed():
    chunks = Chunks(at_us=(0, 10_000), size_bytes=(4, 1), tokens=(1, 0), kind="aa")

    assert figures_of(make_timing(chunks)).output_tokens_per_s is None


def test_no_arrival_is_no_burst():
    assert not is_burst(Arrivals((), ()))
    assert output_tokens_per_s(Arrivals((), ())) is None


def test_system_throughput_is_over_first_send_to_last_token():
    run = make_run(
        make_timing(make_chunks(100, 900)),
        make_timing(make_chunks(200, 1000), n=1, sent_us=1_000_000),
        make_timing(Chunks(), n=2, sent_us=None, outcome=Outcome.CONNECT),
    )

    assert system_tokens_per_s(run) == 4 / 2.0


def test_a_run_without_tokens_has_no_system_throughput():
    assert system_tokens_per_s(make_run(make_timing(Chunks()))) is None


def test_a_request_among_others_is_as_many_times_slower_in_both_figures():
    alone, among = (
        Pace(output_tokens_per_s=90, ttft_s=0.2),
        Pace(output_tokens_per_s=60, ttft_s=0.5),
    )
    assert Slowdown(output_tokens_per_s=1.5, ttft_s=2.5) == slowdown(alone, among)


@pytest.mark.parametrize("among", [Pace(), Pace(output_tokens_per_s=0.0, ttft_s=None)])
def test_what_is_not_known_has_no_slowdown(among):
    assert Slowdown() == slowdown(Pace(output_tokens_per_s=90, ttft_s=0.2), among)


@pytest.mark.parametrize(
    ("values", "q", "expected"),
    [([], 0.5, None), ([3], 0.95, 3), ([1, 2, 3, 4], 0.5, 2.5), ([4, 1, 3, 2], 0.95, 3.85)],
)
def test_percentile_is_linear_between_order_statistics(values, q, expected):
    assert expected == (None if expected is None else pytest.approx(percentile(values, q)))
    assert (expected is None) == (percentile(values, q) is None)


_TIMELINES = st.lists(
    st.tuples(
        st.integers(min_value=0, max_value=3_600_000_000),
        st.integers(min_value=0, max_value=10_000),
        st.sampled_from("rat"),
    ),
    max_size=60,
)


def chunks_of(rows):
    rows = sorted(rows, key=lambda row: row[0])
    return Chunks(
        at_us=tuple(row[0] for row in rows),
        size_bytes=tuple(row[1] * 4 for row in rows),
        tokens=tuple(row[1] for row in rows),
        kind="".join(row[2] for row in rows),
    )


@given(_TIMELINES, st.booleans())
def test_no_timeline_gives_nan_infinity_or_a_negative_figure(rows, hidden):
    chunks = chunks_of(rows)

    figures = figures_of(make_timing(chunks, flags=(Flag.HIDDEN_REASONING,) if hidden else ()))

    for name in Figures.__dataclass_fields__:
        value = getattr(figures, name)
        assert value is None or (math.isfinite(value) and value >= 0), name
    assert figures.output_tokens_per_s != 0
    gaps = gaps_of(make_timing(chunks))
    assert gaps.p50_s is None or 0 <= gaps.p50_s <= gaps.p99_s <= figures.stall_s


_SENT_US = st.none() | st.integers(min_value=0, max_value=3_600_000_000)
_REQUESTS = st.lists(st.tuples(_TIMELINES, _SENT_US), min_size=1, max_size=4)


@given(_REQUESTS, _TIMELINES)
def test_no_run_gives_nan_infinity_or_a_negative_throughput_or_slowdown(requests, alone):
    among = [make_timing(chunks_of(rows), n=n, sent_us=at) for n, (rows, at) in enumerate(requests)]
    paces = [
        Pace(output_tokens_per_s=found.output_tokens_per_s, ttft_s=found.ttft_s)
        for found in map(figures_of, (*among, make_timing(chunks_of(alone))))
    ]

    found = [system_tokens_per_s(make_run(*among))]
    for pace in paces:
        times = slowdown(paces[-1], pace)
        found += [times.output_tokens_per_s, times.ttft_s]

    assert all(value is None or (math.isfinite(value) and value >= 0) for value in found)


@given(st.lists(st.integers(min_value=0, max_value=10**9)), st.data())
def test_arrivals_keep_every_token(times, data):
    times.sort()
    tokens = [data.draw(st.integers(min_value=0, max_value=50)) for _ in times]

    came = arrivals(times, tokens)

    assert sum(tokens) == sum(came.tokens)
    assert list(came.at_us) == sorted(set(came.at_us))
