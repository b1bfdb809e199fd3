from typing import Any

import pytest
from support.simulator import make_endpoint
from support.voices import PROMPT, account, answer, hear, messages_of, voice_of

from pacewatch.sim.faults import Trouble
from pacewatch.sim.refusals import Refusal, refuse_midway
from pacewatch.sim.voices.interface import Stop
from pacewatch.words.endpoint import Endpoint, Protocol


def llama(**more: Any) -> Endpoint:
    base = "https://bedrock-runtime.us-east-1.amazonaws.com"
    return make_endpoint("bedrock/m", protocol=Protocol.BEDROCK, base_url=base, **more)


def asking(**more: Any) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": [{"text": PROMPT}]}],
        "inferenceConfig": {"maxTokens": 8},
        **more,
    }


def test_an_answer_opens_streams_and_stops_in_order():
    told = messages_of(answer(llama(), asking()))

    kinds = [kind for kind, _ in told]
    assert kinds == [
        "messageStart",
        *["contentBlockDelta"] * 8,
        "contentBlockStop",
        "messageStop",
        "metadata",
    ]
    assert told[-1][1]["metrics"] == {"latencyMs": 1_000}
    assert told[-1][1]["usage"] == {"inputTokens": 100, "outputTokens": 8, "totalTokens": 108}


def test_reasoning_is_a_signed_block_of_its_own():
    told = messages_of(answer(llama(reasons=True), asking()))

    deltas = [event for kind, event in told if kind == "contentBlockDelta"]
    reasoned = [e["delta"]["reasoningContent"] for e in deltas if "reasoningContent" in e["delta"]]
    assert [next(iter(one)) for one in reasoned] == ["text", "text", "signature"]
    assert [e["contentBlockIndex"] for e in deltas] == [0] * 3 + [1] * 6


def test_kept_tokens_are_told_beside_the_input():
    usage = messages_of(answer(llama(), asking(), ended=account(cached_tokens=64)))[-1][1]["usage"]

    assert (usage["inputTokens"], usage["cacheReadInputTokens"]) == (36, 64)
    assert usage["totalTokens"] == 108


@pytest.mark.parametrize(
    ("stop", "reason"),
    [(Stop.END, "end_turn"), (Stop.LIMIT, "max_tokens"), (Stop.FILTER, "content_filtered")],
)
def test_how_an_answer_ends(stop, reason):
    told = messages_of(answer(llama(), asking(), ended=account(stop=stop)))

    assert told[-2][1]["stopReason"] == reason


@pytest.mark.parametrize(
    ("trouble", "kind"),
    [
        (Trouble.OVERLOADED, "serviceUnavailableException"),
        (Trouble.RATE_LIMIT, "throttlingException"),
        (Trouble.SERVER, "internalServerException"),
    ],
)
def test_an_error_midway_is_an_exception(trouble, kind):
    voice, _ = voice_of(llama(), asking())

    ((told, body),) = messages_of(voice.trouble(refuse_midway(trouble)))

    assert (told, list(body)) == (kind, ["message"])


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"max_tokens": 8}, "max_tokens"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user", "content": "x"}]}, "messages"),
        ({"messages": ["x"]}, "messages"),
        ({"inferenceConfig": []}, "inferenceConfig"),
        ({"inferenceConfig": {"maxTokens": 0}}, None),
    ],
)
def test_what_is_refused(more, param):
    refused = hear(llama(), asking(**more))

    assert isinstance(refused, Refusal)
    assert (refused.status, refused.param) == (400, param)
