"""The simulator is understood by clients that are not ours: the providers' own libraries.

What they read is held to what was written, which the seed decides, and to what was billed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import anthropic
import openai
import pytest
from botocore.eventstream import ChecksumMismatch, InvalidPayloadLength
from botocore.exceptions import ClientError, EventStreamError
from google.genai import errors
from support import foreign
from support.foreign import KEY, Read, Reader
from support.simulator import RunningSimulator, make_endpoint, running_simulator

from pacewatch.sim.kept_prompts import KEPT_TOKENS
from pacewatch.sim.route import REFUSED_KEY
from pacewatch.sim.script import Ask, make_script, nature_of, pieces_of, way_s
from pacewatch.words.endpoint import Auth, Endpoint, Protocol

REGION = "eu-west"
LIMIT = 40


def quick(id: str, base_url: str, auth: Auth, protocol: Protocol = Protocol.OPENAI_CHAT, **more):
    return make_endpoint(
        id, base_url=base_url, auth=auth, protocol=protocol, tokens_per_s=400.0, **more
    )


@dataclass(frozen=True, kw_only=True)
class Case:
    """One way of asking, and what is to be understood."""

    endpoint: Endpoint
    read: Reader
    finish: str
    shown: float = 1.0
    """Share of the reasoning that is told."""
    tells_reasoning: bool = True
    """Whether usage says how much of it was reasoning."""
    tells_kept: bool = True
    """Whether usage says how much of the prompt had been kept."""
    errors: dict[str, tuple[type[Exception], str]]
    """By fault: the library's error, and what stands in its text."""

    def base(self, simulator: RunningSimulator) -> str:
        path = self.endpoint.base_url.split("/", 3)[3:]
        return "/".join([simulator.address.regions[REGION], self.endpoint.provider, *path])


OPENAI_ERRORS: dict[str, tuple[type[Exception], str]] = {
    "rate-limit": (openai.RateLimitError, "rate_limit_exceeded"),
    "auth": (openai.AuthenticationError, "invalid_api_key"),
    "not-served": (openai.NotFoundError, "model_not_found"),
    "fail": (openai.InternalServerError, "server_error"),
    "stream-error": (openai.APIError, "overloaded"),
}
AZURE_ERRORS: dict[str, tuple[type[Exception], str]] = {
    **OPENAI_ERRORS,
    "rate-limit": (openai.RateLimitError, "429"),
    "auth": (openai.AuthenticationError, "401"),
    "not-served": (openai.NotFoundError, "DeploymentNotFound"),
    "fail": (openai.InternalServerError, "500"),
}
VERTEX_CHAT_ERRORS: dict[str, tuple[type[Exception], str]] = {
    **OPENAI_ERRORS,
    "rate-limit": (openai.RateLimitError, "RESOURCE_EXHAUSTED"),
    "auth": (openai.AuthenticationError, "UNAUTHENTICATED"),
    "not-served": (openai.NotFoundError, "NOT_FOUND"),
    "fail": (openai.InternalServerError, "INTERNAL"),
}
ANTHROPIC_ERRORS: dict[str, tuple[type[Exception], str]] = {
    "rate-limit": (anthropic.RateLimitError, "rate_limit_error"),
    "auth": (anthropic.AuthenticationError, "authentication_error"),
    "not-served": (anthropic.NotFoundError, "not_found_error"),
    "fail": (anthropic.InternalServerError, "api_error"),
    "stream-error": (anthropic.APIStatusError, "overloaded_error"),
}
GOOGLE_ERRORS: dict[str, tuple[type[Exception], str]] = {
    "rate-limit": (errors.ClientError, "429 RESOURCE_EXHAUSTED"),
    "auth": (errors.ClientError, "API_KEY_INVALID"),
    "not-served": (errors.ClientError, "404 NOT_FOUND"),
    "fail": (errors.ServerError, "500 INTERNAL"),
    "stream-error": (errors.ServerError, "503 UNAVAILABLE"),
}
VERTEX_ERRORS = {**GOOGLE_ERRORS, "auth": (errors.ClientError, "401 UNAUTHENTICATED")}
AWS_ERRORS: dict[str, tuple[type[Exception], str]] = {
    "rate-limit": (ClientError, "ThrottlingException"),
    "auth": (ClientError, "UnrecognizedClientException"),
    "not-served": (ClientError, "ResourceNotFoundException"),
    "fail": (ClientError, "InternalServerException"),
    "stream-error": (EventStreamError, "serviceUnavailableException"),
}

