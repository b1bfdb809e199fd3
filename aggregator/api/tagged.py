"""Answers that say what they are a version of, so that an unchanged one is not sent again."""

import hashlib
from collections.abc import Mapping

from fastapi import Request, Response
from pydantic_core import to_json


def tagged(request: Request, document: Mapping[str, object]) -> Response:
    """Return the document as JSON, what is no number as null, with a tag of all its members but the
    moment `at`, where it has one; 304 to who has it, or asks with `*` whether there is any.
    """
    told = dict(document)
    at = told.pop("at", None)
    text = to_json(told, inf_nan_mode="null")
    tag = f'W/"{hashlib.sha256(text).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    had = request.headers.get("if-none-match", "")
    if tag.removeprefix("W/") in had or had.strip() == "*":  # weak or strong: it is the same one
        return Response(status_code=304, headers=headers)
    body = text if at is None else b'{"at":%b,%b' % (to_json(at), text[1:])
    return Response(body, headers=headers, media_type="application/json")
