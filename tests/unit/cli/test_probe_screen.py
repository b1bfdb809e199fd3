from dataclasses import replace

import pytest
from support.probing import own_endpoint
from support.timings import make_chunks, make_run, make_timing

from pacewatch.cli.probe_screen import screen, timeline
from pacewatch.cli.render import to_string
from pacewatch.words.flag import Flag
from pacewatch.words.outcome import Outcome
from pacewatch.words.timing import Chunks, Connection, Fault, ProviderTokens, ServerTimings

ENDPOINT = own_endpoint("http://127.0.0.1:9911/v1")


def answer(**fields):
    """An answer of 300 chunks at 100 tokens/s that stalled for a second half-way."""
    at_us = [400_000 + n * 10_000 + (1_000_000 if n > 150 else 0) for n in range(300)]
    return make_timing(
        Chunks(
            at_us=tuple(at_us),
            size_bytes=(5,) * 300,
            tokens=(1,) * 300,
            kind="r" * 100 + "a" * 200,
        ),
        connection=Connection(
            dns_us=1_200, connect_us=18_000, tls_us=21_000, http="1.1", rtt_us=(17_500, 17_800)
        ),
        provider_tokens=ProviderTokens(input=100, output=310, reasoning=105, cached_input=0),
        server_timings=ServerTimings(
            queue_s=0.018, prompt_s=0.004, total_s=4.1, as_told={"queue_time": 0.018}
        ),
        flags=(Flag.TRUNCATED,),
        **fields,
    )


def shown(timing, width, **fields):
    run = replace(make_run(timing), endpoint=ENDPOINT.id, region="local", **fields)
    return to_string(*screen(run, limits=ENDPOINT.limits, width=width), width=width)


@pytest.mark.parametrize("width", [50, 80, 140])
def test_a_good_answer_shows_its_figures_and_when_its_tokens_came(golden, width):
    golden(f"cli/probe-{width}.txt", shown(answer(), width, cost_usd=0.00123))


def test_a_failure_says_what_it_means_and_shows_no_figure(golden):
    timing = answer(
        outcome=Outcome.DISCONNECTED,
        fault=Fault(status=200, type="ECONNRESET", retry_after_s=2.0),
    )

    golden("cli/probe-failed.txt", shown(replace(timing, provider_tokens=None), 80))


@pytest.mark.parametrize("width", [40, 60, 100])
@pytest.mark.parametrize("first_ms", [0.001, 20, 300, 550, 599, 600])
def test_the_times_stand_in_one_line_wherever_the_first_token_came(width, first_ms):
    chunks = Chunks(
        at_us=(round(first_ms * 1000), 600_000), size_bytes=(5, 5), tokens=(6, 6), kind="aa"
    )
    columns, axis = timeline(chunks, width=width)

    assert len(columns.plain) == len(axis.plain) == width
    assert "^" in axis.plain


def test_one_chunk_alone_has_a_timeline_too():
    chunks = Chunks(at_us=(600_000,), size_bytes=(5,), tokens=(6,), kind="a")
    columns, axis = timeline(chunks, width=40)

    assert columns.plain == " " * 39 + "█"
    assert axis.plain == "sent".ljust(32) + "600 ms ^"


def test_a_limit_that_was_reached_is_told_with_the_option_that_sets_it():
    timing = make_timing(outcome=Outcome.TIMEOUT_FIRST_TOKEN)

    assert "first-token limit (5.00 s, which --first-token sets)" in shown(timing, 140)


def test_a_limit_of_another_host_is_not_told():
    run = make_run(make_timing(outcome=Outcome.TIMEOUT_STALL))

    assert "which --stall sets" not in to_string(*screen(run, limits=None, width=140), width=140)


def test_what_the_provider_tells_in_no_known_form_stands_in_its_own_words():
    told = ServerTimings(as_told={"wall": 1.5, "shard": 7})

    assert "wall 1.5, shard 7" in shown(make_timing(server_timings=told), 140)


def test_nothing_is_said_of_a_provider_that_told_nothing():
    assert "Provider's" not in shown(make_timing(), 140)


def test_a_request_that_reached_nobody_shows_no_empty_table():
    timing = make_timing(make_chunks(), outcome=Outcome.DNS)

    assert "Figure" not in shown(timing, 80)
