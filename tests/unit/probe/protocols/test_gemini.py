import json
from bisect import bisect
from typing import Any

import pytest
from support.probing import own_endpoint

from pacewatch.words.timing import Identity, ProviderTokens
from probe.protocols.gemini import Gemini
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

GEMINI = Gemini()
NOBODY = Identity()


def read(event: Any) -> list[Piece]:
    """The pieces of an event, but for who answers where it does not say."""
    frame = Frame(name="", data=event if isinstance(event, str) else json.dumps(event))
    return [piece for piece in GEMINI.read(frame) if piece != NOBODY]


def parts(*told: Any, **candidate: Any) -> list[Piece]:
    """The pieces of an event whose first candidate has those parts."""
    return read({"candidates": [{"content": {"parts": list(told)}, **candidate}]})


def usage(**members: Any) -> ProviderTokens:
    """The tokens of an event with that usage."""
    (piece,) = read({"usageMetadata": members})
    assert isinstance(piece, Usage)
    return piece.tokens


def test_the_request_asks_for_events_and_its_settings_join_the_endpoints():
    endpoint = own_endpoint(
        "http://host/v1beta",
        body={
            "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
            "safetySettings": [],
        },
    )

    assert GEMINI.path(endpoint) == "/models/tide-1:streamGenerateContent?alt=sse"
    assert GEMINI.headers(endpoint) == {}
    assert GEMINI.body(endpoint, "words", 300) == {
        "contents": [{"role": "user", "parts": [{"text": "words"}]}],
        "generationConfig": {
            "maxOutputTokens": 300,
            "thinkingConfig": {"includeThoughts": True},
        },
        "safetySettings": [],
    }
    assert isinstance(GEMINI.framing(), EventStream)


def test_a_models_name_stands_in_the_path_as_one_part():
    endpoint = own_endpoint("http://host/v1beta", provider_model="models/tide 1/x")

    assert GEMINI.path(endpoint) == "/models/tide%201%2Fx:streamGenerateContent?alt=sse"


def test_a_part_is_answer_or_thought_and_a_signature_is_nothing():
    assert parts({"text": "Salt"}) == [Chunk(kind="a", text="Salt")]
    assert parts({"text": "Low", "thought": True}) == [Chunk(kind="r", text="Low")]
    assert parts({"text": "", "thoughtSignature": "c2Fs"}) == []
    assert parts({"text": "Low", "thought": True, "thoughtSignature": "c2Fs"}) == [
        Chunk(kind="r", text="Low")
    ]


def test_the_parts_of_an_event_are_one_chunk_a_kind_reasoning_first():
    told = parts(
        {"text": "North"},
        {"text": "Look", "thought": True},
        {"text": " wind"},
        {"text": " up", "thought": True},
        {"inlineData": {"data": "c2Fs"}},
        {"codeExecutionResult": {"output": "7"}},
        7,
    )

    assert told == [Chunk(kind="r", text="Look up"), Chunk(kind="a", text="North wind")]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ({"name": "look", "args": {"at": "sea", "far": 3}}, 'look{"at":"sea","far":3}'),
        ({"name": "look", "args": {}}, "look"),
        ({"name": "look", "willContinue": True}, "look"),
        ({"partialArgs": [{"jsonPath": "$.at", "stringValue": "se"}, "odd"]}, "se"),
        ({"partialArgs": [{"numberValue": 3}, {"boolValue": True}, {"nullValue": None}]}, "3true"),
        ({"args": [1], "partialArgs": {"stringValue": "x"}}, None),
        ("look", None),
    ],
)
def test_the_name_and_the_arguments_of_a_call_are_generated(call, text):
    assert parts({"functionCall": call}) == ([] if text is None else [Chunk(kind="t", text=text)])


def test_arguments_that_are_barely_not_too_deep_to_be_read_are_no_trouble_to_write():
    def is_refused(depth):
        deep = '{"a":' * depth + "1" + "}" * depth
        call = f'{{"functionCall": {{"name": "look", "args": {deep}}}}}'
        try:
            told = read(f'{{"candidates": [{{"content": {{"parts": [{call}]}}}}]}}')
        except MalformedAnswer:
            return True
        assert told[0].text.startswith("look")
        return False

    border = bisect(range(1200), False, key=is_refused)

    assert {is_refused(depth) for depth in range(border - 50, border + 50)} == {False, True}


def test_code_that_is_to_be_run_is_generated():
    told = parts({"executableCode": {"language": "PYTHON", "code": "1+1"}})

    assert told == [Chunk(kind="t", text="1+1")]
    assert parts({"executableCode": {"code": 7}}) == []


