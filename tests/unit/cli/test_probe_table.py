import re

import pytest
from support.timings import make_chunks, make_run, make_timing

from pacewatch.cli.probe_table import parallel_screen, repeated_screen
from pacewatch.cli.render import to_string
from pacewatch.words.flag import Flag
from pacewatch.words.outcome import Outcome
from pacewatch.words.timing import Fault

LIMITED = Fault(status=429, type="rate_limit_exceeded", retry_after_s=7.0)


def answer(n, **fields):
    """The n-th of answers that each come 50 ms later than the one before."""
    at_ms = [200 + 50 * n + 20 * token for token in range(40)]
    chunks = make_chunks(*at_ms, kind="r" * 10 + "a" * 30)
    return make_timing(chunks, n=n, sent_us=100 * n, **fields)


def four():
    """A run of four: one is flagged, one was refused."""
    return make_run(
        answer(0),
        answer(1),
        answer(2, flags=(Flag.CLOCK_GAP,)),
        make_timing(make_chunks(), n=3, outcome=Outcome.RATE_LIMITED, fault=LIMITED),
        cost_usd=0.0123,
    )


def shown(parts, width):
    return to_string(*parts, width=width)


def row_of(text, label):
    """The words of the table's row of that label."""
    return next(line.split() for line in text.splitlines() if line.split()[:1] == [label])


@pytest.mark.parametrize("width", [56, 80, 140])
def test_a_parallel_run_shows_each_request_and_all_together(golden, width):
    golden(f"cli/probe-parallel-{width}.txt", shown(parallel_screen(four(), width=width), width))


def test_repeated_runs_show_each_run_and_their_medians(golden):
    runs = [make_run(answer(0), cost_usd=0.01), make_run(answer(2)), make_run(answer(1))]

    golden("cli/probe-repeated.txt", shown(repeated_screen(runs, width=80), 80))


def test_repeated_parallel_runs_count_one_each():
    runs = [make_run(answer(n), answer(n + 2)) for n in range(3)]
    text = shown(repeated_screen(runs, width=140), 140)

    assert text.count("2 of 2 ok") == 3
    assert row_of(text, "median")[1:3] == ["300", "ms"]


def test_what_a_flag_leaves_out_is_in_parentheses_and_not_in_the_medians():
    run = make_run(answer(0), answer(1), answer(9, flags=(Flag.CACHED,)))
    text = shown(parallel_screen(run, width=140), 140)

    assert "(650 ms)" in text
    assert row_of(text, "lowest")[1:3] == ["200", "ms"]
    assert row_of(text, "highest")[1:3] == ["250", "ms"]


def test_a_run_without_any_token_has_no_timeline_and_no_medians():
    refused = [
        make_timing(make_chunks(), n=n, outcome=Outcome.RATE_LIMITED, fault=LIMITED)
        for n in range(2)
    ]
    text = shown(parallel_screen(make_run(*refused), width=140), 140)

    assert "0 of 2 ok, throttled, inconclusive" in text
    assert "sent" not in text
    assert "lowest" not in text


def spoken(start_ms, every_ms):
    return make_chunks(*(start_ms + every_ms * token for token in range(40)))


def test_a_parallel_run_says_how_much_slower_each_request_was_than_one_alone():
    alone = make_run(make_timing(spoken(200, 10)), cost_usd=0.01)
    run = make_run(*(make_timing(spoken(300, 20), n=n) for n in range(4)), cost_usd=0.04)
    text = shown(parallel_screen(run, alone=alone, width=140), 140)

    assert (
        "Each request: speed 2.0 times slower than alone (50.0 against 100 tokens/s), "
        "first token 1.5 times slower than alone (300 ms against 200 ms)"
    ) in text
    assert "Price US$ 0.05 of these runs" in text


def test_the_throughput_of_several_runs_is_told_with_its_interval_where_there_is_one():
    def runs(count):
        return [make_run(*(answer(n) for n in range(2)), name=f"run {i}") for i in range(count)]

    few, enough = (shown(repeated_screen(runs(n), width=140), 140) for n in (4, 5))

    assert "tokens/s: all tokens" in few
    assert "the median of 4 runs" in few
    assert re.search(r"tokens/s \([\d.]+\u2013[\d.]+, 90 % interval\): all tokens", enough)


def test_a_request_alone_that_failed_is_no_measure():
    alone = make_run(make_timing(make_chunks(), outcome=Outcome.RATE_LIMITED, fault=LIMITED))
    text = shown(parallel_screen(four(), alone=alone, width=140), 140)

    assert "One request alone: rate limited; no slowdown known" in text


def test_a_throttled_run_is_never_slow():
    alone = make_run(make_timing(spoken(200, 10)))
    text = shown(parallel_screen(four(), alone=alone, width=140), 140)

    assert "throttled" in text
    assert "slower" not in text
