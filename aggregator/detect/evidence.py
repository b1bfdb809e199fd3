"""One run as judging sees it, and which outcomes vote. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from pacewatch.words.error_code import outcome_of_code
from pacewatch.words.outcome import VOTING_OUTCOMES, Outcome
from pacewatch.words.slot import Load, Purpose

_QUOTA = frozenset({Outcome.RATE_LIMITED, Outcome.PAYMENT})
_QUOTA_STATUSES = frozenset({"429", "402"})
"""What some servers tell inside a stream in place of a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a run says: at most one vote on each question; None where it says nothing."""

    at: float
    """The slot's moment, seconds since 1970."""
    region: str
    workload: str
    load: Load = Load.SINGLE
    purpose: Purpose = Purpose.SCHEDULED
    ttft_s: float | None = None
    """Of the good requests the median, where no flag takes it out."""
    speed: float | None = None
    """Output speed, tokens/s, likewise."""
    end_to_end_s: float | None = None
    """The whole answer, likewise. It has no vote: it follows from the two."""
    failed: bool | None = None
    """True: it failed; False: it was good."""
    limited: bool | None = None
    """True: it met a rate limit or a spent quota; False: it was good."""
    gone: bool = False
    """The provider says that the model is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a request of a run ended."""

    outcome: Outcome
    error_type: str | None = None
    had_room: bool = True
    """False for an empty answer that ran into the token limit or was billed for reasoning."""


def fails(request: Ended) -> bool:
    """Tell whether the request counts as a failure of the endpoint."""
    if request.outcome is Outcome.EMPTY:
        return request.had_room
    return request.outcome in VOTING_OUTCOMES and not meets_quota(request)


def meets_quota(request: Ended) -> bool:
    """Tell whether the request met a rate limit or a spent quota, inside a stream as well."""
    told = request.error_type
    if request.outcome is Outcome.STREAM_ERROR and told is not None:
        return told in _QUOTA_STATUSES or outcome_of_code(told) in _QUOTA
    return request.outcome in _QUOTA


def votes_of(requests: Sequence[Ended]) -> tuple[bool | None, bool | None, bool]:
    """Return `failed`, `limited` and `gone` of a run of one or more requests.

    It failed if at least half its requests did, met its quota if any did, is gone if all say so.
    """
    failures = sum(fails(one) for one in requests)
    limits = sum(meets_quota(one) for one in requests)
    has_good = any(one.outcome is Outcome.OK for one in requests)
    return (
        True if failures and 2 * failures >= len(requests) else False if has_good else None,
        True if limits else False if has_good else None,
        bool(requests) and all(one.outcome is Outcome.NOT_SERVED for one in requests),
    )