def test_only_the_first_candidate_is_read():
    event = {
        "candidates": [
            {"index": 1, "content": {"parts": [{"text": "Gulls"}]}, "finishReason": "STOP"},
            {"index": 0, "content": {"parts": [{"text": "Ships"}]}},
        ]
    }

    assert read(event) == [Chunk(kind="a", text="Ships")]
    assert read({"candidates": event["candidates"][:1]}) == []


@pytest.mark.parametrize(
    "candidates",
    [None, [], {"a": 1}, ["odd"], [{}], [{"content": []}], [{"content": {"parts": {"text": "x"}}}]],
)
def test_odd_candidates_hold_nothing(candidates):
    assert read({"candidates": candidates}) == []


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("STOP", Finish(word="STOP")),
        ("MAX_TOKENS", Finish(word="MAX_TOKENS", is_truncated=True)),
        ("OTHER", Finish(word="OTHER")),
    ],
)
def test_a_finish_reason_is_an_end_only_with_the_body(word, finish):
    assert parts(finishReason=word) == [finish, End(needs_body=True)]


@pytest.mark.parametrize("word", ["SAFETY", "PROHIBITED_CONTENT", "SPII", "RECITATION"])
def test_what_a_filter_stopped_has_ended(word):
    assert parts(finishReason=word) == [Finish(word=word, is_filtered=True), End()]


def test_no_reason_is_no_end():
    assert parts({"text": "a"}, finishReason="FINISH_REASON_UNSPECIFIED") == [
        Chunk(kind="a", text="a")
    ]
    assert parts(finishReason=None) == []


def test_a_blocked_prompt_is_filtered():
    told = read({"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "tide-g1"})

    assert told == [Identity(model="tide-g1"), Finish(word="SAFETY", is_filtered=True), End()]
    assert read({"promptFeedback": {"safetyRatings": []}}) == []
    assert read({"promptFeedback": {"blockReason": "BLOCK_REASON_UNSPECIFIED"}}) == []


def test_thoughts_are_billed_as_output():
    told = usage(
        promptTokenCount=21, candidatesTokenCount=2, thoughtsTokenCount=3, totalTokenCount=26
    )

    assert told == ProviderTokens(input=21, output=5, reasoning=3)


@pytest.mark.parametrize(
    ("told", "tokens"),
    [
        ({"promptTokenCount": 21}, ProviderTokens(input=21)),
        ({"promptTokenCount": 21, "thoughtsTokenCount": 3},
         ProviderTokens(input=21, output=3, reasoning=3)),
        ({"promptTokenCount": 21, "candidatesTokenCount": 5, "thoughtsTokenCount": 3,
          "totalTokenCount": 26}, ProviderTokens(input=21, output=5, reasoning=3)),
        ({"candidatesTokenCount": 5, "thoughtsTokenCount": 3},
         ProviderTokens(output=8, reasoning=3)),
        ({"promptTokenCount": 21, "toolUsePromptTokenCount": 4, "cachedContentTokenCount": 8,
          "candidatesTokenCount": 5}, ProviderTokens(input=25, output=5, cached_input=8)),
        ({"promptTokenCount": "many"}, ProviderTokens()),
    ],
)  # fmt: skip
def test_usage_is_told_in_one_form(told, tokens):
    assert usage(**told) == tokens


def test_who_answers_is_told_once_and_the_same():
    event = {
        "modelVersion": "tide-g1",
        "responseId": "r1",
        "usageMetadata": {"trafficType": "ON_DEMAND"},
    }
    first, second = read(event)[0], read(event)[0]

    assert first is second
    assert first == Identity(model="tide-g1", tier="ON_DEMAND", request_id="r1")
    assert read({"usageMetadata": [1]}) == []


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"code": 429, "message": "x", "status": "RESOURCE_EXHAUSTED"}, "RESOURCE_EXHAUSTED"),
        ({"code": 503, "message": "x"}, "503"),
        ({"status": "UNAVAILABLE"}, "UNAVAILABLE"),
    ],
)
def test_an_error_has_the_word_for_its_number(error, code):
    assert read({"error": error}) == [StreamFault(code=code)]


def test_done_which_some_gateways_add_tells_that_all_is_told():
    assert read("[DONE]") == [AllTold()]
    assert read("[]") == []


def test_a_plain_body_is_read_for_its_error_alone():
    body = b'[{"error": {"code": 400, "status": "INVALID_ARGUMENT"}}]'

    assert GEMINI.read_whole(body) == (StreamFault(code="INVALID_ARGUMENT"),)
    with pytest.raises(MalformedAnswer, match="no_event_stream"):
        GEMINI.read_whole(b'[{"candidates": []}]')
