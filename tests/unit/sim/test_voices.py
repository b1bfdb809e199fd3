import json
from typing import Any

import pytest
from support.simulator import make_anthropic_endpoint, make_endpoint

from pacewatch.sim.refusals import Refusal
from pacewatch.sim.script import Ask, Nature, make_script, pieces_of
from pacewatch.sim.voices.interface import Account
from pacewatch.sim.voices.table import SPEAKERS
from pacewatch.words.endpoint import READ_PROTOCOLS, Endpoint

ACCOUNT = Account(
    prompt_tokens=100,
    reasoning_tokens=2,
    answer_tokens=6,
    queue_s=0.1,
    prompt_s=0.2,
    completion_s=0.7,
    is_cut=True,
)
NATURE = Nature(tokens_per_s=100.0, ttft_s=0.3, block_tokens=1)
MESSAGES = [{"role": "user", "content": [{"type": "text", "text": "x" * 440}]}]


def said(endpoint: Endpoint, **body: Any) -> list[Any]:
    """Return all events of an answer of eight tokens: JSON of data, text of comments."""
    speaker = SPEAKERS[endpoint.protocol]
    asked = {"max_tokens": 8, "stream": True, "messages": MESSAGES, **body}
    ask = speaker.hear(asked, endpoint)
    assert isinstance(ask, Ask)
    voice = speaker.voice(endpoint, ask, request_id="r1", created=1_790_000_000)
    script = make_script(NATURE, ask, way=0.0, seed="s", exact=True)
    stream = voice.opening()
    stream += b"".join(voice.piece(piece) for piece in pieces_of(script))
    stream += voice.closing(ACCOUNT)
    return [_event(block) for block in stream.decode().removesuffix("\n\n").split("\n\n")]


def _event(block: str) -> Any:
    if block.startswith(":"):
        return block
    name, _, rest = block.partition("\n") if block.startswith("event: ") else ("", "", block)
    data = rest.removeprefix("data: ")
    event = data if data == "[DONE]" else json.loads(data)
    assert not name or name == f"event: {event['type']}"
    return event


def deltas(events: list[Any], name: str) -> list[str]:
    chunks = [e for e in events if isinstance(e, dict) and e.get("choices")]
    return [text for e in chunks if (text := e["choices"][0]["delta"].get(name))]


INCLUDE_USAGE = {"stream_options": {"include_usage": True}}


def test_every_protocol_that_is_read_is_spoken():
    assert SPEAKERS.keys() >= READ_PROTOCOLS


