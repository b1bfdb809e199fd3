from datetime import UTC, datetime

import pytest

from pacewatch.words.timing import RateLimits, ServerTimings
from probe.headers import rate_limits, request_id, retry_after_s, server_timings

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
        ({"retry-after": "250ms"}, 0.25),
        ({"retry-after": "1m30s"}, 90),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1772366405"}, 5),
        ({"x-ms-retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "2"}, 2),
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


LIMIT, LEFT, RESET = "limit", "remaining", "reset"


@pytest.mark.parametrize(
    ("names", "resets", "what"),
    [
        ("x-ratelimit-{}-requests", "30", "requests"),
        ("x-ratelimit-{}-tokens", "30s", "tokens"),
        ("anthropic-ratelimit-requests-{}", "2026-03-01T12:00:30Z", "requests"),
        ("anthropic-ratelimit-tokens-{}", "2026-03-01T12:00:30Z", "tokens"),
        ("anthropic-ratelimit-input-tokens-{}", "2026-03-01T12:00:30Z", "tokens"),
        ("anthropic-ratelimit-output-tokens-{}", "2026-03-01T12:00:30Z", "tokens"),
        ("x-ratelimit-{}-requests-day", "30.0", "requests"),
        ("x-ratelimit-{}-tokens-minute", "30.0", "tokens"),
        ("x-ratelimit-{}-tokens-prompt", "30", "tokens"),
        ("x-ratelimit-{}-tokens-generated", "30", "tokens"),
        ("x-ratelimit-{}", "1772366430000", "requests"),
        ("ratelimit-{}", "30", "requests"),
        ("x-tokenlimit-{}", "30", "tokens"),
    ],
)
def test_rate_limits_go_by_several_names(names, resets, what):
    told = rate_limits(
        {names.format(LEFT): "49", names.format(LIMIT): "50", names.format(RESET): resets}, NOW
    )

    assert told == RateLimits(
        **{f"{what}_left": 49, f"{what}_limit": 50, f"{what}_reset_s": pytest.approx(30)}
    )


def test_of_several_limits_the_one_of_which_the_smallest_part_is_left_is_told():
    told = rate_limits(
        {
            "x-ratelimit-remaining-tokens-minute": "500",
            "x-ratelimit-limit-tokens-minute": "1000",
            "x-ratelimit-remaining-tokens-day": "900",
            "x-ratelimit-limit-tokens-day": "10000",
            "x-ratelimit-reset-tokens-day": "1772366460",
        },
        NOW,
    )

    assert told == RateLimits(tokens_left=900, tokens_limit=10_000, tokens_reset_s=60)


def test_a_limit_without_its_size_is_told_where_nothing_is_known_to_be_scarcer():
    told = rate_limits({"x-ratelimit-remaining-tokens-day": "9"}, NOW)

    assert told == RateLimits(tokens_left=9)


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


def test_a_provider_may_tell_its_own_time_before_the_answer():
    told = server_timings(
        {"fireworks-server-time-to-first-token": "0.08", "fireworks-route": "a", "server": "x"}
    )

    assert told == ServerTimings(ttft_s=0.08, as_told={"server-time-to-first-token": "0.08"})
    assert server_timings({"server": "x"}) is None
