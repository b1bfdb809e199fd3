"""How much a model that reasons is asked to: one word of ours, as each protocol's members."""

from collections.abc import Mapping
from typing import Any

from pacewatch.words.endpoint import Protocol

ROOM_TOKENS = 2_048
"""Room for reasoning beyond the workload's output, where an endpoint reasons and none is told."""


def effort_members(protocol: Protocol, effort: str) -> dict[str, Any] | None:
    """Return the members of a request's body that ask for an effort; None where the protocol has no
    setting of it.
    """
    if protocol is Protocol.OPENAI_CHAT:
        return {"reasoning_effort": effort}
    if protocol is Protocol.OPENAI_RESPONSES:
        return {"reasoning": {"effort": effort}}
    if protocol is Protocol.ANTHROPIC:
        return {"thinking": {"type": "adaptive"}, "output_config": {"effort": effort}}
    if protocol is Protocol.GEMINI:
        return {"generationConfig": {"thinkingConfig": {"thinkingLevel": effort}}}
    return None


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return both, tables member by member; what stands in both is taken from `over`."""
    found = dict(under)
    for name, value in over.items():
        below = found.get(name)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            found[name] = merged(below, value)
        else:
            found[name] = value
    return found
