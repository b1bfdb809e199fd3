import json
from typing import Any

import pytest
from support.probing import own_endpoint

from pacewatch.words.timing import Identity, ProviderTokens
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
    Whole,
)
from probe.protocols.openai_responses import OpenAIResponses
from probe.protocols.sse import EventStream

RESPONSES = OpenAIResponses()
NOBODY = Identity()


def read(kind: str, **members: Any) -> list[Piece]:
    """The pieces of an event of that type, but for who answers where it does not say."""
    data = json.dumps({"type": kind, **members})
    return [one for one in RESPONSES.read(Frame(name=kind, data=data)) if one != NOBODY]


def test_the_request_asks_for_a_stream_that_is_not_stored():
    endpoint = own_endpoint("http://host/v1", body={"reasoning": {"effort": "low"}})

    assert RESPONSES.path(endpoint) == "/responses"
    assert RESPONSES.headers(endpoint) == {}
    assert RESPONSES.body(endpoint, "words", 300) == {
        "model": "tide-1",
        "input": "words",
        "max_output_tokens": 300,
        "stream": True,
        "store": False,
        "reasoning": {"effort": "low"},
    }
    assert isinstance(RESPONSES.framing(), EventStream)


@pytest.mark.parametrize(
    ("kind", "letter"),
    [
        ("response.output_text.delta", "a"),
        ("response.refusal.delta", "a"),
        ("response.reasoning_summary_text.delta", "r"),
        ("response.reasoning_text.delta", "r"),
        ("response.function_call_arguments.delta", "t"),
        ("response.custom_tool_call_input.delta", "t"),
        ("response.mcp_call_arguments.delta", "t"),
        ("response.code_interpreter_call_code.delta", "t"),
    ],
)
def test_a_delta_is_generated_text_of_its_kind(kind, letter):
    assert read(kind, delta="Low", obfuscation="xyz") == [Chunk(kind=letter, text="Low")]
    assert read(kind, delta="") == []


def test_a_delta_may_be_an_object_and_must_be_text():
    assert read("response.reasoning.delta", delta={"text": "Low"}) == [Chunk(kind="r", text="Low")]
    assert read("response.output_text.delta", delta=7) == []
    assert read("response.output_text.delta") == []


def test_the_items_of_an_answer_all_count():
    told = [
        read("response.output_text.delta", output_index=n, delta=text)
        for n, text in enumerate(["One", " two"])
    ]

    assert told == [[Chunk(kind="a", text="One")], [Chunk(kind="a", text=" two")]]


@pytest.mark.parametrize(
    ("kind", "members", "wholes"),
    [
        ("response.output_text.done", {"text": "Low tide"}, ["aLow tide"]),
        ("response.refusal.done", {"refusal": "No"}, ["aNo"]),
        ("response.reasoning_text.done", {"text": "Hm"}, ["rHm"]),
        ("response.reasoning_summary_text.done", {"text": "Hm"}, ["rHm"]),
        ("response.output_text.done", {"text": ""}, []),
        ("response.output_text.done", {"text": 7}, []),
        (
            "response.output_item.done",
            {"item": {"type": "function_call", "name": "look", "arguments": "{}"}},
            ["tlook{}"],
        ),
        (
            "response.output_item.done",
            {"item": {"type": "message", "content": [{"text": "Low"}, {"refusal": "No"}, 7]}},
            ["aLow", "aNo"],
        ),
        (
            "response.output_item.done",
            {"item": {"type": "reasoning", "summary": [{"text": "Hm"}], "encrypted_content": "c"}},
            ["rHm"],
        ),
        ("response.output_item.done", {"item": None}, []),
        ("response.output_item.done", {"item": {"type": "message", "content": "x"}}, []),
        ("response.content_part.added", {"part": {"type": "output_text", "text": ""}}, []),
    ],
)
def test_what_is_done_is_told_whole_once_more(kind, members, wholes):
    assert read(kind, **members) == [Whole(kind=one[0], text=one[1:]) for one in wholes]


def test_what_is_completed_holds_the_whole_answer_reasoning_first():
    message = {"type": "message", "content": [{"type": "output_text", "text": "Low"}]}
    thought = {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "Hm"}]}

    told = read("response.completed", response={"output": [message, thought]})

    assert told[:2] == [Whole(kind="r", text="Hm"), Whole(kind="a", text="Low")]


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ({"type": "function_call", "name": "look", "arguments": ""}, "look"),
        ({"type": "custom_tool_call", "name": "look", "input": "up", "call_id": "c"}, "lookup"),
        ({"type": "web_search_call", "id": "ws"}, None),
        ({"type": "reasoning", "summary": [], "encrypted_content": "c2Fs"}, None),
        ({"type": "message", "content": []}, None),
        ({"type": ["function_call"]}, None),
        ("odd", None),
        (None, None),
    ],
)
def test_an_item_begins_with_the_name_of_its_tool_or_with_nothing(item, text):
    told = read("response.output_item.added", item=item)

    assert told == ([] if text is None else [Chunk(kind="t", text=text)])


