import json
from dataclasses import replace

import pytest
from support.probing import own_endpoint
from support.seen import SECOND_NS, billed, make_seen
from support.timings import make_chunks, make_run, make_timing

from pacewatch.words.endpoint import Price
from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import WORKLOADS
from pacewatch.words.spending import Demand
from pacewatch.words.timing import Fault, Identity, ServerTimings, Stamp
from probe.classify import Ending
from probe.cost import cost_usd, spent_on
from probe.protocols.interface import Finish
from probe.record import timing_of
from probe.seen import Seen
from probe.stamps import Portion

KEY = "test-key-0123456789"
PRICED = replace(
    own_endpoint("http://host"), price=Price(input_usd=2.0, output_usd=10.0, source="test")
)


def timed(seen: Seen, earliest_ns: int = SECOND_NS):
    return timing_of(
        seen, n=3, link=None, earliest_ns=earliest_ns, output_tokens=2, secrets=(KEY, "a prompt")
    )


def test_times_count_from_the_requests_own_send_in_whole_microseconds():
    timing = timed(make_seen("Salt", " air"), earliest_ns=SECOND_NS - 1_500_999)

    assert timing.n == 3
    assert timing.sent_us == 1_500
    assert timing.headers_us == 90_000
    assert timing.chunks.at_us == (200_000, 300_000)
    assert timing.end_us == 900_000


def test_chunks_have_their_size_tokens_and_kind_and_no_text():
    timing = timed(make_seen("Café", " 潮", kinds="ra"))

    assert timing.chunks.size_bytes == (5, 4)
    assert timing.chunks.kind == "ra"
    assert sum(timing.chunks.tokens) > 2
    assert "Caf" not in repr(timing)


def test_a_stamp_is_the_kernels_only_where_that_of_every_chunk_is():
    answer = Portion(data=b"x", stamp_ns=1)

    assert timed(make_seen("Salt", " air", first=answer, last=answer)).stamp is Stamp.KERNEL
    assert timed(make_seen("Salt", first=answer, is_kernel=False)).stamp is Stamp.USER
    assert timed(Seen(ending=Ending(outcome=Outcome.DNS))).stamp is Stamp.USER


def test_a_request_that_was_never_sent_has_no_times():
    seen = Seen(ending=Ending(outcome=Outcome.DNS, fault=Fault(type="EAI_NONAME")))
    timing = timed(seen)

    assert (timing.sent_us, timing.headers_us, timing.end_us) == (None, None, None)
    assert timing.outcome is Outcome.DNS


def test_a_request_without_an_ending_is_our_own_fault():
    assert timed(Seen()).outcome is Outcome.INTERNAL


def test_no_word_of_a_provider_repeats_the_key_or_the_prompt():
    seen = make_seen(
        "Salt",
        ending=Ending(outcome=Outcome.AUTH, fault=Fault(status=401, type=f"bad:{KEY}")),
        identity=Identity(model=KEY, fingerprint=KEY, tier="a prompt", request_id=f"r-{KEY}"),
        finish=Finish(word=f"stop {KEY}"),
        told=ServerTimings(total_s=1.0, as_told={"time": 1.0, "who": KEY, "node": "n1"}),
    )
    timing = timed(seen)

    assert KEY not in json.dumps(repr(timing))
    assert "a prompt" not in repr(timing)
    assert timing.fault == Fault(status=401, type=None)
    assert timing.server_timings is not None
    assert dict(timing.server_timings.as_told) == {"time": 1.0, "node": "n1"}
    assert timing.server_timings.total_s == 1.0


def test_a_run_costs_what_the_provider_says_it_used():
    timings = [timed(make_seen("Salt", tokens=billed(100))) for _ in range(2)]

    assert cost_usd(timings, PRICED, WORKLOADS["short"]) == pytest.approx(
        2 * (20 * 2.0 + 100 * 10.0) / 1e6
    )


def test_without_usage_a_run_costs_the_prompt_and_the_counted_tokens():
    timing = timed(make_seen("Salt", " air"))

    assert cost_usd([timing], PRICED, WORKLOADS["short"]) == pytest.approx(
        (100 * 2.0 + 2 * 10.0) / 1e6
    )


def test_a_refused_request_costs_nothing_and_an_unknown_price_is_no_cost():
    refused = timed(Seen(ending=Ending(outcome=Outcome.RATE_LIMITED), sent_ns=SECOND_NS))

    assert cost_usd([refused], PRICED, WORKLOADS["short"]) == 0
    assert cost_usd([refused], own_endpoint("http://host"), WORKLOADS["short"]) is None


def test_a_run_came_to_the_requests_that_were_sent_and_the_tokens_that_came():
    sent, refused = make_timing(), make_timing(make_chunks(), outcome=Outcome.RATE_LIMITED)
    unsent = make_timing(make_chunks(), outcome=Outcome.CONNECT, sent_us=None, finish=None)
    run = make_run(sent, refused, unsent, cost_usd=0.25)

    assert spent_on(run, WORKLOADS["short"]) == Demand(requests=2, tokens=103, usd=0.25)
