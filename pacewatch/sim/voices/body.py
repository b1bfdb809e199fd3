"""Reading of request bodies: what all protocols share."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pacewatch.sim.refusals import Refusal, refuse_body
from pacewatch.sim.script import PROMPT_START_CHARS, Ask, count_prompt_tokens
from pacewatch.words.endpoint import Endpoint

_INNER = ("content", "parts", "text")
"""Where a message or a part of one holds what it says."""


def names(text: str) -> frozenset[str]:
    """Return the words of a text, as names that a body may hold."""
    return frozenset(text.split())


def limit_of(body: Mapping[str, Any], *names: str) -> int | Refusal | None:
    """Return the token limit by the first of the names that is there, None where none is."""
    for name in names:
        value = body.get(name)
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            return refuse_body(f"{name} must be a whole number of at least 1.")
        return value
    return None


def unknown_in(body: Mapping[str, Any], known: Collection[str]) -> Refusal | None:
    """Return the refusal of the first member that is not known; None where all are."""
    for name in body:
        if name not in known:
            message = f"Unknown parameter: '{name[:80]}'."
            return refuse_body(message, param=name[:80], code="unknown_parameter")
    return None


def table_in(body: Mapping[str, Any], name: str) -> Mapping[str, Any] | Refusal:
    """Return the object of that name, empty where there is none."""
    value = body.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        return refuse_body(f"{name} must be an object.", param=name)
    return value


def texts_in(value: object) -> Iterator[str]:
    """Yield every text of a prompt, however messages and parts nest."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, dict):
        yield from texts_in(next((value[name] for name in _INNER if name in value), None))


def asked(
    endpoint: Endpoint, *prompt: object, limit: int | None, reasons: bool, **more: Any
) -> Ask:
    """Return what is asked with the parts of a prompt; `more` are further fields."""
    text = "".join(texts_in(list(prompt)))
    return Ask(
        model=endpoint.provider_model,
        prompt_tokens=count_prompt_tokens(text),
        prompt_start=text[:PROMPT_START_CHARS],
        max_tokens=limit,
        reasons=reasons,
        room_tokens=endpoint.reasoning_tokens,
        **more,
    )
