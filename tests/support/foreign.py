"""Clients that are not ours: each asks the simulator through its own library, and tells what it
understood.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import anthropic
import botocore.session
import google.auth.credentials
import openai
from botocore.config import Config
from google import genai
from google.genai import types

PROMPT = "Tell me of the rivers and the roads, and of the people who live beside them. " * 5
"""Longer than what a provider keeps of a prompt."""
KEY = "a-key-that-is-accepted"


@dataclass(frozen=True, kw_only=True)
class Read:
    """One answer as a client understood it."""

    text: str
    reasoning: str
    finish: str | None
    input_tokens: int
    output_tokens: int
    """All that is billed, reasoning included."""
    reasoning_tokens: int | None
    cached_tokens: int | None


Reader = Callable[[str, str, str, int], Read]
"""Asks at a base address, with a key, for a model and that many tokens; raises the library's own
errors.
"""


@lru_cache
def _openai(base: str, key: str) -> openai.OpenAI:
    return openai.OpenAI(api_key=key, base_url=base, max_retries=0, timeout=30)


def _read_chat(client: openai.OpenAI, model: str, limit: int) -> Read:
    text, reasoning, finish, usage = "", "", None, None
    with client.chat.completions.create(
        model=model,
        messages=[{"role": "user", "content": PROMPT}],
        max_tokens=limit,
        stream=True,
        stream_options={"include_usage": True},
    ) as stream:
        for chunk in stream:
            usage = chunk.usage or usage
            for choice in chunk.choices:
                finish = choice.finish_reason or finish
                if choice.delta is not None:
                    text += choice.delta.content or ""
                    more = choice.delta.model_extra or {}
                    reasoning += more.get("reasoning_content") or more.get("reasoning") or ""
    assert usage is not None
    details, kept = usage.completion_tokens_details, usage.prompt_tokens_details
    return Read(
        text=text,
        reasoning=reasoning,
        finish=finish,
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        reasoning_tokens=None if details is None else details.reasoning_tokens,
        cached_tokens=None if kept is None else kept.cached_tokens,
    )


def chat(base: str, key: str, model: str, limit: int) -> Read:
    """Ask as the openai library asks for chat completions."""
    return _read_chat(_openai(base, key), model, limit)


@lru_cache
def _azure_deployment(base: str, key: str) -> openai.OpenAI:
    root = base.removesuffix("/openai/v1")
    return openai.AzureOpenAI(
        api_key=key, azure_endpoint=root, api_version="2024-10-21", max_retries=0, timeout=30
    )


def azure_deployment(base: str, key: str, model: str, limit: int) -> Read:
    """Ask as the openai library asks Azure, at the address that names the deployment."""
    return _read_chat(_azure_deployment(base, key), model, limit)


@lru_cache
def _azure(base: str, key: str) -> openai.OpenAI:
    return openai.OpenAI(
        api_key="unused",
        base_url=base,
        max_retries=0,
        timeout=30,
        default_headers={"api-key": key},
    )


def azure(base: str, key: str, model: str, limit: int) -> Read:
    """Ask as the openai library asks Azure's newer address, with Azure's own header."""
    return _read_chat(_azure(base, key), model, limit)


def _responses(summary: bool) -> Reader:
    def read(base: str, key: str, model: str, limit: int) -> Read:
        text, reasoning, last = "", "", None
        with _openai(base, key).responses.create(
            model=model,
            input=PROMPT,
            max_output_tokens=limit,
            stream=True,
            reasoning={"effort": "low", "summary": "auto" if summary else None},
        ) as stream:
            for event in stream:
                if event.type == "response.output_text.delta":
                    text += event.delta
                elif event.type == "response.reasoning_summary_text.delta":
                    reasoning += event.delta
                elif event.type in ("response.completed", "response.incomplete"):
                    last = event.response
                elif event.type == "response.failed":
                    raise RuntimeError(event.response.error and event.response.error.code)
        assert last is not None and last.usage is not None
        assert last.output_text == text
        details = last.incomplete_details
        return Read(
            text=text,
            reasoning=reasoning,
            finish=last.status if details is None else details.reason,
            input_tokens=last.usage.input_tokens,
            output_tokens=last.usage.output_tokens,
            reasoning_tokens=last.usage.output_tokens_details.reasoning_tokens,
            cached_tokens=last.usage.input_tokens_details.cached_tokens,
        )

    return read


responses = _responses(summary=False)
responses_with_summary = _responses(summary=True)


@lru_cache
def _anthropic(base: str, key: str) -> anthropic.Anthropic:
    return anthropic.Anthropic(
        api_key=key, base_url=base.removesuffix("/v1"), max_retries=0, timeout=30
    )


def messages(base: str, key: str, model: str, limit: int) -> Read:
    """Ask as the anthropic library does, with thinking."""
    with _anthropic(base, key).messages.stream(
        model=model,
        max_tokens=limit,
        messages=[{"role": "user", "content": PROMPT}],
        thinking={"type": "enabled", "budget_tokens": 1024},
    ) as stream:
        last = stream.get_final_message()
    kept = last.usage.cache_read_input_tokens or 0
    return Read(
        text="".join(block.text for block in last.content if block.type == "text"),
        reasoning="".join(b.thinking for b in last.content if b.type == "thinking"),
        finish=last.stop_reason,
        input_tokens=last.usage.input_tokens + kept,
        output_tokens=last.usage.output_tokens,
        reasoning_tokens=None,
        cached_tokens=kept,
    )


class _Token(google.auth.credentials.Credentials):  # type: ignore[no-untyped-call]
    """A token that is always good."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.token = key

    def refresh(self, request: Any) -> None:
        raise AssertionError("the token is good")


