import json
from typing import Any

import pytest
from support.probing import own_endpoint

from pacewatch.words.timing import Identity, ProviderTokens, ServerTimings
from probe.protocols.bedrock import Bedrock
from probe.protocols.frames import Frames
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

BEDROCK = Bedrock()
NOBODY = Identity()


def read(name: str, payload: Any = None, *, is_fault: bool = False) -> list[Piece]:
    """The pieces of a message, but for who answers where it does not say."""
    frame = Frame(name=name, data=json.dumps(payload), is_fault=is_fault)
    return [piece for piece in BEDROCK.read(frame) if piece != NOBODY]


def delta(**members: Any) -> list[Piece]:
    """The pieces of a delta, which has padding beside it."""
    return read("contentBlockDelta", {"contentBlockIndex": 0, "delta": members, "p": "abcdef"})


def usage(**members: Any) -> ProviderTokens:
    """The tokens of a metadata event with that usage."""
    told = read("metadata", {"usage": members})[0]
    assert isinstance(told, Usage)
    return told.tokens


def test_the_request_names_the_model_in_its_path_and_its_settings_join_the_endpoints():
    endpoint = own_endpoint(
        "https://host",
        provider_model="us.meta.llama4-maverick-17b-instruct-v1:0",
        body={"inferenceConfig": {"temperature": 0}, "performanceConfig": {"latency": "optimized"}},
    )

    path = "/model/us.meta.llama4-maverick-17b-instruct-v1%3A0/converse-stream"
    assert BEDROCK.path(endpoint) == path
    assert BEDROCK.headers(endpoint) == {"accept": "application/vnd.amazon.eventstream"}
    assert BEDROCK.body(endpoint, "words", 300) == {
        "messages": [{"role": "user", "content": [{"text": "words"}]}],
        "inferenceConfig": {"maxTokens": 300, "temperature": 0},
        "performanceConfig": {"latency": "optimized"},
    }
    assert isinstance(BEDROCK.framing(), Frames)


def test_a_model_may_be_an_arn():
    name = "arn:aws:bedrock:us-east-1:1:inference-profile/us.x"
    endpoint = own_endpoint("https://host", provider_model=name)

    assert BEDROCK.path(endpoint) == (
        "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.x/converse-stream"
    )


@pytest.mark.parametrize(
    ("members", "chunk"),
    [
        ({"text": "Salt"}, Chunk(kind="a", text="Salt")),
        ({"text": " "}, Chunk(kind="a", text=" ")),
        ({"reasoningContent": {"text": "Low"}}, Chunk(kind="r", text="Low")),
        ({"toolUse": {"input": '{"at":'}}, Chunk(kind="t", text='{"at":')),
        ({"text": ""}, None),
        ({"reasoningContent": {"signature": "c2Fs"}}, None),
        ({"reasoningContent": {"redactedContent": "c2Fs"}}, None),
        ({"reasoningContent": "Low"}, None),
        ({"citation": {"title": "x"}}, None),
        ({"text": 7}, None),
    ],
)
def test_a_delta_is_generated_text_of_its_kind_or_nothing(members, chunk):
    assert delta(**members) == ([] if chunk is None else [chunk])


def test_the_name_of_a_tool_is_generated():
    start = {"toolUse": {"toolUseId": "t1", "name": "look"}}

    assert read("contentBlockStart", {"start": start}) == [Chunk(kind="t", text="look")]
    assert read("contentBlockStart", {"start": {}}) == []
    assert read("contentBlockStart", {}) == []


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("end_turn", Finish(word="end_turn")),
        ("max_tokens", Finish(word="max_tokens", is_truncated=True)),
        ("guardrail_intervened", Finish(word="guardrail_intervened", is_filtered=True)),
        ("content_filtered", Finish(word="content_filtered", is_filtered=True)),
        (None, Finish(word=None)),
    ],
)
def test_message_stop_is_an_end_that_usage_follows(word, finish):
    assert read("messageStop", {"stopReason": word}) == [finish, End()]


def test_message_stop_is_an_end_whatever_it_holds():
    assert BEDROCK.read(Frame(name="messageStop", data="")) == (Finish(word=None), End())


def test_metadata_tells_usage_and_the_providers_own_time_and_is_the_last():
    told = read(
        "metadata",
        {
            "usage": {"inputTokens": 20, "outputTokens": 3, "totalTokens": 23},
            "metrics": {"latencyMs": 301},
            "serviceTier": {"type": "priority"},
            "performanceConfig": {"latency": "standard"},
            "p": "abcd",
        },
    )

    assert told == [
        Identity(tier="priority"),
        Usage(tokens=ProviderTokens(input=20, output=3)),
        ServerTimings(total_s=0.301, as_told={"latencyMs": 301}),
        AllTold(),
    ]


@pytest.mark.parametrize("latency", ["301", -1, None, True, [301]])
def test_an_odd_time_is_none(latency):
    assert read("metadata", {"metrics": {"latencyMs": latency}, "usage": []}) == [AllTold()]


def test_a_way_of_serving_that_is_told_is_a_tier():
    told = read("metadata", {"performanceConfig": {"latency": "optimized"}})

    assert told == [Identity(tier="optimized"), AllTold()]


@pytest.mark.parametrize(
    ("told", "tokens"),
    [
        ({"inputTokens": 4, "outputTokens": 9, "totalTokens": 113, "cacheReadInputTokens": 90,
          "cacheWriteInputTokens": 10}, ProviderTokens(input=104, output=9, cached_input=90)),
        ({"inputTokens": 4, "outputTokens": 9, "cacheReadInputTokenCount": 90},
         ProviderTokens(input=94, output=9, cached_input=90)),
        ({"inputTokens": 100, "outputTokens": 9, "totalTokens": 109, "cacheReadInputTokens": 90},
         ProviderTokens(input=100, output=9, cached_input=90)),
        ({"outputTokens": 9, "cacheReadInputTokens": 0}, ProviderTokens(output=9, cached_input=0)),
        ({"inputTokens": 100, "totalTokens": 100}, ProviderTokens(input=100)),
    ],
)  # fmt: skip
def test_cached_parts_belong_to_the_size_of_the_prompt_whatever_the_habit(told, tokens):
    assert usage(**told) == tokens


def test_an_exception_is_a_fault_whatever_it_holds():
    told = read("modelStreamErrorException", {"originalStatusCode": 500}, is_fault=True)

    assert told == [StreamFault(code="modelStreamErrorException")]
    assert read("", is_fault=True) == [StreamFault(code=None)]


def test_other_messages_hold_nothing():
    assert read("messageStart", {"role": "assistant", "p": "abc"}) == []
    assert read("contentBlockStop", {"contentBlockIndex": 0}) == []
    assert read("novelty", {"text": "x"}) == []
    assert read("contentBlockDelta", [1]) == []
    assert read("contentBlockDelta", {"delta": "x"}) == []


def test_a_payload_that_is_no_json_is_malformed():
    with pytest.raises(MalformedAnswer, match="bad_json"):
        BEDROCK.read(Frame(name="contentBlockDelta", data="{"))


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"__type": "com.amazon#ThrottlingException"}', "ThrottlingException"),
        (b'{"error": {"code": "x"}}', "x"),
    ],
)
def test_a_plain_body_may_tell_an_error(body, code):
    assert BEDROCK.read_whole(body) == (StreamFault(code=code),)


def test_a_plain_body_without_an_error_is_malformed():
    with pytest.raises(MalformedAnswer, match="no_event_stream"):
        BEDROCK.read_whole(b'{"output": {"message": {}}}')