def test_chat_opens_with_the_role_and_ends_with_done():
    events = said(make_endpoint())

    assert events[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert len(deltas(events, "content")) == 8
    assert events[-2]["choices"][0]["finish_reason"] == "length"
    assert events[-1] == "[DONE]"
    assert {e["id"] for e in events[:-1]} == {"chatcmpl-r1"}


def test_usage_comes_where_it_is_asked_for_and_else_not():
    endpoint = make_endpoint("zai/m")

    *_, usage, _ = said(endpoint, **INCLUDE_USAGE)

    assert usage["choices"] == []
    assert (usage["usage"]["prompt_tokens"], usage["usage"]["completion_tokens"]) == (100, 8)
    assert usage["usage"]["completion_tokens_details"] == {"reasoning_tokens": 2}
    assert not any("usage" in e for e in said(endpoint)[:-1])


@pytest.mark.parametrize(
    ("provider", "fields"),
    [
        ("groq", {"reasoning"}),
        ("cerebras", {"reasoning"}),
        ("together", {"reasoning"}),
        ("zai", {"reasoning_content"}),
        ("nvidia", {"reasoning_content"}),
        ("stepfun", {"reasoning", "reasoning_content"}),
    ],
)
def test_reasoning_comes_in_the_providers_own_fields(provider, fields):
    events = said(make_endpoint(f"{provider}/m", reasons=True))

    told = {name: deltas(events, name) for name in ("reasoning", "reasoning_content")}
    assert {name for name, texts in told.items() if texts} == fields
    assert all(len(told[name]) == 2 for name in fields)
    assert len(deltas(events, "content")) == 6


def test_groq_tells_its_times_with_the_finish_reason_and_again_with_usage():
    *_, finish, usage, _ = said(make_endpoint("groq/m"), **INCLUDE_USAGE)

    expected = {
        "queue_time": 0.1,
        "prompt_time": 0.2,
        "completion_time": 0.7,
        "total_time": 1.0,
    }
    assert finish["x_groq"]["usage"].items() >= expected.items()
    assert usage["usage"] == finish["x_groq"]["usage"]


def test_cerebras_tells_its_times_and_usage_with_the_finish_reason():
    *_, finish, _ = said(make_endpoint("cerebras/m"))

    assert finish["choices"][0]["finish_reason"] == "length"
    assert finish["time_info"]["completion_time"] == 0.7
    assert finish["usage"]["total_tokens"] == 108


def test_sambanova_tells_its_speeds_in_usage():
    *_, usage, _ = said(make_endpoint("sambanova/m"), **INCLUDE_USAGE)

    assert usage["usage"]["time_to_first_token"] == 0.3
    assert usage["usage"]["completion_tokens_per_sec"] == 8.0
    assert usage["usage"]["completion_tokens_after_first_per_sec"] == 10.0


def test_fireworks_packs_last_text_finish_usage_and_metrics_into_one_chunk():
    *_, last, done = said(make_endpoint("fireworks/m"), perf_metrics_in_response=True)

    assert last["choices"][0]["delta"]["content"]
    assert last["choices"][0]["finish_reason"] == "length"
    assert last["usage"]["completion_tokens"] == 8
    assert last["perf_metrics"]["server-time-to-first-token"] == 0.3
    assert done == "[DONE]"
    assert "perf_metrics" not in said(make_endpoint("fireworks/m"))[-2]


def test_azure_opens_with_the_prompts_filter_results():
    first = said(make_endpoint("azure/m"))[0]

    assert first["choices"] == []
    assert first["prompt_filter_results"][0]["prompt_index"] == 0


def test_deepseek_keeps_the_connection_alive_with_a_comment():
    assert said(make_endpoint("deepseek/m"))[0] == ": keep-alive"


def test_deepinfra_tells_what_the_answer_costs():
    *_, usage, _ = said(make_endpoint("deepinfra/m"), **INCLUDE_USAGE)

    assert usage["usage"]["estimated_cost"] > 0


def test_messages_open_stream_and_stop_in_order():
    events = said(make_anthropic_endpoint())

    kinds = [event["type"] for event in events]
    assert kinds[:3] == ["message_start", "content_block_start", "ping"]
    assert kinds[3:11] == ["content_block_delta"] * 8
    assert kinds[11:] == ["content_block_stop", "message_delta", "message_stop"]
    assert events[-2]["delta"]["stop_reason"] == "max_tokens"
    assert events[-2]["usage"]["output_tokens"] == 8
    assert events[0]["message"]["usage"]["input_tokens"] == 108


def test_thinking_is_a_signed_block_of_its_own():
    events = said(make_anthropic_endpoint(), thinking={"type": "enabled", "budget_tokens": 4})

    blocks = [e["content_block"]["type"] for e in events if e["type"] == "content_block_start"]
    told = [e["delta"]["type"] for e in events if e["type"] == "content_block_delta"]
    assert blocks == ["thinking", "text"]
    assert told == ["thinking_delta"] * 2 + ["signature_delta"] + ["text_delta"] * 6
    assert [e["index"] for e in events if e["type"] == "content_block_stop"] == [0, 1]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"max_tokens": None}, "max_tokens: Field required"),
        ({"messages": "hello"}, "messages: at least one message is required"),
        ({"stream": None}, "stream: this simulated endpoint only streams"),
    ],
)
def test_messages_refuse_what_is_missing(body, message):
    endpoint = make_anthropic_endpoint()
    asked = {"max_tokens": 8, "stream": True, "messages": MESSAGES, **body}

    heard = SPEAKERS[endpoint.protocol].hear(asked, endpoint)

    assert isinstance(heard, Refusal)
    assert (heard.status, heard.message) == (400, message)
