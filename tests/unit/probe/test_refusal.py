"""What providers say when they refuse, in their own forms, and what becomes of it."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacewatch.words.outcome import Outcome
from probe.classify import of_status
from probe.refusal import read_refusal

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def openai(code: str | None, kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"error": {"message": "x", "type": kind, "param": None, "code": code}}


def anthropic(kind: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": "x"}, "request_id": "r"}


def google(code: int, status: str, *details: dict[str, Any]) -> dict[str, Any]:
    return {"error": {"code": code, "message": "x", "status": status, "details": list(details)}}


def info(reason: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}


def aws(kind: str) -> dict[str, str]:
    return {"x-amzn-errortype": f"{kind}:http://internal.amazon.com/coral/com.amazon.bedrock/"}


@pytest.mark.parametrize(
    ("status", "body", "outcome", "kind"),
    [
        (401, openai("invalid_api_key"), Outcome.AUTH, "invalid_api_key"),
        (404, openai("model_not_found"), Outcome.NOT_SERVED, "model_not_found"),
        (429, openai("rate_limit_exceeded", "tokens"), Outcome.RATE_LIMITED,
         "rate_limit_exceeded"),
        (429, openai("insufficient_quota", "insufficient_quota"), Outcome.PAYMENT,
         "insufficient_quota"),
        (400, openai("context_length_exceeded"), Outcome.REJECTED, "context_length_exceeded"),
        (400, openai("invalid_prompt"), Outcome.FILTERED, "invalid_prompt"),
        (400, openai(None), Outcome.REJECTED, "invalid_request_error"),
        (500, openai(None, "server_error"), Outcome.SERVER_ERROR, "server_error"),
        (503, openai("slow_down", "server_error"), Outcome.OVERLOADED, "slow_down"),
        (400, anthropic("invalid_request_error"), Outcome.REJECTED, "invalid_request_error"),
        (401, anthropic("authentication_error"), Outcome.AUTH, "authentication_error"),
        (402, anthropic("billing_error"), Outcome.PAYMENT, "billing_error"),
        (404, anthropic("not_found_error"), Outcome.NOT_SERVED, "not_found_error"),
        (429, anthropic("rate_limit_error"), Outcome.RATE_LIMITED, "rate_limit_error"),
        (529, anthropic("overloaded_error"), Outcome.OVERLOADED, "overloaded_error"),
        (400, google(400, "INVALID_ARGUMENT"), Outcome.REJECTED, "INVALID_ARGUMENT"),
        (400, google(400, "INVALID_ARGUMENT", info("API_KEY_INVALID")), Outcome.AUTH,
         "API_KEY_INVALID"),
        (400, google(400, "FAILED_PRECONDITION"), Outcome.REJECTED, "FAILED_PRECONDITION"),
        (401, google(401, "UNAUTHENTICATED", info("ACCESS_TOKEN_EXPIRED")), Outcome.AUTH,
         "UNAUTHENTICATED"),
        (403, google(403, "PERMISSION_DENIED"), Outcome.AUTH, "PERMISSION_DENIED"),
        (403, google(403, "PERMISSION_DENIED", info("BILLING_DISABLED")), Outcome.PAYMENT,
         "BILLING_DISABLED"),
        (404, google(404, "NOT_FOUND"), Outcome.NOT_SERVED, "NOT_FOUND"),
        (429, google(429, "RESOURCE_EXHAUSTED"), Outcome.RATE_LIMITED, "RESOURCE_EXHAUSTED"),
        (429, google(429, "RESOURCE_EXHAUSTED", info("MODEL_CAPACITY_EXHAUSTED")),
         Outcome.OVERLOADED, "MODEL_CAPACITY_EXHAUSTED"),
        (429, google(429, "RESOURCE_EXHAUSTED", info("RATE_LIMIT_EXCEEDED")),
         Outcome.RATE_LIMITED, "RESOURCE_EXHAUSTED"),
        (500, google(500, "INTERNAL"), Outcome.SERVER_ERROR, "INTERNAL"),
        (503, google(503, "UNAVAILABLE"), Outcome.OVERLOADED, "UNAVAILABLE"),
        (504, google(504, "DEADLINE_EXCEEDED"), Outcome.SERVER_ERROR, "DEADLINE_EXCEEDED"),
        (400, [google(400, "INVALID_ARGUMENT", info("API_KEY_INVALID"))], Outcome.AUTH,
         "API_KEY_INVALID"),
        (404, {"error": {"code": "DeploymentNotFound", "message": "x"}}, Outcome.NOT_SERVED,
         "DeploymentNotFound"),
        (401, {"error": {"code": "401", "message": "Access denied"}}, Outcome.AUTH, "401"),
        (429, {"error": {"code": "429", "message": "x"}}, Outcome.RATE_LIMITED, "429"),
        (400, {"error": {"code": "content_filter", "status": 400,
                         "innererror": {"code": "ResponsibleAIPolicyViolation"}}},
         Outcome.FILTERED, "content_filter"),
        (402, {"error": {"message": "x", "code": 402, "metadata": {"provider_name": "p"}}},
         Outcome.PAYMENT, "402"),
        (402, openai("insufficient_balance"), Outcome.PAYMENT, "insufficient_balance"),
        (402, openai("invalid_request_error", "insufficient_balance"), Outcome.PAYMENT,
         "insufficient_balance"),
        (402, openai("invalid_request_error", "unknown_error"), Outcome.PAYMENT,
         "invalid_request_error"),
        (429, openai("429", "billing_hard_limit_reached"), Outcome.PAYMENT,
         "billing_hard_limit_reached"),
        (400, {"code": "Arrearage", "message": "x", "request_id": "r"}, Outcome.PAYMENT,
         "Arrearage"),
        (404, {"object": "error", "message": "x", "type": "NotFoundError", "code": 404},
         Outcome.NOT_SERVED, "NotFoundError"),
        (429, {"error": {"message": "x", "type": "None", "param": "None", "code": "429"}},
         Outcome.RATE_LIMITED, "429"),
        (429, {"error": "Model is overloaded", "error_type": "overloaded"}, Outcome.OVERLOADED,
         "overloaded"),
        (422, {"detail": [{"type": "missing", "loc": ["body"]}]}, Outcome.REJECTED, None),
    ],
)  # fmt: skip
def test_a_refusal_in_its_providers_form_has_its_outcome(status, body, outcome, kind):
    told = of_status(status, {}, json.dumps(body).encode(), NOW)

    assert told.outcome is outcome
    assert told.fault is not None
    assert told.fault.type == kind


@pytest.mark.parametrize(
    ("status", "kind", "outcome"),
    [
        (400, "ValidationException", Outcome.REJECTED),
        (403, "AccessDeniedException", Outcome.AUTH),
        (403, "UnrecognizedClientException", Outcome.AUTH),
        (403, "ExpiredTokenException", Outcome.AUTH),
        (403, "InvalidSignatureException", Outcome.AUTH),
        (404, "ResourceNotFoundException", Outcome.NOT_SERVED),
        (408, "ModelTimeoutException", Outcome.SERVER_ERROR),
        (424, "ModelErrorException", Outcome.SERVER_ERROR),
        (429, "ModelNotReadyException", Outcome.OVERLOADED),
        (429, "ThrottlingException", Outcome.RATE_LIMITED),
        (400, "ThrottlingException", Outcome.RATE_LIMITED),
        (400, "ServiceQuotaExceededException", Outcome.RATE_LIMITED),
        (500, "InternalServerException", Outcome.SERVER_ERROR),
        (503, "ServiceUnavailableException", Outcome.OVERLOADED),
    ],
)
def test_aws_names_its_error_in_a_header_or_in_the_body(status, kind, outcome):
    body = b'{"message": "Try again later."}'
    by_header = of_status(status, aws(kind), body, NOW)
    by_body = of_status(
        status, {}, json.dumps({"__type": f"com.amazon.coral.service#{kind}"}).encode(), NOW
    )

    for told in (by_header, by_body):
        assert told.outcome is outcome
        assert told.fault is not None
        assert told.fault.type == kind


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("InvalidSignatureException",
         "Signature expired: 20260301T114000Z is now earlier than 20260301T115500Z"),
        ("InvalidSignatureException",
         "Signature not yet current: 20260301T123000Z is still later than 20260301T120500Z"),
        ("SignatureDoesNotMatch", "Signature expired: 20260301T114000Z is now earlier than x"),
        ("RequestTimeTooSkewed", "The difference between the times is too large."),
        ("RequestExpired", "x"),
    ],
)  # fmt: skip
def test_a_signature_that_is_refused_for_our_clock_is_our_own_fault(kind, message):
    told = of_status(403, aws(kind), json.dumps({"message": message}).encode(), NOW)

    assert told.outcome is Outcome.INTERNAL
    assert told.fault is not None
    assert (told.fault.status, told.fault.type) == (403, kind)


def test_only_a_signature_can_be_refused_for_our_clock():
    body = json.dumps({"error": {"code": "x", "message": "Signature expired: now"}}).encode()

    assert of_status(403, {}, body, NOW).outcome is Outcome.AUTH


def retry_info(delay: object) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


@pytest.mark.parametrize(
    ("body", "wait_s"),
    [
        (google(429, "RESOURCE_EXHAUSTED", retry_info("34.074s")), 34.074),
        (google(429, "RESOURCE_EXHAUSTED", retry_info({"seconds": 20, "nanos": 1})), 20),
        ({"error": {"code": "x", "retry_after": 1.5}}, 1.5),
        ({"error": {"code": "x", "retry_after_ms": 250}}, 0.25),
        ({"error": {"code": "x", "metadata": {"retryAfterSeconds": "7"}}}, 7),
        ({"retry-after": "2"}, 2),
        ({"retry_after": None}, None),
        ({"retry_after": True}, None),
        ({"retry_after": "soon"}, None),
        ({"retry_after": [1]}, None),
    ],
)
def test_a_body_may_tell_the_wait(body, wait_s):
    assert read_refusal(json.dumps(body).encode(), NOW).retry_after_s == wait_s


def test_a_wait_in_the_headers_goes_before_the_bodys_and_an_absurd_one_is_none():
    body = json.dumps(google(429, "RESOURCE_EXHAUSTED", retry_info("34s"))).encode()
    heard = of_status(429, {"retry-after": "20"}, body, NOW).fault
    absurd = of_status(429, {"retry-after": "99999999"}, b"", NOW).fault

    assert heard is not None
    assert absurd is not None
    assert (heard.retry_after_s, absurd.retry_after_s) == (20, None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["error", "code", "status", "details", "retryDelay", "message", "reason"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from([301, 400, 429, 503]))
def test_any_json_is_a_refusal_with_a_short_word_or_none(told, status):
    ending = of_status(status, {}, json.dumps(told).encode(), NOW)

    assert ending.fault is not None
    assert len(ending.fault.type or "") <= 80
    assert ending.fault.retry_after_s is None or ending.fault.retry_after_s >= 0
