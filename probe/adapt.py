"""What servers have refused to be asked, learnt from their refusals; for this process' life.

A server that refuses a member of the body by its name is measured without it from the next run on.
The refused request itself stays what it was: `rejected`. Nothing is asked again within a run.
"""

from dataclasses import replace
from typing import Any

from pacewatch.words.endpoint import Endpoint, Protocol

_INSTEAD: dict[str, Any] = {"stream_options": False, "max_completion_tokens": True}
"""The member that a refusal names -> what the endpoint's body says of it from then on."""

_REFUSALS = frozenset({400, 422})

_learnt: dict[tuple[str, str], dict[str, Any]] = {}


def learn(endpoint: Endpoint, status: int, body: bytes) -> None:
    """Take a refusal's body to heart where it names a member that can be asked otherwise."""
    if endpoint.protocol is not Protocol.OPENAI_CHAT or status not in _REFUSALS:
        return
    for member, instead in _INSTEAD.items():
        if member.encode() in body and member not in endpoint.body:
            _learnt.setdefault(_key(endpoint), {})[member] = instead


def adapted(endpoint: Endpoint) -> Endpoint:
    """Return the endpoint as it takes to be asked; its own body settings go before."""
    learnt = _learnt.get(_key(endpoint))
    return endpoint if learnt is None else replace(endpoint, body={**learnt, **endpoint.body})


def refused_members(endpoint: Endpoint) -> tuple[str, ...]:
    """Return the members that the endpoint's server has named in a refusal."""
    return tuple(_learnt.get(_key(endpoint), ()))


def _key(endpoint: Endpoint) -> tuple[str, str]:
    return endpoint.base_url, endpoint.provider_model