def test_who_answers_is_told_at_the_beginning_and_at_the_end():
    response = {"id": "resp", "model": "tide-r1", "service_tier": "default"}
    who = Identity(model="tide-r1", tier="default", request_id="resp")

    assert read("response.created", response=response) == [who]
    for kind in ("response.queued", "response.in_progress"):
        assert read(kind, response=response)[0] is read(kind, response=response)[0]
    assert read("response.completed", response=response)[0] == who
    assert read("response.created") == []


def test_completed_is_the_end_with_the_usage_in_one_form():
    usage = {
        "input_tokens": 31,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 131,
        "output_tokens_details": {"reasoning_tokens": 128},
        "total_tokens": 162,
    }

    assert read("response.completed", response={"status": "completed", "usage": usage}) == [
        Usage(tokens=ProviderTokens(input=31, output=131, reasoning=128, cached_input=4)),
        Finish(word="completed"),
        End(is_last=True),
    ]


def test_reasoning_that_is_told_beside_the_output_is_part_of_it():
    usage = {
        "input_tokens": 31,
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 128},
        "total_tokens": 162,
    }
    told = read("response.completed", response={"usage": usage})

    assert told[0] == Usage(tokens=ProviderTokens(input=31, output=131, reasoning=128))


@pytest.mark.parametrize(
    ("details", "finish"),
    [
        ({"reason": "max_output_tokens"}, Finish(word="max_output_tokens", is_truncated=True)),
        ({"reason": "content_filter"}, Finish(word="content_filter", is_filtered=True)),
        (None, Finish(word="incomplete")),
    ],
)
def test_incomplete_is_an_end_too_and_says_why(details, finish):
    response = {"status": "incomplete", "incomplete_details": details, "usage": None}

    assert read("response.incomplete", response=response) == [finish, End(is_last=True)]


def test_an_answers_own_state_goes_before_the_name_of_the_event():
    cut = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    failed = {"status": "failed", "error": {"code": "server_error"}}

    assert read("response.completed", response=cut)[0] == Finish(
        word="max_output_tokens", is_truncated=True
    )
    assert read("response.completed", response=failed) == [StreamFault(code="server_error")]
    assert read("response.completed", response={"status": ["odd"]})[0] == Finish(word="completed")


@pytest.mark.parametrize(
    ("kind", "response", "code"),
    [
        ("response.failed", {"error": {"code": "rate_limit_exceeded", "message": "x"}},
         "rate_limit_exceeded"),
        ("response.failed", {"error": None}, "failed"),
        ("response.failed", None, "failed"),
        ("response.cancelled", {"status": "cancelled"}, "cancelled"),
    ],
)  # fmt: skip
def test_an_answer_that_failed_is_a_fault(kind, response, code):
    assert read(kind, response=response) == [StreamFault(code=code)]


def test_the_usage_of_a_failed_answer_is_kept():
    response = {"error": {"code": "server_error"}, "usage": {"input_tokens": 5}}
    told = read("response.failed", response=response)

    assert told == [Usage(tokens=ProviderTokens(input=5)), StreamFault(code="server_error")]


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"code": "server_error", "message": "x", "param": None}, "server_error"),
        ({"error": {"type": "too_many_requests", "code": None}}, "too_many_requests"),
        ({"code": None, "message": "x"}, None),
    ],
)
def test_an_error_event_is_a_fault_even_before_anything_else(members, code):
    assert read("error", **members) == [StreamFault(code=code)]


def test_an_event_may_have_its_type_in_its_name_alone():
    frame = Frame(name="response.output_text.delta", data='{"delta": "Low"}')

    assert RESPONSES.read(frame) == (Chunk(kind="a", text="Low"),)


def test_done_is_no_end_and_whatever_else_is_nothing():
    assert read("response.audio.delta", delta="c2FsdA==") == []
    assert read("response.output_text.annotation.added", annotation={}) == []
    assert RESPONSES.read(Frame(name="", data="[DONE]")) == (AllTold(),)
    assert RESPONSES.read(Frame(name="", data="[1]")) == ()


def test_a_plain_body_is_read_for_its_error_alone():
    body = b'{"error": {"code": "model_not_found"}}'

    assert RESPONSES.read_whole(body) == (StreamFault(code="model_not_found"),)
    with pytest.raises(MalformedAnswer):
        RESPONSES.read_whole(b'{"object": "response", "error": null}')
