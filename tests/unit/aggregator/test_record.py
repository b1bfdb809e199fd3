"""The record as strangers write it, against the worker's own way of writing it."""

import json
from copy import deepcopy
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.timings import make_chunks, make_run, make_timing

from aggregator.reading import AheadError, packed, read_record, stored_requests, unpacked
from aggregator.record import MAX_REQUESTS, run_schema
from aggregator.record_values import LONGEST_US, MAX_AS_TOLD
from pacewatch.words.errors import WireError
from pacewatch.words.flag import CENTRE_FLAGS, Flag
from pacewatch.words.outcome import Decline, Outcome
from pacewatch.words.slot import Load
from pacewatch.words.timing import (
    Connection,
    Fault,
    Identity,
    ProviderTokens,
    RateLimits,
    ServerTimings,
    Stamp,
)
from pacewatch.words.wire import encode_run

micros = st.integers(0, LONGEST_US)
seconds = st.floats(0, 1e6)
words = st.text('aé𝄞 "\\\n\x7f', max_size=8)


def maybe(strategy):
    return st.none() | strategy


@st.composite
def chunk_columns(draw):
    at_us = sorted(draw(st.lists(micros, max_size=8)))
    counts = st.lists(st.integers(0, 50), min_size=len(at_us), max_size=len(at_us))
    kind = draw(st.text("rat", min_size=len(at_us), max_size=len(at_us)))
    made = make_chunks(*(0 for _ in at_us))
    return type(made)(
        at_us=tuple(at_us),
        size_bytes=tuple(draw(counts)),
        tokens=tuple(draw(counts)),
        kind=kind,
    )


@st.composite
def any_timing(draw, n):
    flags = st.sampled_from(sorted(set(Flag) - CENTRE_FLAGS))
    return make_timing(
        draw(chunk_columns()),
        n=n,
        outcome=draw(st.sampled_from(Outcome)),
        fault=draw(
            maybe(
                st.builds(
                    Fault,
                    status=maybe(st.integers(100, 599)),
                    type=maybe(words),
                    retry_after_s=maybe(seconds),
                )
            )
        ),
        flags=tuple(draw(st.lists(flags, max_size=3))),
        connection=draw(
            st.builds(
                Connection,
                reused=st.booleans(),
                dns_us=maybe(micros),
                connect_us=maybe(micros),
                tls_us=maybe(micros),
                via_proxy=st.booleans(),
                http=maybe(words),
                rtt_us=st.tuples(maybe(micros), maybe(micros)),
                retransmits=maybe(st.integers(0, 1000)),
            )
        ),
        sent_us=draw(maybe(micros)),
        headers_us=draw(maybe(micros)),
        end_us=draw(maybe(micros)),
        stamp=draw(st.sampled_from(Stamp)),
        provider_tokens=draw(maybe(st.builds(ProviderTokens, input=maybe(st.integers(0, 10**6))))),
        server_timings=draw(
            maybe(
                st.builds(
                    ServerTimings,
                    queue_s=maybe(seconds),
                    as_told=st.dictionaries(words, maybe(seconds) | words, max_size=3),
                )
            )
        ),
        identity=draw(st.builds(Identity, model=maybe(words), fingerprint=maybe(words))),
        limits=draw(maybe(st.builds(RateLimits, tokens_left=maybe(st.integers(0, 10**9))))),
        finish=draw(maybe(words)),
    )


@st.composite
def any_run(draw):
    count = draw(st.integers(1, 3))
    return make_run(
        *(draw(any_timing(n)) for n in range(count)),
        load=Load.PARALLEL if count > 1 else draw(st.sampled_from(Load)),
        simulated=draw(st.booleans()),
        beside=draw(st.integers(0, 100)),
        cost_usd=draw(maybe(st.floats(0, 100))),
    )


@settings(max_examples=15)
@given(any_run())
def test_what_the_worker_writes_is_read_as_it_was(run):
    assert read_record(json.loads(json.dumps(encode_run(run)))) == run


def test_a_declined_run_is_read_as_it_was():
    run = make_run(declined=Decline.BUDGET, timings=(), endpoint_hash="")

    assert read_record(encode_run(run)) == run


def test_unknown_members_are_ignored_wherever_they_stand():
    record = encode_run(make_run())
    more = deepcopy(record)
    for part in (more, more["worker"], more["requests"][0], more["requests"][0]["chunks"]):
        part["later"] = {"some": ["thing"]}

    assert read_record(more) == read_record(record)


def test_a_record_may_leave_out_what_has_no_value():
    record = encode_run(make_run())
    for name in ("definition", "declined", "beside", "cost_usd"):
        del record[name]
    request = record["requests"][0]
    record["requests"] = [{"n": 0, "outcome": "dns"}]

    run = read_record(record)

    assert run.timings[0] == make_timing(
        make_chunks(), outcome=Outcome.DNS, sent_us=None, headers_us=None, end_us=None, finish=None
    )
    assert request["outcome"] == "ok"


def changed(path, value):
    """A good record with one member changed."""
    record = encode_run(make_run(make_timing(), make_timing(n=1)))
    *way, last = path.split(".")
    part = record
    for name in way:
        part = part[int(name) if name.isdecimal() else name]
    if value is KeyError:
        del part[last]
    else:
        part[last] = value
    return record


