from typing import Any

import pytest
from support.simulator import make_anthropic_endpoint, make_endpoint
from support.voices import PROMPT, account, answer, events_of, hear, voice_of

from pacewatch.sim.faults import Trouble
from pacewatch.sim.refusals import Refusal, refuse_midway
from pacewatch.sim.voices.interface import Stop
from pacewatch.sim.voices.table import SPEAKERS
from pacewatch.words.endpoint import READ_PROTOCOLS, Endpoint

MESSAGES = [{"role": "user", "content": [{"type": "text", "text": PROMPT}]}]


def said(endpoint: Endpoint, **body: Any) -> list[Any]:
    """Return all events of an answer of eight tokens."""
    asked = {"max_tokens": 8, "stream": True, "messages": MESSAGES, **body}
    return events_of(answer(endpoint, asked))


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


def test_azure_tells_what_its_filter_saw_in_a_choice_without_a_delta():
    *_, looked, finish, _ = said(make_endpoint("azure/m"))

    assert "delta" not in looked["choices"][0]
    assert looked["choices"][0]["content_filter_results"]
    assert finish["choices"][0]["finish_reason"] == "length"


def test_openai_hides_its_reasoning_and_pads_its_chunks():
    events = said(make_endpoint("openai/m", reasons=True), **INCLUDE_USAGE)

    assert not deltas(events, "reasoning_content") and not deltas(events, "reasoning")
    assert len(deltas(events, "content")) == 6
    *_, usage, _ = events
    assert usage["usage"]["completion_tokens_details"] == {"reasoning_tokens": 2}
    assert all(event["usage"] is None for event in events[:-2])
    assert {
        len(e["obfuscation"]) + len(e["choices"][0]["delta"]["content"])
        for e in events
        if "obfuscation" in e
    } == {16}


def test_vertex_tells_usage_with_the_finish_reason_and_of_its_traffic():
    *_, finish, _ = said(make_endpoint("vertex/m"))

    assert finish["usage"]["completion_tokens"] == 8
    assert finish["usage"]["extra_properties"] == {"google": {"traffic_type": "ON_DEMAND"}}


@pytest.mark.parametrize(
    ("provider", "usage"),
    [
        ("zai", {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 64}}),
        ("deepseek", {"prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36}),
    ],
)
def test_kept_tokens_are_told_in_usage(provider, usage):
    body = {"max_tokens": 8, "stream": True, "messages": MESSAGES, **INCLUDE_USAGE}

    events = events_of(
        answer(make_endpoint(f"{provider}/m"), body, ended=account(cached_tokens=64))
    )

    assert events[-2]["usage"].items() >= usage.items()


@pytest.mark.parametrize(
    ("provider", "where"),
    [
        ("zai", lambda event: event["error"]["code"]),
        ("openrouter", lambda event: event["choices"][0]["finish_reason"]),
        ("groq", lambda event: event["x_groq"]["error"]),
    ],
)
def test_an_error_midway_is_an_event_or_in_a_chunk(provider, where):
    body = {"max_tokens": 8, "stream": True, "messages": MESSAGES}
    voice, _ = voice_of(make_endpoint(f"{provider}/m"), body)

    (event,) = events_of(voice.trouble(refuse_midway(Trouble.OVERLOADED)))

    assert where(event)


@pytest.mark.parametrize(
    ("stop", "chat", "messages"),
    [
        (Stop.END, "stop", "end_turn"),
        (Stop.LIMIT, "length", "max_tokens"),
        (Stop.FILTER, "content_filter", "refusal"),
    ],
)
def test_how_an_answer_ends(stop, chat, messages):
    body = {"max_tokens": 8, "stream": True, "messages": MESSAGES}
    ended = account(stop=stop)

    *_, finish, _ = events_of(answer(make_endpoint("zai/m"), body, ended=ended))
    *_, delta, _ = events_of(answer(make_anthropic_endpoint(), body, ended=ended))

    assert finish["choices"][0]["finish_reason"] == chat
    assert delta["delta"]["stop_reason"] == messages


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

    heard = hear(endpoint, asked)

    assert isinstance(heard, Refusal)
    assert (heard.status, heard.message) == (400, message)
