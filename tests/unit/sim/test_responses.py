from typing import Any

import pytest
from support.simulator import make_endpoint
from support.voices import PROMPT, account, answer, events_of, hear, voice_of

from pacewatch.sim.faults import Trouble
from pacewatch.sim.refusals import Refusal, refuse_midway
from pacewatch.sim.script import Ask
from pacewatch.sim.voices.interface import Stop
from pacewatch.words.endpoint import Endpoint, Protocol


def gpt(provider: str = "openai", **more: Any) -> Endpoint:
    values = {"reasons": True, "base_url": "https://api.openai.com/v1", **more}
    return make_endpoint(f"{provider}/m", protocol=Protocol.OPENAI_RESPONSES, **values)


def asking(**more: Any) -> dict[str, Any]:
    message = {"role": "user", "content": [{"type": "input_text", "text": PROMPT}]}
    return {"model": "m", "stream": True, "max_output_tokens": 32, "input": [message], **more}


def said(endpoint: Endpoint | None = None, **more: Any) -> list[Any]:
    return events_of(answer(endpoint or gpt(), asking(**more)))


def test_events_are_numbered_from_nought():
    events = said()

    assert [event["sequence_number"] for event in events] == list(range(len(events)))


def test_an_answer_without_reasoning_is_one_item():
    kinds = [event["type"] for event in said(gpt(reasons=False))]

    assert kinds[:4] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
    ]
    assert kinds[4:36] == ["response.output_text.delta"] * 32
    assert kinds[36:] == [
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.incomplete",
    ]


def test_reasoning_is_hidden_and_billed():
    events = said()

    told = {event["type"] for event in events}
    assert not any("reasoning" in kind for kind in told)
    items = [e["item"]["type"] for e in events if e["type"] == "response.output_item.added"]
    assert items == ["reasoning", "message"]
    usage = events[-1]["response"]["usage"]
    assert usage["output_tokens_details"] == {"reasoning_tokens": 2}
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (100, 8, 108)


def test_a_summary_is_told_where_it_is_asked_for():
    events = said(reasoning={"effort": "low", "summary": "auto"})

    kinds = [event["type"] for event in events]
    parts = [kind.removeprefix("response.reasoning_") for kind in kinds if "_summary_" in kind]
    deltas = [e["delta"] for e in events if e["type"] == "response.reasoning_summary_text.delta"]
    assert parts == [
        "summary_part.added",
        *["summary_text.delta"] * 3,
        "summary_text.done",
        "summary_part.done",
    ]
    assert events[-1]["response"]["output"][0]["summary"][0]["text"] == "".join(deltas)


def test_xai_tells_a_summary_unasked():
    assert any("_summary_" in event["type"] for event in said(gpt("xai")))


def test_reasoning_comes_along_encrypted_where_it_is_asked_for():
    item = said(include=["reasoning.encrypted_content"])[2]["item"]

    assert item["encrypted_content"]
    assert "encrypted_content" not in said()[2]["item"]


@pytest.mark.parametrize("effort", ["none", "low"])
def test_effort_none_reasons_nothing(effort):
    _, ask = voice_of(gpt(), asking(reasoning={"effort": effort}))

    assert ask.reasons is (effort != "none")


def test_the_whole_text_is_told_again_at_its_end():
    events = said()

    text = "".join(e["delta"] for e in events if e["type"] == "response.output_text.delta")
    last = events[-1]["response"]
    assert last["output"][-1]["content"][0]["text"] == text
    assert next(e for e in events if e["type"] == "response.output_text.done")["text"] == text


@pytest.mark.parametrize(
    ("stop", "status", "reason"),
    [
        (Stop.END, "completed", None),
        (Stop.LIMIT, "incomplete", "max_output_tokens"),
        (Stop.FILTER, "incomplete", "content_filter"),
    ],
)
def test_how_a_response_ends(stop, status, reason):
    last = events_of(answer(gpt(), asking(), ended=account(stop=stop)))[-1]

    assert (last["type"], last["response"]["status"]) == (f"response.{status}", status)
    details = last["response"]["incomplete_details"]
    assert (None if details is None else details["reason"]) == reason


def test_a_response_without_text_has_no_message():
    voice, _ = voice_of(gpt(reasons=False), asking())

    events = events_of(voice.opening() + voice.closing(account(stop=Stop.END)))

    assert [e["type"] for e in events][-1] == "response.completed"
    assert events[-1]["response"]["output"] == []


def test_the_length_of_a_piece_is_hidden_by_openai_alone():
    deltas = [e for e in said() if e["type"] == "response.output_text.delta"]

    assert {len(e["delta"]) + len(e["obfuscation"]) for e in deltas} == {16}
    assert not any("obfuscation" in e for e in said(gpt("xai")))


def test_the_tier_may_be_lower_than_asked():
    events = said(service_tier="priority")

    assert events[-1]["response"]["service_tier"] == "default"


@pytest.mark.parametrize(
    ("trouble", "kinds", "code"),
    [
        (Trouble.OVERLOADED, ["error", "response.failed"], "server_error"),
        (Trouble.RATE_LIMIT, ["response.failed"], "rate_limit_exceeded"),
        (Trouble.SERVER, ["error"], None),
    ],
)
def test_an_error_midway_has_three_forms(trouble, kinds, code):
    voice, _ = voice_of(gpt(), asking())
    begun = voice.opening()

    events = events_of(begun + voice.trouble(refuse_midway(trouble)))[3:]

    assert [event["type"] for event in events] == kinds
    if code:
        assert events[-1]["response"]["error"]["code"] == code


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"messages": []}, "messages"),
        ({"max_tokens": 9}, "max_tokens"),
        ({"input": None}, "input"),
        ({"stream": None}, None),
        ({"max_output_tokens": 15}, "max_output_tokens"),
        ({"max_output_tokens": "15"}, None),
        ({"temperature": 0.5}, "temperature"),
        ({"reasoning": "low"}, "reasoning"),
    ],
)
def test_what_is_refused(more, param):
    refused = hear(gpt(), asking(**more))

    assert isinstance(refused, Refusal)
    assert (refused.status, refused.param) == (400, param)


def test_a_prompt_may_be_a_text_with_instructions():
    heard = hear(gpt(), asking(input="y" * 44, instructions="z" * 44))

    assert isinstance(heard, Ask)
    assert heard.prompt_tokens == 28
