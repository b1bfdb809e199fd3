"""Answers that say what they are a version of, so that an unchanged one is not sent again."""

import hashlib
import json
from typing import Any

from fastapi import Request, Response

UNCHANGED: dict[int | str, dict[str, Any]] = {
    304: {"description": "Nothing has changed since the answer of that ETag."}
}
"""What an API description adds to a route that answers so."""


def tagged(request: Request, document: dict[str, Any]) -> Response:
    """Return the document with a tag of all its members but the moment `at`, where it has one; 304
    to who has it.
    """
    at = document.pop("at", None)
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    tag = f'W/"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    body = text if at is None else f'{{"at":{json.dumps(at)},{text[1:]}'
    return Response(body, headers=headers, media_type="application/json")
