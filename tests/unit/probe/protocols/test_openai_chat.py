import json
from typing import Any

import pytest
from support.probing import own_endpoint

from pacewatch.words.timing import Identity, ProviderTokens, ServerTimings
from probe.protocols.interface import (
    Chunk,
    End,
    Finish,
    Frame,
    MalformedAnswer,
    Piece,
    StreamFault,
    Usage,
)
from probe.protocols.openai_chat import OpenAIChat
from probe.protocols.sse import EventStream

CHAT = OpenAIChat()
NOBODY = Identity()


def read(event: Any, name: str = "") -> list[Piece]:
    """The pieces of an event, but for who answers where it does not say."""
    data = event if isinstance(event, str) else json.dumps(event)
    return [piece for piece in CHAT.read(Frame(name=name, data=data)) if piece != NOBODY]


def delta(**members: Any) -> list[Piece]:
    """The pieces of an event with that delta."""
    return read({"choices": [{"index": 0, "delta": members}]})


def usage(**members: Any) -> ProviderTokens:
    """The tokens of an event with that usage."""
    (piece,) = [one for one in read({"choices": [], "usage": members}) if isinstance(one, Usage)]
    return piece.tokens


def test_the_request_asks_for_a_stream_with_usage():
    endpoint = own_endpoint("http://host/v1")

    assert CHAT.path(endpoint) == "/chat/completions"
    assert CHAT.headers(endpoint) == {}
    assert CHAT.body(endpoint, "words", 300) == {
        "model": "tide-1",
        "messages": [{"role": "user", "content": "words"}],
        "max_tokens": 300,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert isinstance(CHAT.framing(), EventStream)


def test_an_endpoint_may_name_the_limit_otherwise_and_leave_usage_out():
    endpoint = own_endpoint(
        "http://host/v1",
        body={"max_completion_tokens": True, "stream_options": False, "store": False, "seed": 1},
    )
    body = CHAT.body(endpoint, "words", 300)

    assert body["max_completion_tokens"] == 300
    assert body.keys().isdisjoint({"max_tokens", "stream_options"})
    assert (body["store"], body["seed"]) == (False, 1)


def test_done_is_the_end_and_nothing_is_waited_for_after_it():
    assert read("[DONE]") == [End(is_last=True)]
    assert read("[DONE] \t") == [End(is_last=True)]


@pytest.mark.parametrize("data", ["", "  ", "1", "null", '"ping"', "[1]"])
def test_an_event_that_is_no_object_holds_nothing(data):
    assert read(data) == []


def test_an_event_named_a_ping_may_hold_anything():
    assert read("not json", name="ping") == []


@pytest.mark.parametrize("data", ["{", "data", "[DONE", '{"a": ' + "[" * 100_000])
def test_what_is_no_json_is_malformed(data):
    with pytest.raises(MalformedAnswer, match="bad_json"):
        read(data)


def test_content_is_answer():
    assert delta(content="Salt") == [Chunk(kind="a", text="Salt")]
    assert delta(content=" ") == [Chunk(kind="a", text=" ")]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_text", "thinking"])
def test_reasoning_goes_by_several_names(field):
    assert delta(**{"content": None, field: "Low"}) == [Chunk(kind="r", text="Low")]


def test_mirrored_reasoning_counts_once():
    told = delta(reasoning="Low", reasoning_content="Low", reasoning_details=[{"text": "Low"}])

    assert told == [Chunk(kind="r", text="Low")]


def test_an_empty_mirror_does_not_hide_the_other():
    assert delta(reasoning_content="", reasoning="Low") == [Chunk(kind="r", text="Low")]


def test_reasoning_details_are_read_where_nothing_else_tells_it():
    told = delta(
        content="",
        reasoning_details=[
            {"type": "reasoning.summary", "summary": "Low"},
            {"type": "reasoning.text", "text": " tide", "signature": "c2Fs"},
            {"type": "reasoning.encrypted", "data": "c2FsdA=="},
        ],
    )

    assert told == [Chunk(kind="r", text="Low tide")]


def test_reasoning_and_answer_of_one_event_are_two_chunks_reasoning_first():
    told = delta(content="North", reasoning="Look")

    assert told == [Chunk(kind="r", text="Look"), Chunk(kind="a", text="North")]


def test_content_may_be_a_list_of_parts():
    told = delta(
        content=[
            {"type": "thinking", "thinking": [{"type": "text", "text": "Look"}]},
            {"type": "reasoning", "text": " up"},
            {"type": "text", "text": "North"},
            {"type": "output_text", "text": " wind"},
            {"type": "reference", "ids": [1]},
            " now",
            7,
        ]
    )

    assert told == [Chunk(kind="r", text="Look up"), Chunk(kind="a", text="North wind now")]


def test_content_may_be_one_part():
    assert delta(content={"type": "text", "text": "North"}) == [Chunk(kind="a", text="North")]
    assert delta(content={"text": "North"}) == [Chunk(kind="a", text="North")]
    assert delta(content=7) == []


def test_a_refusal_is_written_by_the_model():
    assert delta(content=None, refusal="I won't") == [Chunk(kind="a", text="I won't")]


def test_tool_calls_are_text_of_their_own_kind_without_their_ids():
    told = delta(
        tool_calls=[
            {"index": 0, "id": "call_1", "function": {"name": "look", "arguments": '{"a"'}},
            {"index": 1, "function": {"arguments": ": 1}"}},
            {"index": 2, "function": None},
            {"index": 3, "function": "look"},
            "odd",
        ]
    )

    assert told == [Chunk(kind="t", text='look{"a": 1}')]
    assert delta(function_call={"name": "look", "arguments": "{}"}) == [
        Chunk(kind="t", text="look{}")
    ]


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"role": "assistant"},
        {"role": "assistant", "content": ""},
        {"content": None, "tool_calls": []},
        {"tool_calls": [{"index": 0, "id": "call_1"}]},
        {"reasoning": ""},
        {"reasoning": None, "reasoning_details": []},
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": "c2Fs"}]},
        {"content": [{"type": "thinking", "thinking": ""}]},
        {"content": "", "refusal": None},
    ],
)
def test_what_holds_no_text_is_no_chunk(members):
    assert delta(**members) == []