DEEP = json.loads("[" * 400 + "]" * 400)


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("v", KeyError, "v: Field required"),
        ("v", "1", "v: Input should be a valid integer"),
        ("v", 0, "v: Input should be greater than or equal to 1"),
        ("run", "no uuid", "run: Input should be a valid UUID"),
        ("region", "", "region: String should have at least 1 character"),
        ("region", "x" * 301, "region: String should have at most 300 characters"),
        ("endpoint", "a\0b", "endpoint: holds a NUL character"),
        ("endpoint", "\ud800", "endpoint: "),
        ("simulated", 1, "simulated: Input should be a valid boolean"),
        ("started_at", "2026-12-02T12:00:00", "started_at: Input should have timezone info"),
        ("started_at", "0001-01-01T00:00:00+14:00", "started_at: is beyond the calendar"),
        ("declined", "lazy", "declined: Input should be "),
        (
            "declined",
            "late",
            "record: either requests or a declined reason is needed, and not both",
        ),
        ("requests", [], "record: either requests or a declined reason is needed, and not both"),
        ("load", "single", "record: a single run has one request"),
        ("cost_usd", float("nan"), "cost_usd: Input should be a finite number"),
        ("cost_usd", -1, "cost_usd: Input should be greater than or equal to 0"),
        ("beside", 10**9, "beside: Input should be less than or equal to 30000"),
        ("requests.1.n", 0, "record: two requests have the same n"),
        ("requests.0.n", MAX_REQUESTS, "requests.0.n: Input should be less than 100"),
        ("requests.0.outcome", "fine", "requests.0.outcome: Input should be "),
        ("requests.0.flags", ["odd"], "requests.0.flags.0: Input should be "),
        ("requests.0.flags", ["throttled"], "requests.0: the flags inconclusive, throttled are"),
        ("requests.0.sent_us", -1, "requests.0.sent_us: Input should be greater"),
        ("requests.0.sent_us", 1.5, "requests.0.sent_us: Input should be a valid integer"),
        ("requests.0.end_us", LONGEST_US + 1, "requests.0.end_us: Input should be less than"),
        ("requests.0.error", {"status": 99}, "requests.0.error.status: Input should be greater"),
        ("requests.0.chunks.kind", "aax", "requests.0.chunks.kind: String should match pattern"),
        ("requests.0.chunks.kind", "aa", "requests.0.chunks: at_us, bytes, tokens and kind differ"),
        ("requests.0.chunks.at_us", [3, 2, 1], "requests.0.chunks: at_us falls"),
        ("requests.0.chunks.at_us", [1, True, 2], "requests.0.chunks.at_us.1: Input should be"),
        ("requests.0.chunks.tokens", [9**7, 9**7, 9**7], "requests.0.chunks: more than 10000000"),
        ("requests.0.server_timings", {"as_told": {"x": "y" * 9000}}, "requests.0.server_timings."),
        ("figures", {}, "figures: a record holds what was seen"),
        ("worker.figures", 1, "figures: a record holds what was seen"),
        ("requests.0.figures", None, "figures: a record holds what was seen"),
        ("requests.0.later", [[{"figures": 1}]], "figures: a record holds what was seen"),
    ],
)
def test_a_record_beyond_its_bounds_is_refused_with_the_member_at_fault(path, value, reason):
    with pytest.raises(WireError) as caught:
        read_record(changed(path, value))

    assert str(caught.value).startswith(reason)
    assert len(str(caught.value)) <= 300


def test_the_providers_own_timings_may_not_be_endless():
    told = {"x": "y" * (MAX_AS_TOLD - 20)}
    assert read_record(changed("requests.0.server_timings", {"as_told": told}))

    with pytest.raises(WireError):
        read_record(changed("requests.0.server_timings", {"as_told": {"deep": DEEP}, "x": 1}))


@pytest.mark.parametrize("told", [{"a": ["\ud800"]}, {"a": {"\ud800": 1}}, {"a": float("inf")}])
def test_the_providers_own_timings_hold_nothing_that_could_not_be_shown_again(told):
    with pytest.raises(WireError, match="as_told: holds what cannot be told on"):
        read_record(changed("requests.0.server_timings", {"as_told": told}))


def test_a_later_version_is_told_apart_from_a_wrong_one():
    with pytest.raises(AheadError, match="version 2 of the record is not known yet"):
        read_record({"v": 2, "requests": "another form"})


def test_a_record_is_kept_as_it_was_pushed():
    record = encode_run(make_run()) | {"later": "ü\ud800"}

    assert unpacked(packed(record)) == record


@pytest.mark.parametrize("cut", [0, 1, 20, -1])
def test_a_damaged_record_is_refused_in_words_and_has_no_requests(cut):
    damaged = packed(encode_run(make_run()))[:cut]

    with pytest.raises(WireError, match="as the store keeps it cannot be read"):
        unpacked(damaged)
    assert stored_requests(damaged) == []


def test_only_requests_of_a_known_form_are_told():
    record = encode_run(make_run())

    assert stored_requests(packed(record)) == record["requests"]
    assert stored_requests(packed({"v": 2, "requests": "another form"})) == []
    assert stored_requests(packed({"v": 2})) == []


def test_the_schema_names_every_member_that_the_worker_writes():
    schema = run_schema()
    record = encode_run(make_run())

    assert set(record) == set(schema["properties"])
    assert set(record["requests"][0]) == set(schema["$defs"]["RequestPart"]["properties"])
    assert schema["properties"]["requests"]["maxItems"] == MAX_REQUESTS
    assert UUID(record["run"])
