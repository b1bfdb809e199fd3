"""Finds out which endpoint a request means and what it asks of it, or why it is refused. Pure."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from pacewatch.sim.faults import Fault
from pacewatch.sim.http import Request
from pacewatch.sim.refusals import (
    Refusal,
    refuse_body,
    refuse_by,
    refuse_key,
    refuse_model,
    refuse_path,
)
from pacewatch.sim.script import Ask, Nature, nature_of
from pacewatch.sim.voices.interface import Speaker
from pacewatch.sim.voices.table import SPEAKERS
from pacewatch.words.endpoint import Auth, Endpoint

REFUSED_KEY = "refused"
"""The one key that no simulated provider accepts."""

_BEARER = frozenset({Auth.BEARER, Auth.GOOGLE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One endpoint as the simulator serves it."""

    endpoint: Endpoint
    nature: Nature
    speaker: Speaker
    path: str
    """With the provider in front."""


def serve_endpoints(endpoints: Iterable[Endpoint]) -> tuple[Served, ...]:
    """Return the endpoints whose protocols the simulator speaks, as it serves them."""
    return tuple(
        Served(
            endpoint=endpoint,
            nature=nature_of(endpoint),
            speaker=speaker,
            path=f"/{endpoint.provider}{speaker.path(_base_path(endpoint))}",
        )
        for endpoint in endpoints
        if (speaker := SPEAKERS.get(endpoint.protocol)) is not None
    )


def _base_path(endpoint: Endpoint) -> str:
    return unquote(urlsplit(endpoint.base_url).path).rstrip("/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request that an endpoint will answer."""

    served: Served
    ask: Ask


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A request that nobody will answer."""

    provider: str
    endpoint: str | None
    refusal: Refusal


class Routes:
    """The endpoints by path and model."""

    def __init__(self, served: Iterable[Served]) -> None:
        """Route to the endpoints; of two that a request cannot tell apart, to the first."""
        self._by_path: dict[str, dict[str, Served]] = {}
        for one in served:
            self._by_path.setdefault(one.path, {}).setdefault(one.endpoint.provider_model, one)

    def understand(
        self, request: Request, refusing: Callable[[Endpoint], Fault | None]
    ) -> Asked | Refused:
        """Return who is to answer, or who refuses and why; `refusing` tells a fault that is on."""
        models = self._by_path.get(request.path)
        if models is None or request.method != "POST":
            provider = request.path.strip("/").partition("/")[0]
            refusal = refuse_path(request.method, request.path)
            return Refused(provider=provider, endpoint=None, refusal=refusal)
        body = _read_body(request.body)
        model = None if body is None else body.get("model")
        served = models.get(model) if isinstance(model, str) else None
        some = served or next(iter(models.values()))
        said = _check_key(some.endpoint, request.headers)
        if said is None and (body is None or not isinstance(model, str)):
            said = refuse_body("the body must be a JSON object that names a model.")
        if said is None and served is None:
            said = refuse_model(str(model))
        if said is None and (fault := refusing(some.endpoint)) is not None:
            said = refuse_by(fault, some.endpoint.provider_model)
        heard = said or some.speaker.hear(body or {}, some.endpoint)
        if isinstance(heard, Refusal):
            name = served.endpoint.id if served else None
            return Refused(provider=some.endpoint.provider, endpoint=name, refusal=heard)
        return Asked(served=some, ask=heard)


def _check_key(endpoint: Endpoint, headers: Mapping[str, str]) -> Refusal | None:
    """Return the refusal of the request's key; None where it is accepted."""
    if endpoint.auth is Auth.NONE:
        return None
    name = "authorization" if endpoint.auth in _BEARER else str(endpoint.auth)
    shown = headers.get(name, "")
    if name == "authorization":
        scheme, _, key = shown.partition(" ")
        shown = key.strip() if scheme.lower() == "bearer" else ""
    if not shown:
        return refuse_key(is_missing=True)
    return refuse_key(is_missing=False) if shown == REFUSED_KEY else None


def _read_body(body: bytes) -> dict[str, Any] | None:
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None