def test_only_the_choice_with_index_0_is_read():
    told = read(
        {
            "choices": [
                {"index": 1, "delta": {"content": "Gulls"}, "finish_reason": "stop"},
                {"index": 0, "delta": {"content": "Ships"}},
            ]
        }
    )

    assert told == [Chunk(kind="a", text="Ships")]
    assert read({"choices": [{"index": 1, "delta": {"content": "Gulls"}}]}) == []


def test_a_choice_without_an_index_is_the_first():
    assert read({"choices": [{"delta": {"content": "Ships"}}]}) == [Chunk(kind="a", text="Ships")]


@pytest.mark.parametrize("choices", [None, [], {}, {"a": 1}, ["odd"], [{"index": 0, "delta": []}]])
def test_odd_choices_hold_nothing(choices):
    assert read({"choices": choices}) == []


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("stop", Finish(word="stop")),
        ("tool_calls", Finish(word="tool_calls")),
        ("length", Finish(word="length", is_truncated=True)),
        ("content_filter", Finish(word="content_filter", is_filtered=True)),
    ],
)
def test_a_finish_reason_is_an_end_that_usage_may_follow(word, finish):
    told = read({"choices": [{"index": 0, "delta": {}, "finish_reason": word}]})

    assert told == [finish, End()]


def test_a_finish_reason_that_is_an_error_is_one():
    told = read({"choices": [{"index": 0, "delta": {}, "finish_reason": "error"}]})

    assert told == [StreamFault(code="error")]


def test_an_error_inside_a_choice_keeps_its_code():
    choice = {"index": 0, "delta": {}, "finish_reason": "error", "error": {"code": 502}}

    assert read({"choices": [choice]}) == [StreamFault(code="502")]


def test_a_tool_of_free_text_has_a_name_and_an_input():
    assert delta(tool_calls=[{"type": "custom", "custom": {"name": "sh", "input": " ls"}}]) == [
        Chunk(kind="t", text="sh ls")
    ]


def test_a_message_in_place_of_a_delta_is_read():
    message = {"index": 0, "message": {"role": "assistant", "content": "Low"}}

    assert read({"choices": [message]}) == [Chunk(kind="a", text="Low")]
    assert read({"choices": [{**message, "delta": {}}]}) == []


