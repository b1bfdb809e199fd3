"""Reads a line of the region's queue: a Celery message, of which the task alone is taken.

Pure. Whoever can write to the broker writes these lines, so everything is checked that the parts
below would otherwise trust.
"""

import base64
import binascii
import json
from typing import Any

from pacewatch.words.errors import WireError
from pacewatch.words.wire import TASK_NAME, Task, decode_task

MAX_BODY = 16_384
"""Characters of a message's body; a task's has some 500."""


def read_message(raw: object) -> Task:
    """Return the task of a message as it lies in the queue; raises WireError with the reason."""
    if not isinstance(raw, dict):
        raise WireError(f"message: a JSON object is needed, not {type(raw).__name__}")
    headers = _object(raw, "headers")
    if headers.get("task") != TASK_NAME:
        raise WireError(
            f'message: unknown task {str(headers.get("task"))[:80]!r} (known: "{TASK_NAME}")'
        )
    if headers.get("compression"):
        raise WireError("message: a compressed body is not read")
    if raw.get("content-type") != "application/json" or raw.get("content-encoding") != "utf-8":
        raise WireError(
            f"message: content {str(raw.get('content-type'))[:80]!r} is not read "
            "(allowed: application/json in utf-8)"
        )
    _check_delivery(_object(raw, "properties"))
    return decode_task(_argument(raw))


def _object(raw: dict[str, Any], name: str) -> dict[str, Any]:
    value = raw.get(name)
    if not isinstance(value, dict):
        raise WireError(f"message: {name} must be a JSON object")
    return value


def _check_delivery(properties: dict[str, Any]) -> None:
    info = _object(properties, "delivery_info")
    told = (properties.get("delivery_tag"), info.get("exchange"), info.get("routing_key"))
    if not all(isinstance(value, str) for value in told):
        raise WireError("message: delivery_tag, exchange and routing_key must be strings")
    if properties.get("body_encoding") != "base64":
        raise WireError("message: body_encoding must be base64")


def _argument(raw: dict[str, Any]) -> object:
    body = raw.get("body")
    if not isinstance(body, str) or len(body) > MAX_BODY:
        raise WireError(f"message: body must be a string of at most {MAX_BODY} characters")
    try:
        told = json.loads(base64.b64decode(body, validate=True))
    except (ValueError, binascii.Error, RecursionError) as error:
        raise WireError("message: the body is not base64 of JSON") from error
    if not isinstance(told, list) or len(told) != 3 or not isinstance(told[0], list):
        raise WireError("message: the body must be a list of arguments, names and options")
    if len(told[0]) != 1 or told[1] != {}:
        raise WireError("message: a task has one argument and no names")
    return told[0][0]
