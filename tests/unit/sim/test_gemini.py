import json
from typing import Any

import pytest
from support.simulator import make_endpoint
from support.voices import PROMPT, account, answer, events_of, hear, voice_of

from pacewatch.sim.faults import Trouble
from pacewatch.sim.refusals import Refusal, refuse_midway
from pacewatch.sim.voices.interface import Stop
from pacewatch.words.endpoint import Endpoint, Protocol

SSE = {"alt": "sse"}


def flash(provider: str = "google", **more: Any) -> Endpoint:
    values = {"reasons": True, "base_url": "https://x.example/v1beta", **more}
    return make_endpoint(f"{provider}/m", protocol=Protocol.GEMINI, **values)


def asking(thoughts: bool = True, **config: Any) -> dict[str, Any]:
    return {
        "contents": [{"role": "user", "parts": [{"text": PROMPT}]}],
        "generationConfig": {
            "maxOutputTokens": 8,
            "thinkingConfig": {"includeThoughts": thoughts},
            **config,
        },
    }


def said(endpoint: Endpoint | None = None, body: dict[str, Any] | None = None) -> list[Any]:
    return events_of(answer(endpoint or flash(), body or asking(), SSE), "\r\n\r\n")


def parts(events: list[Any]) -> list[dict[str, Any]]:
    return [event["candidates"][0]["content"]["parts"][0] for event in events]


def test_thoughts_are_parts_of_their_own():
    told = parts(said())

    assert [part.get("thought") for part in told] == [True] * 2 + [None] * 7
    assert all(part["text"] for part in told[:-1])


def test_thoughts_that_are_not_asked_for_are_hidden_and_billed_from_the_start():
    events = said(body=asking(thoughts=False))

    assert not any(part.get("thought") for part in parts(events))
    assert {e["usageMetadata"]["thoughtsTokenCount"] for e in events} == {2}


def test_the_last_event_has_a_signature_in_place_of_text():
    last = said()[-1]["candidates"][0]

    assert last["content"]["parts"][0]["text"] == ""
    assert last["content"]["parts"][0]["thoughtSignature"]
    assert last["finishReason"] == "MAX_TOKENS"


def test_usage_grows_from_event_to_event():
    usages = [event["usageMetadata"] for event in said()]

    assert [u["candidatesTokenCount"] for u in usages] == [0, 0, 1, 2, 3, 4, 5, 6, 6]
    assert [u["thoughtsTokenCount"] for u in usages] == [1, 2, 2, 2, 2, 2, 2, 2, 2]
    assert usages[-1]["totalTokenCount"] == 108


def test_kept_tokens_are_part_of_the_prompts():
    usage = events_of(answer(flash(), asking(), SSE, account(cached_tokens=64)), "\r\n\r\n")[-1]

    assert usage["usageMetadata"]["promptTokenCount"] == 100
    assert usage["usageMetadata"]["cachedContentTokenCount"] == 64


def test_without_alt_sse_the_answer_is_one_array():
    told = json.loads(answer(flash(), asking(), {}))

    assert len(told) == 9
    assert told[-1]["candidates"][0]["finishReason"] == "MAX_TOKENS"


@pytest.mark.parametrize(
    ("stop", "reason"), [(Stop.END, "STOP"), (Stop.LIMIT, "MAX_TOKENS"), (Stop.FILTER, "SAFETY")]
)
def test_how_an_answer_ends(stop, reason):
    last = events_of(answer(flash(), asking(), SSE, account(stop=stop)), "\r\n\r\n")[-1]

    assert last["candidates"][0]["finishReason"] == reason
    blocked = [r for r in last["candidates"][0].get("safetyRatings", []) if r.get("blocked")]
    assert bool(blocked) is (stop is Stop.FILTER)


def test_an_error_midway_is_an_event():
    voice, _ = voice_of(flash(), asking(), SSE)

    (event,) = events_of(voice.trouble(refuse_midway(Trouble.OVERLOADED)), "\r\n\r\n")

    assert (event["error"]["code"], event["error"]["status"]) == (503, "UNAVAILABLE")


def test_names_may_be_written_in_either_case():
    body = {
        "contents": [{"parts": [{"text": "a_b"}]}],
        "generation_config": {
            "max_output_tokens": 8,
            "thinking_config": {"include_thoughts": True},
        },
    }

    _, ask = voice_of(flash(), body, SSE)

    assert (ask.max_tokens, ask.shown, ask.prompt_start) == (8, 1.0, "a_b")


def test_a_budget_of_nought_thinks_nothing():
    _, ask = voice_of(flash(), asking(thinkingConfig={"thinkingBudget": 0}), SSE)

    assert not ask.reasons


def test_vertex_tells_the_traffic():
    assert said(flash("vertex"))[-1]["usageMetadata"]["trafficType"] == "ON_DEMAND"


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"messages": []}, "messages"),
        ({"contents": []}, "contents"),
        ({"contents": [{"role": "user", "content": "x"}]}, "contents"),
        ({"contents": [{"parts": "x"}]}, "contents"),
        ({"generationConfig": 7}, "generationConfig"),
        ({"generationConfig": {"thinkingConfig": 7}}, "thinkingConfig"),
        ({"generationConfig": {"maxOutputTokens": 0}}, None),
    ],
)
def test_what_is_refused(more, param):
    refused = hear(flash(), {**asking(), **more}, SSE)

    assert isinstance(refused, Refusal)
    assert (refused.status, refused.param) == (400, param)