def test_the_last_text_may_come_with_finish_and_usage():
    told = read(
        {
            "choices": [{"index": 0, "delta": {"content": " loud"}, "finish_reason": "length"}],
            "usage": {"prompt_tokens": 27, "completion_tokens": 4},
            "perf_metrics": {"server-time-to-first-token": 0.083},
        }
    )

    assert told == [
        Chunk(kind="a", text=" loud"),
        Finish(word="length", is_truncated=True),
        End(),
        Usage(tokens=ProviderTokens(input=27, output=4)),
        ServerTimings(ttft_s=0.083, as_told={"server-time-to-first-token": 0.083}),
    ]


@pytest.mark.parametrize(
    ("event", "code"),
    [
        ({"error": {"message": "full", "type": "SERVICE_UNAVAILABLE", "code": 503}}, "503"),
        ({"error": {"message": "full", "type": "overloaded", "code": None}}, "overloaded"),
        ({"error": "full"}, "full"),
        ([{"error": {"code": 503, "status": "UNAVAILABLE"}}], "UNAVAILABLE"),
        ({"error": "It is full.", "error_type": "overloaded"}, "overloaded"),
        ({"error": {"message": "full", "type": "None", "code": "429"}}, "429"),
        ({"error": {"message": "full", "type": "null", "code": "None"}}, None),
        ({"error": "the line is full"}, None),
        ({"error": "full", "code": "E1"}, "E1"),
        ({"object": "error", "message": "full", "type": "BadRequest", "code": 400}, "400"),
        ({"type": "error", "error": {"type": "overloaded_error"}}, "overloaded_error"),
        ({"type": "error", "code": "E2"}, "E2"),
        ({"choices": [], "x_groq": {"id": "r", "error": "over_capacity"}}, "over_capacity"),
        ({"error": {"code": {"a": 1}, "type": "x" * 500}}, None),
        ({"message": "full", "type": "too_many_requests_error", "code": "queue"}, "queue"),
        ({"message": "full", "type": "ThrottlingException"}, "ThrottlingException"),
        ({"detail": "full"}, None),
        ({"choices": [{"delta": {}, "finish_reason": None, "error": {"code": 502}}]}, "502"),
    ],
)
def test_an_error_is_one_however_it_is_told(event, code):
    assert read(event) == [StreamFault(code=code)]


def test_an_event_named_an_error_is_one():
    assert read({"message": "full", "code": 7}, name="error") == [StreamFault(code="7")]
    assert read("overloaded", name="error") == [StreamFault(code="overloaded")]
    assert read("It is full.", name="error") == [StreamFault(code=None)]
    assert read({"message": "full"}, name="Exception") == [StreamFault(code=None)]


@pytest.mark.parametrize("data", ["[DONE]", " [DONE] ", "[DONE]\n"])
def test_white_space_around_the_last_mark_changes_nothing(data):
    assert CHAT.read(Frame(name="", data=data)) == (End(is_last=True),)


def test_no_error_is_none():
    told = read({"error": None, "x_groq": {"id": "r"}, "choices": [{"delta": {"content": "a"}}]})

    assert told == [Chunk(kind="a", text="a")]


def test_a_plain_body_may_tell_an_error():
    assert CHAT.read_whole(b'{"error": {"code": 502}}') == (StreamFault(code="502"),)
    assert CHAT.read_whole(b'[{"error": {"code": 502}}]') == (StreamFault(code="502"),)


@pytest.mark.parametrize("body", [b"", b"<html>", b"{", b"[]", b'{"choices": []}', b"[1]", b"1"])
def test_a_plain_body_without_an_error_is_malformed(body):
    with pytest.raises(MalformedAnswer, match="no_event_stream"):
        CHAT.read_whole(body)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"detail": "Not authenticated"}', None),
        (b'{"message": "the endpoint timed out"}', None),
        (b'{"success": false, "errors": [{"code": 7003, "message": "x"}]}', "7003"),
        (b'{"errors": ["x"]}', None),
    ],
)
def test_a_plain_body_may_tell_an_error_without_that_word(body, code):
    assert CHAT.read_whole(body) == (StreamFault(code=code),)


def test_a_message_of_a_gateway_is_no_error_and_neither_is_one_beside_choices():
    assert not any(
        isinstance(piece, StreamFault)
        for event in (
            {"message": "queued", "type": "status"},
            {"message": "ok", "code": 0, "choices": []},
        )
        for piece in read(event)
    )


