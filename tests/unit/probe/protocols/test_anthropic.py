import json
from typing import Any

import pytest
from support.probing import own_endpoint

from pacewatch.words.timing import Identity, ProviderTokens
from probe.protocols.anthropic import Anthropic
from probe.protocols.interface import (
    AllTold,
    Chunk,
    End,
    Finish,
    Frame,
    MalformedAnswer,
    Piece,
    StreamFault,
    Usage,
)
from probe.protocols.sse import EventStream

MESSAGES = Anthropic()


def read(event: dict[str, Any], name: str = "") -> list[Piece]:
    return list(MESSAGES.read(Frame(name=name, data=json.dumps(event))))


def test_the_request_asks_for_a_stream():
    endpoint = own_endpoint("http://host/v1", body={"thinking": {"type": "disabled"}})

    assert MESSAGES.path(endpoint) == "/messages"
    assert MESSAGES.headers(endpoint) == {"anthropic-version": "2023-06-01"}
    assert MESSAGES.body(endpoint, "words", 300) == {
        "model": "tide-1",
        "max_tokens": 300,
        "messages": [{"role": "user", "content": "words"}],
        "stream": True,
        "thinking": {"type": "disabled"},
    }
    assert isinstance(MESSAGES.framing(), EventStream)


@pytest.mark.parametrize(
    ("delta", "chunk"),
    [
        ({"type": "text_delta", "text": "Low"}, Chunk(kind="a", text="Low")),
        ({"type": "thinking_delta", "thinking": "Low"}, Chunk(kind="r", text="Low")),
        ({"type": "input_json_delta", "partial_json": "{"}, Chunk(kind="t", text="{")),
    ],
)
def test_deltas_of_text_thinking_and_tools_are_chunks(delta, chunk):
    assert read({"type": "content_block_delta", "index": 0, "delta": delta}) == [chunk]


@pytest.mark.parametrize(
    "delta",
    [
        {"type": "text_delta", "text": ""},
        {"type": "signature_delta", "signature": "c2Fs"},
        {"type": "citations_delta", "citation": {"cited_text": "x"}},
        {"type": "text_delta"},
        {},
        None,
    ],
)
def test_deltas_without_text_are_none(delta):
    assert read({"type": "content_block_delta", "index": 0, "delta": delta}) == []


def test_a_block_may_begin_with_text_and_a_tool_call_begins_with_its_name():
    def begun(**block: Any) -> list[Piece]:
        return read({"type": "content_block_start", "index": 0, "content_block": block})

    assert begun(type="text", text="") == []
    assert begun(type="text", text="Low") == [Chunk(kind="a", text="Low")]
    assert begun(type="thinking", thinking="", signature="") == []
    assert begun(type="redacted_thinking", data="c2Fs") == []
    assert begun(type="tool_use", id="t", name="look", input={}) == [Chunk(kind="t", text="look")]


def test_the_message_tells_who_answers_and_the_usage_so_far():
    told = read(
        {
            "type": "message_start",
            "message": {
                "id": "msg",
                "model": "tide-c1",
                "usage": {
                    "input_tokens": 30,
                    "cache_creation_input_tokens": 4,
                    "cache_read_input_tokens": 6,
                    "output_tokens": 1,
                    "service_tier": "standard",
                },
            },
        }
    )

    assert told == [
        Identity(model="tide-c1", tier="standard", request_id="msg"),
        Usage(tokens=ProviderTokens(input=40, output=1, cached_input=6)),
    ]
    assert read({"type": "message_start"}) == []
    assert read({"type": "message_start", "message": {"model": "tide-c1"}}) == [
        Identity(model="tide-c1")
    ]


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("end_turn", Finish(word="end_turn")),
        ("max_tokens", Finish(word="max_tokens", is_truncated=True)),
        ("refusal", Finish(word="refusal", is_filtered=True)),
    ],
)
def test_the_reason_to_stop_is_not_yet_the_end(word, finish):
    told = read(
        {
            "type": "message_delta",
            "delta": {"stop_reason": word},
            "usage": {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 5}},
        }
    )

    assert told == [Usage(tokens=ProviderTokens(output=9, reasoning=5)), finish]


def test_a_message_delta_may_say_nothing():
    assert read({"type": "message_delta", "delta": {"stop_reason": None}}) == []
    assert read({"type": "message_delta"}) == []


def test_message_stop_is_the_end_and_nothing_is_waited_for_after_it():
    assert read({"type": "message_stop"}) == [End(is_last=True)]
    assert read({}, name="message_stop") == [End(is_last=True)]


def test_an_error_event_is_a_fault_with_its_type():
    event = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}

    assert read(event, name="error") == [StreamFault(code="overloaded_error")]


def test_pings_the_ends_of_blocks_and_what_is_new_hold_nothing():
    assert read({"type": "ping"}, name="ping") == []
    assert read({"type": "content_block_stop", "index": 0}) == []
    assert read({"type": "vibes_update"}) == []
    assert list(MESSAGES.read(Frame(name="", data="[DONE]"))) == [AllTold()]


def test_a_plain_body_is_read_for_its_error_alone():
    body = b'{"type": "error", "error": {"type": "api_error"}}'

    assert MESSAGES.read_whole(body) == (StreamFault(code="api_error"),)
    with pytest.raises(MalformedAnswer):
        MESSAGES.read_whole(b'{"type": "message", "content": []}')
