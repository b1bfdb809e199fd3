"""What an answer's headers say: who answered, what is left of the rate limits, how long to wait."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pacewatch.words.timing import RateLimits, ServerTimings
from probe.protocols.foreign import count, number, timings, word

_REQUEST_IDS = ("x-request-id", "request-id", "apim-request-id", "x-amzn-requestid")
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|us|s|m|h|d)")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_EPOCH_FROM, _EPOCH_MS_FROM, _EPOCH_UNTIL = 10**9, 10**11, 10**14
"""A bare number from here on is a moment in seconds, in milliseconds, and nothing any more."""


def request_id(headers: Mapping[str, str]) -> str | None:
    """Return the provider's own id of the request."""
    return next((told for name in _REQUEST_IDS if (told := word(headers.get(name)))), None)


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the wait that is asked for, told as a span or as a moment; never negative.

    A moment is compared with the answer's own date where it has one, so that our clock does not
    matter.
    """
    for name in ("retry-after-ms", "x-ms-retry-after-ms"):
        if (ms := number(headers.get(name))) is not None:
            return ms / 1000
    told = headers.get("retry-after")
    if told is None:
        return None
    wait_s = span_s(told, _moment(headers.get("date")) or now)
    return None if wait_s is None else round(wait_s, 3)


_LIMITS = {
    "requests": (
        "x-ratelimit-{}-requests",
        "anthropic-ratelimit-requests-{}",
        "x-ratelimit-{}-requests-minute",
        "x-ratelimit-{}-requests-hour",
        "x-ratelimit-{}-requests-day",
        "x-ratelimit-{}",
        "ratelimit-{}",
    ),
    "tokens": (
        "x-ratelimit-{}-tokens",
        "anthropic-ratelimit-tokens-{}",
        "anthropic-ratelimit-input-tokens-{}",
        "anthropic-ratelimit-output-tokens-{}",
        "x-ratelimit-{}-tokens-minute",
        "x-ratelimit-{}-tokens-hour",
        "x-ratelimit-{}-tokens-day",
        "x-ratelimit-{}-tokens-prompt",
        "x-ratelimit-{}-tokens-generated",
        "x-tokenlimit-{}",
    ),
}
"""The names that a limit goes by; each with `remaining`, `limit` and `reset` in it."""


def rate_limits(headers: Mapping[str, str], now: datetime) -> RateLimits | None:
    """Return what is left of the rate limits; None where the headers do not say.

    Of several limits on the same, the one of which the smallest part is left.
    """
    requests, tokens = (_scarcest(headers, names, now) for names in _LIMITS.values())
    if requests == tokens == _UNTOLD:
        return None
    return RateLimits(
        requests_left=requests[0],
        requests_limit=requests[1],
        requests_reset_s=requests[2],
        tokens_left=tokens[0],
        tokens_limit=tokens[1],
        tokens_reset_s=tokens[2],
    )


_Limit = tuple[int | None, int | None, float | None]
_UNTOLD: _Limit = (None, None, None)


def _scarcest(headers: Mapping[str, str], names: Sequence[str], now: datetime) -> _Limit:
    """Return what is left, the whole and the time of the reset of the limit that is met first."""
    found = [limit for name in names if (limit := _limit(headers, name, now)) != _UNTOLD]
    return min(found, key=_part_left, default=_UNTOLD)


def _limit(headers: Mapping[str, str], name: str, now: datetime) -> _Limit:
    left, limit = (count(number(headers.get(name.format(w)))) for w in ("remaining", "limit"))
    reset = headers.get(name.format("reset"))
    return left, limit, None if reset is None else span_s(reset, now)


def _part_left(limit: _Limit) -> float:
    left, whole, _ = limit
    return left / whole if left is not None and whole else 1.0


def server_timings(headers: Mapping[str, str]) -> ServerTimings | None:
    """Return a provider's own timings, where it tells them before the answer."""
    prefix = "fireworks-"
    return timings(
        None,
        {
            name.removeprefix(prefix): text
            for name, text in headers.items()
            if name.startswith(prefix) and number(text) is not None
        },
    )


def span_s(told: str, now: datetime) -> float | None:
    """Return a span told as `6m0s`, `120ms`, seconds, or as a moment: a date, or seconds or
    milliseconds since 1970. Never negative.
    """
    text = told.strip()
    try:
        amount = float(text)
    except ValueError:
        return _of_units(text, now)
    if not 0 <= amount < _EPOCH_UNTIL:
        return None
    if amount < _EPOCH_FROM:
        return amount
    return max(0.0, (amount / 1000 if amount >= _EPOCH_MS_FROM else amount) - now.timestamp())


def _of_units(text: str, now: datetime) -> float | None:
    parts = _SPAN.findall(text)
    if parts and "".join(a + b for a, b in parts) == text:
        return float(sum(float(amount) * _SECONDS[unit] for amount, unit in parts))
    moment = _moment(text)
    return None if moment is None else max(0.0, (moment - now).total_seconds())


def _moment(told: str | None) -> datetime | None:
    """Return the moment of an HTTP date or of RFC 3339."""
    if told is None:
        return None
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(told.strip())
        except (ValueError, TypeError, IndexError):
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None