GPT = quick("openai/gpt", "https://x/v1", Auth.BEARER, Protocol.OPENAI_RESPONSES, reasons=True)
R1 = quick("azure/r1", "https://x/openai/v1", Auth.API_KEY, reasons=True)
FLASH = quick(
    "google/flash", "https://x/v1beta", Auth.X_GOOG_API_KEY, Protocol.GEMINI, reasons=True
)

CASES = {
    "chat": Case(
        endpoint=quick("zai/glm", "https://x/api/paas/v4", Auth.BEARER, reasons=True),
        read=foreign.chat,
        finish="length",
        errors=OPENAI_ERRORS,
    ),
    "chat with hidden reasoning": Case(
        endpoint=quick("openai/chat", "https://x/chat/v1", Auth.BEARER, reasons=True),
        read=foreign.chat,
        finish="length",
        shown=0.0,
        errors=OPENAI_ERRORS,
    ),
    "azure": Case(endpoint=R1, read=foreign.azure, finish="length", errors=AZURE_ERRORS),
    "azure's deployments": Case(
        endpoint=R1, read=foreign.azure_deployment, finish="length", errors=AZURE_ERRORS
    ),
    "vertex's open models": Case(
        endpoint=quick(
            "vertex/r1",
            "https://x/v1/projects/p/locations/l/endpoints/openapi",
            Auth.GOOGLE,
            reasons=True,
        ),
        read=foreign.chat,
        finish="length",
        tells_reasoning=False,
        tells_kept=False,
        errors=VERTEX_CHAT_ERRORS,
    ),
    "responses": Case(
        endpoint=GPT,
        read=foreign.responses,
        finish="max_output_tokens",
        shown=0.0,
        errors=OPENAI_ERRORS,
    ),
    "responses with a summary": Case(
        endpoint=GPT,
        read=foreign.responses_with_summary,
        finish="max_output_tokens",
        shown=1 / 3,
        errors=OPENAI_ERRORS,
    ),
    "messages": Case(
        endpoint=quick(
            "anthropic/claude", "https://x/v1", Auth.X_API_KEY, Protocol.ANTHROPIC, reasons=True
        ),
        read=foreign.messages,
        finish="max_tokens",
        tells_reasoning=False,
        errors=ANTHROPIC_ERRORS,
    ),
    "gemini": Case(
        endpoint=FLASH, read=foreign.gemini, finish="MAX_TOKENS", shown=0.0, errors=GOOGLE_ERRORS
    ),
    "gemini with thoughts": Case(
        endpoint=FLASH,
        read=foreign.gemini_with_thoughts,
        finish="MAX_TOKENS",
        errors=GOOGLE_ERRORS,
    ),
    "vertex's gemini": Case(
        endpoint=quick(
            "vertex/flash",
            "https://x/v1/projects/p/locations/l/publishers/google",
            Auth.GOOGLE,
            Protocol.GEMINI,
            reasons=True,
        ),
        read=foreign.gemini_with_thoughts,
        finish="MAX_TOKENS",
        errors=VERTEX_ERRORS,
    ),
    "converse": Case(
        endpoint=quick(
            "bedrock/llama",
            "https://x",
            Auth.AWS,
            Protocol.BEDROCK,
            provider_model="us.meta.llama4-v1:0",
            reasons=True,
        ),
        read=foreign.converse,
        finish="max_tokens",
        tells_reasoning=False,
        errors=AWS_ERRORS,
    ),
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


@pytest.fixture(scope="module")
def served() -> Iterator[RunningSimulator]:
    endpoints = {case.endpoint.id: case.endpoint for case in CASES.values()}
    with running_simulator(*endpoints.values(), regions=(REGION,)) as running:
        yield running


@pytest.fixture
def simulator(served: RunningSimulator) -> Iterator[RunningSimulator]:
    yield served
    served.clear()


def ask(simulator: RunningSimulator, case: Case, *, key: str = KEY, limit: int = LIMIT) -> Read:
    return case.read(case.base(simulator), key, case.endpoint.provider_model, limit)


def begun(simulator: RunningSimulator, endpoint: Endpoint) -> int:
    """Return how many answers of the endpoint have begun."""
    lines = [line for line in simulator.settled_answers() if line["endpoint"] == endpoint.id]
    return sum(line["status"] == 200 for line in lines)


def written(case: Case, number: int) -> tuple[str, str]:
    """Return the reasoning and the text of the endpoint's answer of that number."""
    endpoint = case.endpoint
    script = make_script(
        nature_of(endpoint),
        Ask(model="", prompt_tokens=0, max_tokens=LIMIT, reasons=True, shown=case.shown),
        way=way_s(endpoint.provider, REGION),
        seed=f"0|{endpoint.id}|{REGION}|{number}",
        exact=True,
    )
    pieces = list(pieces_of(script))
    return (
        "".join(piece.text for piece in pieces if piece.is_reasoning),
        "".join(piece.text for piece in pieces if not piece.is_reasoning),
    )


@each_case
def test_a_foreign_client_reads_what_was_written(simulator, case):
    number = begun(simulator, case.endpoint)

    read = ask(simulator, case)

    billed = simulator.settled_answers()[-1]["billed"]
    assert (read.reasoning, read.text) == written(case, number)
    assert read.finish == case.finish
    assert (read.input_tokens, read.output_tokens) == (billed["input"], billed["output"])
    assert billed["output"] == LIMIT
    assert read.reasoning_tokens == (billed["reasoning"] if case.tells_reasoning else None)


@each_case
@pytest.mark.parametrize("kind", ["rate-limit", "auth", "not-served", "fail", "stream-error"])
def test_a_fault_is_the_error_that_the_library_has_for_it(simulator, case, kind):
    error, told = case.errors[kind]
    simulator.switch_on(kind, case.endpoint.id)

    with pytest.raises(error) as raised:
        ask(simulator, case)

    assert type(raised.value) is error or kind != "stream-error"
    assert told in f"{raised.value} {getattr(raised.value, 'body', '')}"


@each_case
def test_a_key_that_is_refused_is_told_as_the_library_expects(simulator, case):
    error, told = case.errors["auth"]

    with pytest.raises(error) as raised:
        ask(simulator, case, key=REFUSED_KEY)

    assert told in f"{raised.value} {getattr(raised.value, 'body', '')}"


@each_case
def test_a_filtered_answer_says_so(simulator, case):
    simulator.switch_on("filter", case.endpoint.id)

    read = ask(simulator, case)

    assert read.finish in ("content_filter", "content_filtered", "refusal", "SAFETY")
    assert len(read.text) < 200


@each_case
def test_kept_tokens_are_understood(simulator, case):
    simulator.switch_on("cache", case.endpoint.id)
    reads = [ask(simulator, case) for _ in range(2)]

    assert reads[0].input_tokens == reads[1].input_tokens
    if case.tells_kept:
        assert reads[1].cached_tokens == KEPT_TOKENS
    assert simulator.settled_answers()[-1]["planned_ttft_s"] < nature_of(case.endpoint).ttft_s / 2


@pytest.mark.parametrize(
    ("why", "error", "told"),
    [
        ("overloaded", openai.APIError, "overloaded"),
        ("rate-limit", RuntimeError, "rate_limit_exceeded"),
    ],
)
def test_a_failed_response_is_told_in_the_response_itself(simulator, why, error, told):
    simulator.switch_on("stream-error", GPT.id, why=why)

    with pytest.raises(error) as raised:
        ask(simulator, CASES["responses"])

    assert told in f"{raised.value} {getattr(raised.value, 'body', '')}"


@pytest.mark.parametrize(
    ("how", "error"), [("garbage", ChecksumMismatch), ("long-line", InvalidPayloadLength)]
)
def test_a_broken_message_is_refused_by_a_foreign_reader(simulator, how, error):
    simulator.switch_on("broken", "bedrock", how=how)

    with pytest.raises(error):
        ask(simulator, CASES["converse"])