@lru_cache
def _genai(base: str, key: str) -> genai.Client:
    if "/vertex/" not in base:
        root, _, version = base.rpartition("/")
        return genai.Client(
            api_key=key, http_options=types.HttpOptions(base_url=root, api_version=version)
        )
    root, _, rest = base.partition("/v1/projects/")
    project, _, location, *_ = rest.split("/")
    return genai.Client(
        vertexai=True,
        project=project,
        location=location,
        credentials=_Token(key),
        http_options=types.HttpOptions(base_url=root, api_version="v1"),
    )


def _gemini(thoughts: bool) -> Reader:
    def read(base: str, key: str, model: str, limit: int) -> Read:
        text, reasoning, finish, usage = "", "", None, None
        config = types.GenerateContentConfig(
            max_output_tokens=limit,
            thinking_config=types.ThinkingConfig(include_thoughts=thoughts),
        )
        for chunk in _genai(base, key).models.generate_content_stream(
            model=model, contents=PROMPT, config=config
        ):
            usage = chunk.usage_metadata
            for candidate in chunk.candidates or []:
                finish = candidate.finish_reason or finish
                for part in (candidate.content and candidate.content.parts) or []:
                    if part.thought:
                        reasoning += part.text or ""
                    else:
                        text += part.text or ""
        assert usage is not None
        thought = usage.thoughts_token_count or 0
        return Read(
            text=text,
            reasoning=reasoning,
            finish=None if finish is None else finish.value,
            input_tokens=usage.prompt_token_count or 0,
            output_tokens=(usage.candidates_token_count or 0) + thought,
            reasoning_tokens=thought,
            cached_tokens=usage.cached_content_token_count or 0,
        )

    return read


gemini = _gemini(thoughts=False)
gemini_with_thoughts = _gemini(thoughts=True)


@lru_cache
def _bedrock(base: str, key: str) -> Any:
    """A client of botocore's, which signs with the key and tries once."""
    session = botocore.session.Session()
    session.set_credentials(key, "a-secret")
    return session.create_client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=base,
        config=Config(retries={"total_max_attempts": 1}, read_timeout=30, proxies={}),
    )


def converse(base: str, key: str, model: str, limit: int) -> Read:
    """Ask as botocore does."""
    text, reasoning, finish, usage = "", "", None, None
    answer = _bedrock(base, key).converse_stream(
        modelId=model,
        messages=[{"role": "user", "content": [{"text": PROMPT}]}],
        inferenceConfig={"maxTokens": limit},
    )
    for event in answer["stream"]:
        delta = event.get("contentBlockDelta", {}).get("delta", {})
        text += delta.get("text", "")
        reasoning += delta.get("reasoningContent", {}).get("text", "")
        finish = event.get("messageStop", {}).get("stopReason", finish)
        usage = event.get("metadata", {}).get("usage", usage)
    assert usage is not None
    kept = usage.get("cacheReadInputTokens", 0)
    return Read(
        text=text,
        reasoning=reasoning,
        finish=finish,
        input_tokens=usage["inputTokens"] + kept,
        output_tokens=usage["outputTokens"],
        reasoning_tokens=None,
        cached_tokens=kept,
    )
