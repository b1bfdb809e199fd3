"""The one border: status, error code, exception or end of an answer -> how the request ended.

The most specific wins. Whatever falls through is `internal`, is logged with its type, and never
counts against a provider. No text of a fault holds a key or a prompt.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import httpcore2

from pacewatch import log
from pacewatch.words.error_code import outcome_of_code
from pacewatch.words.outcome import Outcome
from pacewatch.words.timing import Fault
from probe.arrivals import BrokenLink
from probe.connect import NoLink, errno_word
from probe.headers import retry_after_s
from probe.network import NotHttp
from probe.protocols.foreign import word
from probe.protocols.interface import MalformedAnswer
from probe.refusal import is_our_clock, plain_code, read_refusal
from probe.sign import NoSignature

_LOGGER = logging.getLogger(__name__)

_STATUS = {
    401: Outcome.AUTH,
    402: Outcome.PAYMENT,
    403: Outcome.AUTH,
    404: Outcome.NOT_SERVED,
    429: Outcome.RATE_LIMITED,
    503: Outcome.OVERLOADED,
    529: Outcome.OVERLOADED,
}

_TELLING = 8
"""Characters from which on a repetition is no chance."""

_MAX_WAIT_S = 366 * 86_400
"""A longer wait is none that anybody meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a request ended."""

    outcome: Outcome
    fault: Fault | None = None


def of_status(status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> Ending:
    """Return the ending of an answer whose status is not 2xx."""
    told = read_refusal(body, now)
    codes = list(told.codes)
    if (named := word(headers.get("x-amzn-errortype"))) is not None:
        codes.append(plain_code(named))
    wait_s = retry_after_s(headers, now)
    wait_s = told.retry_after_s if wait_s is None else wait_s
    kind = told.code or (codes[-1] if codes else None)
    telling = next(filter(outcome_of_code, codes), None) if status >= 400 else None
    outcome = _of_refusal(status, codes, telling, told.message)
    if telling is not None and outcome_of_code(kind or "") is not outcome:
        kind = telling  # what lies inside the error decided, so the error's own word is too vague
    return Ending(
        outcome=outcome,
        fault=Fault(
            status=status,
            type=fault_word(kind),
            retry_after_s=wait_s if wait_s is not None and wait_s <= _MAX_WAIT_S else None,
        ),
    )


def _of_refusal(status: int, codes: list[str], telling: str | None, message: str) -> Outcome:
    if status >= 400 and is_our_clock(codes, message):
        log.event(_LOGGER, "probe.clock_refused", level=logging.ERROR, status=status)
        return Outcome.INTERNAL
    told = None if telling is None else outcome_of_code(telling)
    return told or _STATUS.get(status) or _of_class(status)


def _of_class(status: int) -> Outcome:
    if status >= 500:
        return Outcome.SERVER_ERROR
    return Outcome.REJECTED if status >= 300 else Outcome.MALFORMED


def of_exception(error: Exception, *, status: int | None, has_ended: bool) -> Ending:
    """Return the ending that an exception stands for; logs what nobody expected.

    `has_ended`: the other side had closed the connection when it was raised.
    """
    if isinstance(error, NoLink | NoSignature):
        if error.outcome is Outcome.INTERNAL:
            what = "probe.no_link" if isinstance(error, NoLink) else "probe.no_signature"
            log.event(_LOGGER, what, level=logging.WARNING, reason=error.reason)
        return Ending(outcome=error.outcome, fault=Fault(type=fault_word(error.reason)))
    if isinstance(error, MalformedAnswer):
        return Ending(outcome=Outcome.MALFORMED, fault=Fault(status=status, type=str(error)))
    if isinstance(error, BrokenLink):
        cause = error.__cause__
        kind = errno_word(cause) if isinstance(cause, OSError) else None
        return Ending(outcome=Outcome.DISCONNECTED, fault=Fault(status=status, type=kind))
    if isinstance(error, NotHttp):
        return Ending(outcome=Outcome.MALFORMED, fault=Fault(type="no_http"))
    if isinstance(error, httpcore2.RemoteProtocolError):
        if has_ended:
            return Ending(outcome=Outcome.DISCONNECTED, fault=_fault_with(status))
        return Ending(outcome=Outcome.MALFORMED, fault=Fault(status=status, type="bad_http"))
    log.event(
        _LOGGER,
        "probe.internal",
        level=logging.ERROR,
        fault_type=type(error).__name__,
        fault_at=_place(error),
    )
    return Ending(outcome=Outcome.INTERNAL, fault=Fault(type=type(error).__name__))


def _fault_with(status: int | None) -> Fault | None:
    return None if status is None else Fault(status=status)


def _place(error: Exception) -> str | None:
    """Return the file and line that an exception came from; its text may hold what must not be
    told.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return None
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"


def of_stream_fault(code: str | None, status: int | None) -> Ending:
    """Return the ending of an error inside a 200: always the same outcome, whatever its code."""
    return Ending(outcome=Outcome.STREAM_ERROR, fault=Fault(status=status, type=fault_word(code)))


def fault_word(told: str | None) -> str | None:
    """Return an error code fit to be kept, one short word; None for what is no code."""
    if told is None:
        return None
    text = "_".join(told.split())
    return text if 0 < len(text) <= 80 else None


def without_secret(told: str | None, secrets: tuple[str, ...]) -> str | None:
    """Return a provider's word; None where it repeats a secret, or a piece of one.

    Words and secrets of under eight characters must be equal: a server of one's own may have the
    key "x".
    """
    if told is None or any(_repeats(told, secret) for secret in secrets):
        return None
    return told


def _repeats(told: str, secret: str) -> bool:
    if told == secret:
        return True
    return (len(secret) >= _TELLING and secret in told) or (
        len(told) >= _TELLING and told in secret
    )
