"""The API's own description, as tests hold answers against it."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

Schema = dict[str, Any]


def closed(described: Schema) -> Schema:
    """The description with documents that have no other members than it tells."""
    found = deepcopy(described)
    for name, schema in found["components"]["schemas"].items():
        if name.endswith("Document") and "properties" in schema:
            schema["additionalProperties"] = False
    return found


def operations(described: Schema) -> Iterator[tuple[str, str, Schema]]:
    """Each operation: its method, its path, what is told of it."""
    for path, methods in described["paths"].items():
        for method, told in methods.items():
            yield method.upper(), path, told


def resolved(described: Schema, schema: Schema) -> Schema:
    """The schema that a reference leads to."""
    while "$ref" in schema:
        schema = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def members_told(described: Schema, schema: Schema, document: Any) -> Iterator[tuple[str, str]]:
    """Each member of a described type that a document holds a value of: the type and its name."""
    schema = resolved(described, schema)
    for one in schema.get("anyOf", ()):
        if one.get("type") != "null" and document is not None:
            yield from members_told(described, one, document)
    if isinstance(document, list):
        for item in document:
            yield from members_told(described, schema.get("items", {}), item)
    if isinstance(document, dict):
        for name, value in document.items():
            its = schema.get("properties", {}).get(name)
            if its is not None and value is not None:
                yield schema["title"], name
            more = schema.get("additionalProperties")
            yield from members_told(
                described, its or (isinstance(more, dict) and more) or {}, value
            )
