"""What an answer's headers say: who answered, what is left of the rate limits, how long to wait."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pacewatch.words.timing import RateLimits
from probe.protocols.foreign import count, number, word

_REQUEST_IDS = ("x-request-id", "request-id", "apim-request-id", "x-amzn-requestid")
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|us|s|m|h|d)")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_EPOCH_FROM = 1_000_000_000
"""A bare number from here on is a moment, not a span."""


def request_id(headers: Mapping[str, str]) -> str | None:
    """Return the provider's own id of the request."""
    return next((told for name in _REQUEST_IDS if (told := word(headers.get(name)))), None)


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the wait that is asked for, told as seconds or as a moment; never negative.

    A moment is compared with the answer's own date where it has one, so that our clock does not
    matter.
    """
    if (ms := number(headers.get("retry-after-ms"))) is not None:
        return ms / 1000
    told = headers.get("retry-after")
    if told is None:
        return None
    if (seconds := number(told)) is not None:
        return seconds
    moment = _moment(told)
    if moment is None:
        return None
    return max(0.0, round((moment - (_moment(headers.get("date")) or now)).total_seconds(), 3))


def rate_limits(headers: Mapping[str, str], now: datetime) -> RateLimits | None:
    """Return what is left of the rate limits; None where the headers do not say."""
    told: dict[str, int | float | None] = {}
    for what in ("requests", "tokens"):
        for field, name in (("left", "remaining"), ("limit", "limit")):
            told[f"{what}_{field}"] = count(_as_number(_find(headers, name, what)))
        told[f"{what}_reset_s"] = _span_s(_find(headers, "reset", what), now)
    if all(value is None for value in told.values()):
        return None
    return RateLimits(**told)  # type: ignore[arg-type]  # the names say which are whole


def _find(headers: Mapping[str, str], name: str, what: str) -> str | None:
    """Return the header of that name, in any of the ways in use; a minute's before a day's."""
    for known in (
        f"x-ratelimit-{name}-{what}",
        f"anthropic-ratelimit-{what}-{name}",
        f"x-ratelimit-{name}-{what}-minute",
        f"x-ratelimit-{name}-{what}-hour",
        f"x-ratelimit-{name}-{what}-day",
    ):
        if known in headers:
            return headers[known]
    return None


def _as_number(told: str | None) -> float | None:
    return None if told is None else number(told)


def _span_s(told: str | None, now: datetime) -> float | None:
    """Return a span told as `6m0s`, `120ms`, seconds, or as a moment."""
    if told is None:
        return None
    text = told.strip()
    if (seconds := number(text)) is not None:
        return seconds if seconds < _EPOCH_FROM else max(0.0, seconds - now.timestamp())
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
