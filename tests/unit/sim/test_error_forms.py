import json
from typing import Any

import pytest

from pacewatch.sim.error_forms import error_answer
from pacewatch.sim.faults import Fault, FaultKind, Trouble
from pacewatch.sim.refusals import Refusal, refuse_body, refuse_by, refuse_key, refuse_midway
from pacewatch.words.endpoint import Protocol

CHAT = Protocol.OPENAI_CHAT


def fault(kind: FaultKind, **fields: Any) -> Refusal:
    return refuse_by(Fault(kind=kind, target="all", **fields), "m")


LIMITED = fault(FaultKind.RATE_LIMIT, retry_after_s=7)
OVERLOADED = fault(FaultKind.FAIL, status=529)
BROKEN = fault(FaultKind.FAIL, status=500)
GONE = fault(FaultKind.NOT_SERVED)
RETIRED = fault(FaultKind.RETIRED)
SPENT = fault(FaultKind.PAYMENT)
BAD_KEY = refuse_key(is_missing=False)
NO_KEY = refuse_key(is_missing=True)


def told(provider: str, refusal: Refusal, protocol: Protocol | None = CHAT) -> tuple[int, Any]:
    answer = error_answer(provider, protocol, refusal, "r1")
    return answer.status, answer.body


def test_most_providers_follow_openai():
    assert told("groq", GONE) == (
        404,
        {
            "error": {
                "message": "The model `m` does not exist or you do not have access to it.",
                "type": "invalid_request_error",
                "param": None,
                "code": "model_not_found",
            }
        },
    )


def test_cerebras_tells_the_error_without_a_frame():
    status, body = told("cerebras", GONE)

    assert (status, body["code"]) == (404, "model_not_found")


def test_anthropic_has_a_type_for_each_status():
    assert told("anthropic", OVERLOADED) == (
        529,
        {
            "type": "error",
            "error": {"type": "overloaded_error", "message": "The service is in trouble."},
            "request_id": "r1",
        },
    )


def test_google_has_a_status_word_beside_the_code():
    assert told("vertex", LIMITED) == (
        429,
        {
            "error": {
                "code": 429,
                "message": "Rate limit reached. Try again in 7 s.",
                "status": "RESOURCE_EXHAUSTED",
            }
        },
    )


def test_azure_speaks_of_deployments():
    status, body = told("azure", GONE)

    assert (status, body["error"]["code"]) == (404, "DeploymentNotFound")


def test_nvidia_tells_a_problem():
    assert told("nvidia", BAD_KEY) == (
        401,
        {"status": 401, "title": "bad_key", "detail": "Invalid API key."},
    )


@pytest.mark.parametrize(
    ("refusal", "status", "name"),
    [
        (LIMITED, 429, "ThrottlingException"),
        (BROKEN, 500, "InternalServerException"),
        (fault(FaultKind.FAIL, status=503), 503, "ServiceUnavailableException"),
        (fault(FaultKind.FAIL, status=424), 424, "ModelErrorException"),
        (GONE, 404, "ResourceNotFoundException"),
        (refuse_body("no"), 400, "ValidationException"),
        (RETIRED, 404, "ResourceNotFoundException"),
        (BAD_KEY, 403, "UnrecognizedClientException"),
        (refuse_midway(Trouble.OVERLOADED), 503, "ServiceUnavailableException"),
    ],
)
def test_amazon_names_the_exception_in_a_header(refusal, status, name):
    answer = error_answer("bedrock", Protocol.BEDROCK, refusal, "r1")

    assert (answer.status, list(answer.body)) == (status, ["message"])
    assert answer.headers["x-amzn-errortype"].split(":")[0] == name


def test_a_bad_key_of_the_gemini_api_is_a_400_that_only_its_details_tell_apart():
    status, body = told("google", BAD_KEY, Protocol.GEMINI)

    assert (status, body["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert [detail["reason"] for detail in body["error"]["details"]] == ["API_KEY_INVALID"]
    assert told("google", NO_KEY, Protocol.GEMINI)[0] == 403
    assert told("vertex", BAD_KEY, Protocol.GEMINI)[0] == 401


@pytest.mark.parametrize(
    ("provider", "status", "code"),
    [
        ("groq", 402, "insufficient_quota"),
        ("openai", 429, "insufficient_quota"),
        ("alibaba", 400, "Arrearage"),
        ("azure", 402, "insufficient_quota"),
        ("anthropic", 402, "billing_error"),
        ("google", 403, "BILLING_DISABLED"),
    ],
)
def test_a_spent_account_is_told_in_many_ways(provider, status, code):
    said, body = told(provider, SPENT)

    assert said == status
    assert f'"{code}"' in json.dumps(body)


@pytest.mark.parametrize(
    ("provider", "status", "code"),
    [
        ("groq", 400, "model_decommissioned"),
        ("together", 404, "model_not_found"),
        ("anthropic", 404, "not_found_error"),
        ("google", 404, "NOT_FOUND"),
        ("azure", 404, "DeploymentNotFound"),
    ],
)
def test_a_retired_model_is_told_in_many_ways(provider, status, code):
    said, body = told(provider, RETIRED)

    assert said == status
    assert f'"{code}"' in json.dumps(body)


@pytest.mark.parametrize(
    ("protocol", "first"),
    [(Protocol.GEMINI, "error"), (Protocol.BEDROCK, "message"), (Protocol.ANTHROPIC, "type")],
)
def test_a_provider_nobody_knows_has_the_form_of_its_protocol(protocol, first):
    assert next(iter(told("own", BROKEN, protocol)[1])) == first


def test_the_member_at_fault_is_named():
    _, body = told("openai", refuse_body("no such thing", param="seed", code="unknown_parameter"))

    assert (body["error"]["param"], body["error"]["code"]) == ("seed", "unknown_parameter")


@pytest.mark.parametrize(
    ("provider", "name"),
    [
        ("groq", "x-request-id"),
        ("anthropic", "request-id"),
        ("azure", "apim-request-id"),
        ("bedrock", "x-amzn-requestid"),
    ],
)
def test_the_requests_id_stands_where_the_provider_has_it(provider, name):
    assert error_answer(provider, None, BROKEN, "r1").headers[name] == "r1"


def test_a_rate_limit_says_how_long_to_wait():
    assert (LIMITED.status, LIMITED.retry_after_s) == (429, 7)
