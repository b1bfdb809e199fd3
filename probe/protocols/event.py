"""JSON events of a stream, and the errors that they, or a plain JSON body, may tell."""

import json
from typing import Any

from probe.protocols.foreign import code_word, word
from probe.protocols.interface import Frame, MalformedAnswer, StreamFault

_ERRORS = frozenset({"error", "exception"})
"""Names of events that are errors, whatever they hold."""

_KEEP_ALIVE = frozenset({"ping", "heartbeat", "keepalive", "keep-alive", "keep_alive"})
"""Names of events that may hold anything."""


def event_of(frame: Frame) -> dict[str, Any] | None:
    """Return the JSON object of an event; None where it holds nothing to read.

    An event that is called an error may hold text alone. Raises MalformedAnswer for what else is no
    JSON.
    """
    text = frame.data
    if not text or text.isspace() or frame.name in _KEEP_ALIVE:
        return None
    try:
        event = json.loads(text)
    except (ValueError, RecursionError):
        if frame.name.casefold() in _ERRORS:
            return {"error": text.strip()}
        raise MalformedAnswer("bad_json") from None
    if isinstance(event, list) and len(event) == 1:
        event = event[0]  # as Google sends errors
    return event if isinstance(event, dict) else None


def is_done(frame: Frame) -> bool:
    """Tell whether an event is the mark by which some say that all is done."""
    return "[DONE]" in frame.data[:16] and frame.data.strip() == "[DONE]"


def named(told: object) -> str:
    """Return what names a kind; empty for what is no text."""
    return told if isinstance(told, str) else ""


def fault_in(event: dict[str, Any], name: str) -> StreamFault | None:
    """Return the error that an event tells, in any of the ways that are in use."""
    error = event.get("error")
    if not error and isinstance(groq := event.get("x_groq"), dict):
        error = groq.get("error")
    if not error and (
        name.casefold() in _ERRORS
        or event.get("object") == "error"
        or event.get("type") == "error"
        or _is_bare(event)
    ):
        error = event
    if not error:
        return None
    code = code_of(error if isinstance(error, dict) else event)
    if code is None and isinstance(error, str) and " " not in error:
        code = code_word(error)
    return StreamFault(code=code)


def _is_bare(event: dict[str, Any]) -> bool:
    """Tell whether an event is itself an error, without a word that says so: a message with a code,
    or a detail alone.
    """
    if not isinstance(event.get("message"), str):
        return event.keys() == {"detail"}
    if "choices" in event or "candidates" in event:
        return False
    kind = named(event.get("type")).casefold()
    return event.get("code") is not None or kind.endswith(("error", "exception"))


def code_of(error: dict[str, Any]) -> str | None:
    """Return an error's code, else its type; a number gives way to the word for it, where that
    stands beside it as a status.
    """
    code, status = code_word(error.get("code")), code_word(error.get("status"))
    if code is not None and not (code.isdigit() and status):
        return code
    kind = code_word(error.get("type")) or code_word(error.get("error_type"))
    return status or (kind if kind != "error" else None)


def fault_of_plain(body: bytes) -> StreamFault:
    """Return the error of a plain JSON body; raises MalformedAnswer for anything else."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        told = None
    if isinstance(told, list) and told:
        told = told[0]
    if isinstance(told, dict):
        if (fault := fault_in(told, "")) is not None:
            return fault
        if (kind := word(told.get("__type"))) is not None:
            return StreamFault(code=kind.rpartition("#")[2])
        errors = told.get("errors")
        if isinstance(errors, list) and errors:
            return StreamFault(code=code_of(errors[0]) if isinstance(errors[0], dict) else None)
        if isinstance(told.get("message"), str) or told.get("detail"):
            return StreamFault(code=code_of(told))
    raise MalformedAnswer("no_event_stream")
