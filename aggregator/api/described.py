"""What the API's description says of bodies, each a type declared beside what makes or reads it.

A document is a TypedDict, so the checker of types holds what makes it to what is described. Schemas
are made when the description is asked for, never for an answer.
"""

from datetime import datetime
from functools import cache
from typing import Annotated, Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import Field, TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from pacewatch.words.slot import to_rfc3339

_REFERENCE = "#/components/schemas/{model}"

_kinds: dict[str, Any] = {}
"""The described types by name, as the routes are made."""


def told(text: str) -> Any:
    """Return what a member's annotation says of it: what it is, its unit, what null means."""
    return Field(description=text)


Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
"""RFC 3339, UTC, with `Z`."""


def moment(at: datetime | None) -> str | None:
    """Return a moment as documents tell it."""
    return None if at is None else to_rfc3339(at)


UNCHANGED: dict[int | str, dict[str, Any]] = {
    304: {"description": "Nothing has changed since the answer of that ETag."}
}
"""What the description adds to a route whose answers are tagged."""


def answered(
    kind: Any, status: int = 200, media: str = "application/json"
) -> dict[int | str, dict[str, Any]]:
    """Return what the description says of an answer with such a document."""
    return {status: {"content": {media: {"schema": reference(kind)}}}}


def taken(kind: Any, *, needed: bool = True, says: str = "") -> dict[str, Any]:
    """Return what the description says of a request with such a body."""
    body = {"required": needed, "content": {"application/json": {"schema": reference(kind)}}}
    return {"requestBody": {"description": says, **body} if says else body}


def reference(kind: Any) -> dict[str, str]:
    """Return the reference to a type's schema, and have the description hold that."""
    name = kind.__name__
    if _kinds.setdefault(name, kind) is not kind:
        raise ValueError(f"two types of the API's description are called {name}")
    return {"$ref": _REFERENCE.format(model=name)}


@cache
def schemas() -> dict[str, Any]:
    """Return the schemas of all types that routes refer to, and of those within them, by name."""
    mode: JsonSchemaMode = "validation"
    asked = [(name, mode, TypeAdapter(kind)) for name, kind in _kinds.items()]
    _, made = TypeAdapter.json_schemas(asked, ref_template=_REFERENCE)
    found: dict[str, Any] = made["$defs"]
    return found


class DescribedAPI(FastAPI):
    """An application whose description holds the schemas of its bodies."""

    def openapi(self) -> dict[str, Any]:
        """Return the description, made once."""
        if self.openapi_schema is None:
            made = get_openapi(title=self.title, version=self.version, routes=self.routes)
            made.setdefault("components", {}).setdefault("schemas", {}).update(schemas())
            self.openapi_schema = made
        return self.openapi_schema
