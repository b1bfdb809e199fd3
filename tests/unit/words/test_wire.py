import json
from datetime import UTC, datetime, timedelta

import pytest
from support.timings import make_run, make_timing

from pacewatch.words.errors import WireError
from pacewatch.words.flag import Flag
from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import Load, Purpose, Slot
from pacewatch.words.timing import Fault, ProviderTokens, RateLimits, ServerTimings
from pacewatch.words.wire import Task, decode_task, encode_run, encode_task, probe_queue

SLOT = Slot(
    run_id=make_run().run_id,
    endpoint="groq/gpt-oss-120b",
    region="eu-west",
    workload="standard",
    load=Load.SINGLE,
    purpose=Purpose.SCHEDULED,
    slot_at=datetime(2026, 3, 1, 12, tzinfo=UTC),
    valid_until=datetime(2026, 3, 1, 12, 30, tzinfo=UTC),
)


def test_a_task_names_the_run_and_nothing_more():
    task = encode_task(SLOT)

    assert {
        "v": 1,
        "run": str(SLOT.run_id),
        "endpoint": "groq/gpt-oss-120b",
        "workload": "standard",
        "load": "single",
        "slot_at": "2026-03-01T12:00:00Z",
        "purpose": "scheduled",
        "valid_until": "2026-03-01T12:30:00Z",
    } == task
    assert probe_queue(SLOT.region) == "probe.eu-west"


def test_a_task_is_read_back_whole():
    expected = Task(
        run_id=SLOT.run_id,
        endpoint=SLOT.endpoint,
        workload=SLOT.workload,
        load=SLOT.load,
        slot_at=SLOT.slot_at,
        purpose=SLOT.purpose,
        valid_until=SLOT.slot_at + timedelta(minutes=30),
    )

    assert expected == decode_task(json.loads(json.dumps(encode_task(SLOT))))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"v": 2}, "task: version 2 is not known (known: 1)"),
        ({"v": "x" * 99}, "task: version 'xxxx"),
        ({"run": "no"}, "task: badly formed hexadecimal UUID string"),
        ({"run": 7}, "task: run must be a string of at most 300 characters"),
        ({"endpoint": "a" * 301}, "task: endpoint must be a string of at most 300 characters"),
        ({"endpoint": "http://x"}, 'task: "http://x" is no endpoint id'),
        ({"workload": "../x"}, "task: workload must be a name of a-z 0-9 . _ -"),
        ({"load": "both"}, "task: 'both' is not a valid Load"),
        ({"purpose": "fun"}, "task: 'fun' is not a valid Purpose"),
        ({"slot_at": "2026-03-01T12:00:00"}, "task: moment 2026-03-01T12:00:00 has no zone"),
        ({"valid_until": None}, "task: valid_until must be a string"),
        ({"base_url": "http://evil"}, "task: unknown field 'base_url'"),
    ],
)
def test_a_forged_task_is_refused_in_words(changed, message):
    with pytest.raises(WireError) as refused:
        decode_task(encode_task(SLOT) | changed)

    assert str(refused.value).startswith(message)


@pytest.mark.parametrize("raw", [None, [], "task", 7])
def test_a_task_that_is_no_object_is_refused(raw):
    with pytest.raises(WireError, match="a JSON object is needed"):
        decode_task(raw)


def test_a_run_record_holds_what_was_seen_and_no_figure():
    timing = make_timing(
        outcome=Outcome.STREAM_ERROR,
        fault=Fault(status=200, type="overloaded_error", retry_after_s=2.0),
        flags=(Flag.CLOCK_GAP,),
        provider_tokens=ProviderTokens(input=10, output=3),
        server_timings=ServerTimings(queue_s=0.1, as_told={"queue_time": 0.1}),
        limits=RateLimits(requests_left=5),
    )

    record = encode_run(make_run(timing))
    request = record["requests"][0]

    assert record == json.loads(json.dumps(record))
    assert request["error"] == {"status": 200, "type": "overloaded_error", "retry_after_s": 2.0}
    assert request["flags"] == ["clock_gap"]
    assert request["connection"]["rtt_us"] == [None, None]
    assert {"at_us", "bytes", "tokens", "kind"} == request["chunks"].keys()
    assert request["server_timings"]["as_told"] == {"queue_time": 0.1}
    assert request["limits"]["requests_left"] == 5
    assert "figures" not in json.dumps(record)


def test_what_was_not_told_is_null():
    request = encode_run(make_run())["requests"][0]

    assert [request[name] for name in ("error", "provider_tokens", "server_timings", "limits")] == [
        None,
        None,
        None,
        None,
    ]
