"""Finds out which endpoint a request means and what it asks of it, or why it is refused. Pure."""

import json
import re
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
from pacewatch.sim.voices.interface import Place, Speaker
from pacewatch.sim.voices.table import SPEAKERS
from pacewatch.words.endpoint import Auth, Endpoint, Protocol

REFUSED_KEY = "refused"
"""The one key that no simulated provider accepts."""

_NAMED_KEYS = frozenset({Auth.X_API_KEY, Auth.API_KEY, Auth.X_GOOG_API_KEY})
"""Ways of showing a key in a header of that name."""
_CREDENTIAL = re.compile(r"Credential=([^/,\s]+)/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One endpoint as the simulator serves it."""

    endpoint: Endpoint
    nature: Nature
    speaker: Speaker
    places: tuple[Place, ...]
    """With the provider in front; the usual one first."""

    @property
    def path(self) -> str:
        """Return the path that the endpoint is usually asked at."""
        return self.places[0].path(self.endpoint.provider_model)


def serve_endpoints(endpoints: Iterable[Endpoint]) -> tuple[Served, ...]:
    """Return the endpoints whose protocols the simulator speaks, as it serves them."""
    return tuple(
        Served(
            endpoint=endpoint,
            nature=nature_of(endpoint),
            speaker=speaker,
            places=speaker.places(f"/{endpoint.provider}{_base_path(endpoint)}", endpoint.provider),
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
    protocol: Protocol | None
    endpoint: str | None
    refusal: Refusal


class Routes:
    """The endpoints by place and model."""

    def __init__(self, served: Iterable[Served]) -> None:
        """Route to the endpoints; of two that a request cannot tell apart, to the first."""
        self._fixed: dict[str, tuple[Place, dict[str, Served]]] = {}
        self._around: dict[tuple[str, str], tuple[Place, dict[str, Served]]] = {}
        for one in served:
            for place in one.places:
                if place.after is None:
                    _, models = self._fixed.setdefault(place.before, (place, {}))
                else:
                    _, models = self._around.setdefault((place.before, place.after), (place, {}))
                models.setdefault(one.endpoint.provider_model, one)

    def understand(
        self, request: Request, refusing: Callable[[Endpoint], Fault | None]
    ) -> Asked | Refused:
        """Return who is to answer, or who refuses and why; `refusing` tells a fault that is on."""
        place, models = self._find(request.path)
        if place is None or request.method != "POST" or place.needs not in (None, *request.query):
            provider = request.path.strip("/").partition("/")[0]
            refusal = refuse_path(request.method, request.path)
            return Refused(provider=provider, protocol=None, endpoint=None, refusal=refusal)
        body = _read_body(request.body)
        model = _model(place, request.path, body)
        served = None if model is None else models.get(model)
        some = served or next(iter(models.values()))
        said = _check_key(some.endpoint, request.headers)
        if said is None and (body is None or model is None):
            said = refuse_body("the body must be a JSON object that names a model.")
        if said is None and served is None:
            said = refuse_model(str(model))
        if said is None and (fault := refusing(some.endpoint)) is not None:
            said = refuse_by(fault, some.endpoint.provider_model)
        heard = said or some.speaker.hear(body or {}, some.endpoint, request.query)
        if isinstance(heard, Refusal):
            return Refused(
                provider=some.endpoint.provider,
                protocol=some.endpoint.protocol,
                endpoint=served.endpoint.id if served else None,
                refusal=heard,
            )
        return Asked(served=some, ask=heard)

    def _find(self, path: str) -> tuple[Place | None, dict[str, Served]]:
        """Return the place that a path leads to, and the models there."""
        if (found := self._fixed.get(path)) is not None:
            return found
        for (before, after), around in self._around.items():
            if path.startswith(before) and path.endswith(after):
                return around
        return None, {}


def _model(place: Place, path: str, body: Mapping[str, Any] | None) -> str | None:
    """Return the model that a request names, in its path or in its body."""
    if place.after is not None:
        return path[len(place.before) : len(path) - len(place.after)]
    model = None if body is None else body.get("model")
    return model if isinstance(model, str) else None


def _check_key(endpoint: Endpoint, headers: Mapping[str, str]) -> Refusal | None:
    """Return the refusal of the request's key; None where it is accepted."""
    if endpoint.auth is Auth.NONE:
        return None
    shown = _shown_key(endpoint.auth, headers)
    if not shown:
        return refuse_key(is_missing=True)
    return refuse_key(is_missing=False) if shown == REFUSED_KEY else None


def _shown_key(auth: Auth, headers: Mapping[str, str]) -> str:
    """Return the key that the headers show; of signed requests the key's public half.

    Those who have a header of their own for it take the usual one as well.
    """
    if auth in _NAMED_KEYS and str(auth) in headers:
        return headers[str(auth)]
    scheme, _, rest = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return rest.strip()
    signed = _CREDENTIAL.search(rest) if auth is Auth.AWS and scheme == "AWS4-HMAC-SHA256" else None
    return signed[1] if signed else ""


def _read_body(body: bytes) -> dict[str, Any] | None:
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None
