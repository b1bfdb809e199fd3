from datetime import UTC, datetime

import pytest

from pacewatch.words.timing import RateLimits
from probe.headers import rate_limits, request_id, retry_after_s

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({}, None),
        ({"retry-after": "20"}, 20),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 GMT"}, 30),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0),
        (
            {"retry-after": "Sun, 01 Mar 2026 12:00:30 GMT",
             "date": "Sun, 01 Mar 2026 12:00:20 GMT"},
            10,
        ),
        ({"retry-after": "2026-03-01T12:00:05Z"}, 5),
    ],
)  # fmt: skip
def test_a_wait_is_told_as_seconds_or_as_a_moment(headers, wait_s):
    assert retry_after_s(headers, NOW) == wait_s


def test_rate_limits_have_one_form():
    told = rate_limits(
        {
            "x-ratelimit-limit-requests": "1000",
            "x-ratelimit-remaining-requests": "999",
            "x-ratelimit-reset-requests": "1m26.4s",
            "x-ratelimit-limit-tokens": "6000",
            "x-ratelimit-remaining-tokens": "5990",
            "x-ratelimit-reset-tokens": "120ms",
        },
        NOW,
    )

    assert told == RateLimits(
        requests_left=999,
        requests_limit=1000,
        requests_reset_s=pytest.approx(86.4),
        tokens_left=5990,
        tokens_limit=6000,
        tokens_reset_s=pytest.approx(0.12),
    )


def test_rate_limits_go_by_several_names():
    told = rate_limits(
        {
            "anthropic-ratelimit-requests-limit": "50",
            "anthropic-ratelimit-requests-remaining": "49",
            "anthropic-ratelimit-requests-reset": "2026-03-01T12:00:30Z",
            "x-ratelimit-remaining-tokens-minute": "500",
            "x-ratelimit-remaining-tokens-day": "9",
            "x-ratelimit-reset-tokens-day": "1772366460",
        },
        NOW,
    )

    assert told is not None
    assert (told.requests_left, told.requests_limit, told.requests_reset_s) == (49, 50, 30)
    assert (told.tokens_left, told.tokens_reset_s) == (500, 60)


@pytest.mark.parametrize(
    "headers",
    [{}, {"x-ratelimit-remaining-requests": "many"}, {"x-ratelimit-reset-tokens": "soon"}],
)
def test_no_rate_limits_are_none(headers):
    assert rate_limits(headers, NOW) is None


def test_the_providers_request_id_goes_by_several_names():
    assert request_id({"request-id": "r1"}) == "r1"
    assert request_id({"x-request-id": "r2", "request-id": "r1"}) == "r2"
    assert request_id({"x-request-id": "x" * 1000}) is None
    assert request_id({}) is None