@pytest.mark.parametrize(
    "told",
    [
        {"prompt_tokens_details": {"cached_tokens": 96}},
        {"input_tokens_details": {"cached_tokens": 96}},
        {"cached_tokens": 96},
        {"prompt_cache_hit_tokens": 96, "prompt_cache_miss_tokens": 4},
        {"prompt_tokens_details": {"cached_tokens": 0}, "prompt_cache_hit_tokens": 96},
        {"cache_read_input_tokens": 96},
        {"num_cached_tokens": 96},
    ],
)
def test_cached_input_goes_by_several_names(told):
    assert usage(prompt_tokens=100, completion_tokens=4, **told).cached_input == 96


def test_usage_is_told_in_one_form():
    told = usage(
        prompt_tokens=60,
        completion_tokens=40,
        total_tokens=100,
        completion_tokens_details={"reasoning_tokens": 12},
        prompt_tokens_details={"cached_tokens": 3},
    )

    assert told == ProviderTokens(input=60, output=40, reasoning=12, cached_input=3)


def test_cached_tokens_go_by_several_names():
    assert usage(prompt_tokens=60, prompt_cache_hit_tokens=8).cached_input == 8
    assert usage(prompt_tokens=60, cached_tokens=9).cached_input == 9
    told = read({"usage": {"prompt_tokens": 60}, "perf_metrics": {"cached-prompt-tokens": 7}})
    assert told[0] == Usage(tokens=ProviderTokens(input=60, cached_input=7))


def test_reasoning_that_is_told_beside_the_output_is_part_of_it():
    apart = {"completion_tokens_details": {"reasoning_tokens": 50}}

    assert usage(prompt_tokens=10, completion_tokens=20, total_tokens=80, **apart).output == 70
    assert usage(prompt_tokens=10, completion_tokens=20, **apart).output == 70
    assert usage(prompt_tokens=10, completion_tokens=60, total_tokens=70, **apart).output == 60


def test_usage_may_stand_in_a_choice_or_under_x_groq():
    tokens = {"prompt_tokens": 41, "completion_tokens": 5}
    expected = [Usage(tokens=ProviderTokens(input=41, output=5))]

    assert read({"choices": [{"index": 0, "delta": {}, "usage": tokens}]}) == expected
    assert read({"choices": [], "x_groq": {"id": "r", "usage": tokens}}) == expected
    assert read({"choices": [], "usage": [1]}) == []


def test_who_answers_is_told_once_and_the_same():
    event = {"id": "c1", "model": "tide-1", "system_fingerprint": "fp", "service_tier": "default"}
    first, second = read(event)[0], read(event)[0]

    assert first is second
    assert first == Identity(model="tide-1", fingerprint="fp", tier="default", request_id="c1")


@pytest.mark.parametrize(
    ("event", "timings"),
    [
        (
            {"time_info": {"queue_time": 0.1, "prompt_time": 0.2, "completion_time": 0.3,
                           "total_time": 0.6, "created": 1_790_000_000}},
            {"queue_s": 0.1, "prompt_s": 0.2, "completion_s": 0.3, "total_s": 0.6},
        ),
        (
            {"usage": {"prompt_tokens": 3, "time_to_first_token": 0.1, "total_latency": 0.4,
                       "completion_tokens_per_sec": 12.0,
                       "completion_tokens_after_first_per_sec": 16.0}},
            {"ttft_s": 0.1, "total_s": 0.4, "tokens_per_s": 16.0},
        ),
        (
            {"perf_metrics": {"server-time-to-first-token": "0.08",
                              "server-processing-time": 0.4}},
            {"ttft_s": 0.08, "total_s": 0.4},
        ),
        (
            {"perf_metrics": {"prefill-queue-duration": 0.01, "prefill-duration": 0.02,
                              "generation-duration": 0.3}},
            {"queue_s": 0.01, "prompt_s": 0.02, "completion_s": 0.3},
        ),
    ],
)  # fmt: skip
def test_the_servers_own_timings_have_one_form(event, timings):
    (told,) = [piece for piece in read(event) if isinstance(piece, ServerTimings)]

    assert {name: getattr(told, name) for name in timings} == timings
    members = {key: value for part in event.values() for key, value in part.items()}
    assert dict(told.as_told) == {k: v for k, v in members.items() if k != "prompt_tokens"}


def test_usage_without_a_time_is_no_timing():
    told = read({"usage": {"prompt_tokens": 3, "estimated_cost": 0.1}})

    assert told == [Usage(tokens=ProviderTokens(input=3))]
