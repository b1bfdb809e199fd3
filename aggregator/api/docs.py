"""`/docs`: the API described on a page of our own, which loads nothing from elsewhere."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup

from aggregator.api.html import HEADERS, rendered

router = APIRouter(include_in_schema=False)

_METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One thing that may be said to an operation."""

    name: str
    where: str
    """query, path, header or body."""
    needed: bool
    text: str
    words: tuple[str, ...] = ()
    """All that are allowed; empty where it is no choice of words."""
    several: bool = False
    """Whether it may be given more than once."""


_TOKEN = Parameter(
    name="Authorization",
    where="header",
    needed=True,
    text="`Bearer` and a token of a scope that may do this.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of an answer."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path."""

    method: str
    path: str
    text: str
    parameters: tuple[Parameter, ...]
    answers: tuple[str, ...]
    """Status codes that it documents."""
    members: tuple[Member, ...]
    """Of the document that it answers."""


def marked(text: str) -> Markup:
    """Return a text with what stands between backticks as code, everything escaped."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one that nothing closes stands for itself
        parts[-2:] = ["`".join(parts[-2:])]
    code = Markup("<code>{}</code>")
    return Markup("").join(code.format(x) if n % 2 else x for n, x in enumerate(parts))


@router.get("/docs")
def docs(request: Request) -> Response:
    """Return the page of every operation of the schema."""
    schema: Mapping[str, Any] = request.app.openapi()
    simulated = request.app.state.centre.fleet.simulated
    operations = list(operations_of(schema))
    text = rendered("docs.html", simulated=simulated, operations=operations, marked=marked)
    return HTMLResponse(text, headers=HEADERS)


def operations_of(schema: Mapping[str, Any]) -> Iterator[Operation]:
    """Give the operations of an OpenAPI schema, by path. Pure."""
    for path, methods in sorted(schema["paths"].items()):
        for method in _METHODS:
            if method in methods:
                yield _operation(method, path, methods[method], schema)


def _operation(
    method: str, path: str, told: Mapping[str, Any], schema: Mapping[str, Any]
) -> Operation:
    answers = told.get("responses", {})
    answered = answers.get("200") or answers.get("201") or {}
    return Operation(
        method=method.upper(),
        path=path,
        text=" ".join(told.get("description", told.get("summary", "")).split()),
        parameters=(*_parameters(told, schema), *_asked(told, schema)),
        answers=tuple(sorted(answers)),
        members=tuple(
            Member(name=name, text=its.get("description", ""))
            for name, its in _body(answered, schema).get("properties", {}).items()
        ),
    )


def _parameters(told: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Parameter]:
    if told.get("security"):
        yield _TOKEN
    for found in told.get("parameters", ()):
        yield Parameter(
            name=found["name"],
            where=found["in"],
            needed=found.get("required", False),
            text=found.get("description", ""),
            words=tuple(_words(found.get("schema", {}), schema)),
            several=any(one.get("type") == "array" for one in _forms(found.get("schema", {}))),
        )


def _forms(told: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return a schema, and those of which it may be any."""
    return (told, *told.get("anyOf", ()))


def _words(told: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    """Give the words that a value may be, or each of several values."""
    told = _referred(told, schema)
    yield from told.get("enum", ())
    for part in (*told.get("anyOf", ()), told.get("items", {})):
        if part:
            yield from _words(part, schema)


def _asked(told: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Parameter]:
    """Give the members of the body that is taken."""
    body = _body(told.get("requestBody", {}), schema)
    for name, its in body.get("properties", {}).items():
        needed = name in body.get("required", ())
        yield Parameter(name=name, where="body", needed=needed, text=its.get("description", ""))


def _body(told: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of a body in JSON; an empty one where there is none, or it is text."""
    media: Mapping[str, Any] = next(
        (one for name, one in told.get("content", {}).items() if "json" in name), {}
    )
    return _referred(media.get("schema", {}), schema)


def _referred(told: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a schema is, where it only names another one."""
    name = told.get("$ref", "").rpartition("/")[2]
    return schema["components"]["schemas"][name] if name else told
