"""Reading of request bodies: bounds that all protocols share."""

from collections.abc import Iterator, Mapping
from typing import Any

from pacewatch.sim.refusals import Refusal, refuse_body


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


def texts_in(value: object) -> Iterator[str]:
    """Yield every text of a prompt, however messages and parts nest."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, dict):
        yield from texts_in(value.get("content", value.get("text")))
