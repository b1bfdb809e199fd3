import json
import logging
from datetime import UTC, datetime

import httpcore2
import pytest

from pacewatch.words.outcome import Outcome
from pacewatch.words.timing import Fault
from probe import classify
from probe.arrivals import BrokenLink
from probe.classify import of_exception, of_status, of_stream_fault, without_secret
from probe.connect import NoLink
from probe.network import NotHttp
from probe.protocols.interface import MalformedAnswer

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def outcome(status: int, body: object = None, **headers: str) -> Outcome:
    told = b"" if body is None else json.dumps(body).encode()
    return of_status(status, headers, told, NOW).outcome


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (301, Outcome.REJECTED),
        (307, Outcome.REJECTED),
        (400, Outcome.REJECTED),
        (401, Outcome.AUTH),
        (402, Outcome.PAYMENT),
        (403, Outcome.AUTH),
        (404, Outcome.NOT_SERVED),
        (405, Outcome.REJECTED),
        (413, Outcome.REJECTED),
        (422, Outcome.REJECTED),
        (429, Outcome.RATE_LIMITED),
        (500, Outcome.SERVER_ERROR),
        (502, Outcome.SERVER_ERROR),
        (503, Outcome.OVERLOADED),
        (504, Outcome.SERVER_ERROR),
        (529, Outcome.OVERLOADED),
        (599, Outcome.SERVER_ERROR),
        (101, Outcome.MALFORMED),
    ],
)
def test_a_status_alone_has_an_outcome(status, expected):
    assert outcome(status) is expected


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (400, {"error": {"code": "model_decommissioned"}}, Outcome.NOT_SERVED),
        (403, {"error": {"code": "model_not_found"}}, Outcome.NOT_SERVED),
        (429, {"error": {"type": "insufficient_quota", "code": None}}, Outcome.PAYMENT),
        (429, {"error": {"type": "insufficient_quota", "code": "429"}}, Outcome.PAYMENT),
        (500, {"type": "error", "error": {"type": "overloaded_error"}}, Outcome.OVERLOADED),
        (400, {"error": {"code": "content_filter"}}, Outcome.FILTERED),
        (
            400,
            {"error": {"code": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}}},
            Outcome.FILTERED,
        ),
        (400, [{"error": {"code": 400, "status": "RESOURCE_EXHAUSTED"}}], Outcome.RATE_LIMITED),
        (
            400,
            {"error": {"code": 400, "details": [{"reason": "API_KEY_INVALID"}, "odd"]}},
            Outcome.AUTH,
        ),
        (400, {"__type": "com.amazon#ThrottlingException"}, Outcome.RATE_LIMITED),
        (400, {"error": "invalid_api_key"}, Outcome.AUTH),
        (404, {"detail": "Not Found"}, Outcome.NOT_SERVED),
        (301, {"error": {"code": "insufficient_quota"}}, Outcome.REJECTED),
    ],
)
def test_a_recognised_code_beats_the_status(status, body, expected):
    assert outcome(status, body) is expected


def test_the_word_quota_alone_is_no_payment():
    body = {"error": {"message": "quota of requests exceeded", "code": "quota_exceeded"}}

    assert outcome(429, body) is Outcome.RATE_LIMITED


def test_a_header_may_tell_the_code():
    told = of_status(400, {"x-amzn-errortype": "ThrottlingException:http://x"}, b"", NOW)

    assert told.outcome is Outcome.RATE_LIMITED
    assert told.fault == Fault(status=400, type="ThrottlingException")


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"7", b'"x"', b"{", b"[" * 100_000])
def test_a_body_that_says_nothing_leaves_the_status(body):
    told = of_status(500, {}, body, NOW)

    assert (told.outcome, told.fault) == (Outcome.SERVER_ERROR, Fault(status=500))


def test_the_providers_own_code_and_the_wait_are_kept():
    body = b'{"error": {"type": "requests", "code": "rate_limit_exceeded"}}'
    told = of_status(429, {"retry-after": "20"}, body, NOW)

    assert told.fault == Fault(status=429, type="rate_limit_exceeded", retry_after_s=20)


def test_a_code_of_several_words_is_kept_as_one_and_a_long_one_is_not():
    assert classify.fault_word("Too Many\nRequests") == "Too_Many_Requests"
    assert classify.fault_word("x" * 81) is None
    assert classify.fault_word(None) is None


@pytest.mark.parametrize(
    ("error", "has_ended", "expected", "kind"),
    [
        (NoLink(Outcome.DNS, "EAI_NONAME"), False, Outcome.DNS, "EAI_NONAME"),
        (NoLink(Outcome.INTERNAL, "proxy_refused"), False, Outcome.INTERNAL, "proxy_refused"),
        (MalformedAnswer("bad_json"), False, Outcome.MALFORMED, "bad_json"),
        (NotHttp(), False, Outcome.MALFORMED, "no_http"),
        (httpcore2.RemoteProtocolError("x"), False, Outcome.MALFORMED, "bad_http"),
        (httpcore2.RemoteProtocolError("x"), True, Outcome.DISCONNECTED, None),
        (BrokenLink(), False, Outcome.DISCONNECTED, None),
        (KeyError("surprise"), False, Outcome.INTERNAL, "KeyError"),
    ],
)
def test_every_exception_has_an_outcome(error, has_ended, expected, kind):
    told = of_exception(error, status=None, has_ended=has_ended)

    assert told.outcome is expected
    assert (told.fault.type if told.fault else None) == kind


def test_a_broken_link_says_what_broke_it():
    error = BrokenLink()
    error.__cause__ = ConnectionResetError(104, "reset")

    told = of_exception(error, status=200, has_ended=False)

    assert told.fault == Fault(status=200, type="ECONNRESET")


def test_what_nobody_expected_is_logged_with_its_type_and_without_its_text(caplog):
    try:
        raise ValueError("sk-secret")
    except ValueError as error:
        with caplog.at_level(logging.ERROR):
            of_exception(error, status=None, has_ended=False)

    (record,) = caplog.records
    assert record.facts["fault_type"] == "ValueError"
    assert "test_classify.py" in record.facts["fault_at"]
    assert "sk-secret" not in str(record.__dict__)


def test_an_error_inside_a_200_has_one_outcome_whatever_its_code():
    told = of_stream_fault("insufficient_quota", 200)

    assert told.outcome is Outcome.STREAM_ERROR
    assert told.fault == Fault(status=200, type="insufficient_quota")


def test_a_word_that_repeats_a_secret_or_is_a_piece_of_one_is_not_kept():
    secrets = ("test-key-0123456789", "the quiet river carries a boat")

    assert without_secret("bad key test-key-0123456789", secrets) is None
    assert without_secret("river carries", secrets) is None
    assert without_secret("a boat", secrets) == "a boat"
    assert without_secret("invalid_api_key", secrets) == "invalid_api_key"
    assert without_secret(None, secrets) is None


def test_a_key_of_one_letter_hides_no_word_but_itself():
    assert without_secret("max_tokens", ("x",)) == "max_tokens"
    assert without_secret("x", ("x",)) is None
