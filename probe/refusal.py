"""What the body of a refusal says, in whatever form: error codes, a message, how long to wait.

OpenAI and its many speakers hold code and type in an error object, Google a status and details
beside it, AWS a type beside the message; some send a list of one, some a text.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from probe.headers import span_s
from probe.protocols.foreign import code_word

_CODE_FIELDS = ("code", "type", "status", "__type", "error_code", "error_type", "reason")
"""Where an object holds its code, the most telling first."""

_WAIT_FIELDS = {
    "retryafter": 1.0,
    "retryafters": 1.0,
    "retryafterseconds": 1.0,
    "retryafterms": 1e-3,
    "retryaftermilliseconds": 1e-3,
    "retrydelay": 1.0,
}
"""Where an object holds the wait, in lower case and without underscores; its unit in seconds."""

_CLOCK_CODES = frozenset({"requesttimetooskewed", "requestexpired"})
_SIGNATURE_CODES = frozenset({"invalidsignatureexception", "signaturedoesnotmatch"})
_CLOCK_WORDS = ("signature expired", "signature not yet current")
"""How AWS says that a signature is good but for its time, which was that of our clock."""

MAX_MESSAGE = 2_000
MAX_DETAILS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """What a refusal's body says."""

    codes: tuple[str, ...] = ()
    """Every code and type, the most specific first: those of details and inner errors."""
    code: str | None = None
    """The error's own, to be kept: a word rather than a number."""
    message: str = ""
    retry_after_s: float | None = None


def read_refusal(body: bytes, now: datetime) -> Refusal:
    """Return what a body says; nothing where it is no JSON."""
    try:
        told: Any = json.loads(body)
    except (ValueError, RecursionError):
        return Refusal()
    if isinstance(told, list) and told:
        told = told[0]
    if not isinstance(told, dict):
        return Refusal()
    own, inner = _own(told), list(_inner(told))
    codes = [code for level in (*inner, *own) for code in _codes(level)]
    kept = [code for level in (*own, *inner) for code in _codes(level)]
    waits = (_wait_s(level, now) for level in (*own, *inner))
    return Refusal(
        codes=tuple(codes),
        code=next((code for code in kept if not code.isdigit()), kept[0] if kept else None),
        message=next((text for level in own if (text := _message(level))), ""),
        retry_after_s=next((wait for wait in waits if wait is not None), None),
    )


def _own(told: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the error and what it lies in."""
    error = told.get("error")
    if isinstance(error, dict):
        return [error, told]
    if isinstance(error, str) and "code" not in told:
        return [{"code": error}, told]
    return [told]


def _inner(told: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what lies in the error: its details, an inner error, what a gateway adds."""
    for level in _own(told):
        for field in ("details", "errors", "innererror", "inner_error", "metadata"):
            found = level.get(field)
            for one in found[:MAX_DETAILS] if isinstance(found, list) else [found]:
                if isinstance(one, dict):
                    yield one


def _codes(level: dict[str, Any]) -> Iterator[str]:
    for field in _CODE_FIELDS:
        if code := code_word(level.get(field)):
            yield plain_code(code)


def plain_code(code: str) -> str:
    """Return a code without the name space before it and the address behind it, as AWS has them."""
    return code.rpartition("#")[2].partition(":")[0]


def is_our_clock(codes: Iterable[str], message: str) -> bool:
    """Tell whether a signature was refused for its time alone."""
    plain = {code.casefold() for code in codes}
    if plain & _CLOCK_CODES:
        return True
    return bool(plain & _SIGNATURE_CODES) and message.casefold().startswith(_CLOCK_WORDS)


def _message(level: dict[str, Any]) -> str:
    for field in ("message", "Message", "detail"):
        if isinstance(text := level.get(field), str):
            return text[:MAX_MESSAGE]
    return ""


def _wait_s(level: Mapping[str, Any], now: datetime) -> float | None:
    for name, told in level.items():
        unit = _WAIT_FIELDS.get(name.casefold().replace("_", "").replace("-", ""))
        if unit is None:
            continue
        if isinstance(told, dict):
            told = told.get("seconds")
        if isinstance(told, int | float) and not isinstance(told, bool):
            told = str(told)
        if isinstance(told, str) and (wait := span_s(told, now)) is not None:
            return round(wait * unit, 3)
    return None
