"""Reads the `[[endpoint]]` tables of the user's file: endpoints of one's own.

A base URL and a model are enough. Without a base URL the table names a provider of the catalog,
and takes address, protocol and key from there: a variant, or a model that does not ship.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from pacewatch.catalog import Catalog, endpoint_id
from pacewatch.effort import merged
from pacewatch.facts import read_changes, read_effort, why_no_base_url
from pacewatch.tables import Table, shown, suggestion
from pacewatch.words.endpoint import (
    PART,
    Auth,
    Endpoint,
    EndpointId,
    Precision,
    Protocol,
    parse_endpoint_id,
)

_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_FULL_PATHS = (
    *("/chat/completions", "/messages", "/responses", "/completions"),
    *(":streamGenerateContent", "/converse-stream"),
)
_VERSION = re.compile(r"api-version=[A-Za-z0-9.-]+")
"""The one query that an address may have: Azure's deployments are asked with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What one table says, each value checked by itself."""

    model: str
    base_url: str | None
    provider: str | None
    base: Endpoint | None
    """The catalog's endpoint whose facts are taken."""
    key_env: str | None
    chosen: EndpointId | None
    variant: str | None
    precision: Precision | None
    protocol: Protocol | None
    changes: Mapping[str, Any]
    """The other facts, by their names in an Endpoint."""


def read_own(table: Table, catalog: Catalog) -> Endpoint | None:
    """Return the endpoint of one `[[endpoint]]` table; None where it has a fault."""
    said = _read(table, catalog)
    if said is None:
        return None
    plain = said.base or _plain(said, catalog)
    changes = {**said.changes, **_key(plain, said)}
    if said.precision is not None:
        changes["precision"] = said.precision
    if said.protocol is not None:
        changes["protocol"] = said.protocol
        changes["base_url"] = _address(plain, said, catalog)
        if said.protocol is not plain.protocol:
            changes.setdefault("body", {})
    made = replace(plain, own=True, listed=True, ends_on=None, **changes)
    made = _with_effort(table, made, said, plain)
    if said.chosen is None:
        name = endpoint_id(made.provider, made.model, made.precision, said.variant)
        return replace(made, id=name)
    return _under(said.chosen, made, said, table, catalog)


def _with_effort(table: Table, made: Endpoint, said: _Said, plain: Endpoint) -> Endpoint:
    """Return the endpoint with the effort that the table asks for, which goes before the catalog's;
    a body that the table tells goes before both.
    """
    effort, tells_body = said.changes.get("effort"), "body" in said.changes
    if effort is None:
        is_kept = not tells_body and made.protocol is plain.protocol
        return made if is_kept else replace(made, effort=None)
    members = read_effort(table, made.protocol, effort)
    pair = (members, made.body) if tells_body else (made.body, members)
    return replace(made, body=merged(*pair))


def _read(table: Table, catalog: Catalog) -> _Said | None:
    before = len(table.faults)
    model = table.text("model", needed=True)
    base_url, named = _base_url(table), _slug(table, "provider")
    base = None
    if base_url is None and _has_address(table, named, catalog):
        base = _base(catalog, named, model)
    precision = table.text("precision", allowed=tuple(Precision))
    protocol = table.text("protocol", allowed=tuple(Protocol))
    key_env, chosen, variant = _key_env(table), _chosen_id(table), _slug(table, "variant")
    changes = read_changes(table, base)
    table.close()
    if len(table.faults) > before or model is None:
        return None
    return _Said(
        model=model,
        base_url=base_url,
        provider=named,
        base=base,
        key_env=key_env,
        chosen=chosen,
        variant=variant,
        precision=None if precision is None else Precision(precision),
        protocol=None if protocol is None else Protocol(protocol),
        changes=changes,
    )


def _base_url(table: Table) -> str | None:
    url = table.text("base_url")
    if url is None:
        return None
    bare, _, query = url.partition("?")
    if fault := why_no_base_url(bare if _VERSION.fullmatch(query) else url):
        hint = " (a key comes from the environment: key_env)" if "password" in fault else ""
        table.fault("base_url", fault + hint)
        return None
    bare = bare.rstrip("/")
    for path in _FULL_PATHS:
        if bare.endswith(path):
            table.fault("base_url", f'ends in "{path}", which Pacewatch adds itself (leave it out)')
            return None
    return f"{bare}?{query}" if query else bare


def _has_address(table: Table, provider: str | None, catalog: Catalog) -> bool:
    """Tell whether the catalog knows the address of a table without one; else note the fault."""
    if table.has("base_url") or (provider is None and table.has("provider")):
        return False
    if provider is None:
        table.fault("base_url", "is missing (or a provider of the catalog: provider = ...)")
        return False
    if provider not in catalog.providers:
        near = suggestion(provider, catalog.providers)
        what = f"{shown(provider)} is not in the catalog, so base_url is needed{near}"
        table.fault("provider", what)
        return False
    return True


def _slug(table: Table, key: str) -> str | None:
    value = table.text(key)
    if value is not None and not PART.fullmatch(value):
        table.fault(key, f"{shown(value)} is no name for an id (form: a-z 0-9 . _ -)")
        return None
    return value


def _key_env(table: Table) -> str | None:
    name = table.text("key_env")
    if name is not None and not _ENV_NAME.fullmatch(name):
        table.fault("key_env", "is no name of an environment variable (form: MY_SERVER_KEY)")
        return None
    return name


def _chosen_id(table: Table) -> EndpointId | None:
    text = table.text("id")
    if text is None:
        return None
    try:
        return parse_endpoint_id(text)
    except ValueError as error:
        table.fault("id", str(error) if shown(text) != "(not shown)" else "is no endpoint id")
        return None


def _base(catalog: Catalog, provider: str | None, model: str | None) -> Endpoint | None:
    """Return the catalog's endpoint of that model at that provider, whose facts are taken."""
    for endpoint in catalog.endpoints.values():
        if endpoint.provider == provider and model in (endpoint.model, endpoint.provider_model):
            return endpoint
    return None


def _plain(said: _Said, catalog: Catalog) -> Endpoint:
    """Return an endpoint with nothing known but its address and its model."""
    host = urlsplit(said.base_url or "").netloc
    provider = said.provider or _slug_of(host) or "own"
    known = catalog.providers.get(provider)
    protocol = said.protocol or (Protocol.OPENAI_CHAT if known is None else known.protocol)
    versioned = {"anthropic-version": "2023-06-01"} if protocol is Protocol.ANTHROPIC else {}
    return Endpoint(
        id="",
        provider=provider,
        provider_name=_title(catalog, provider) if said.provider else host,
        model=_slug_of(said.model.rsplit("/", 1)[-1]) or _slug_of(said.model) or "model",
        provider_model=said.model,
        precision=Precision.UNKNOWN,
        protocol=protocol,
        base_url=said.base_url or ("" if known is None else known.base_url),
        auth=Auth.NONE if known is None else known.auth,
        key_names=() if known is None else known.key_names,
        headers=versioned if known is None else known.headers,
        body={} if known is None else known.body,
    )


def _address(plain: Endpoint, said: _Said, catalog: Catalog) -> str:
    """Return where the endpoint is asked in the protocol that the table chose."""
    known = catalog.providers.get(plain.provider)
    if said.base_url is not None or known is None or said.protocol is None:
        return plain.base_url
    return known.addresses.get(said.protocol, plain.base_url)


def _slug_of(text: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-.")[:64]


def _title(catalog: Catalog, provider: str) -> str:
    """Return how people write a provider: the catalog's name, else the id itself."""
    known = catalog.providers.get(provider)
    return provider if known is None else known.name


_AUTHS: Mapping[Protocol, Auth] = {
    Protocol.ANTHROPIC: Auth.X_API_KEY,
    Protocol.GEMINI: Auth.X_GOOG_API_KEY,
}


def _key(plain: Endpoint, said: _Said) -> dict[str, Any]:
    """Return how the key is shown and found: a provider's usual key stays with its own address."""
    if said.key_env is None:
        return {} if said.base_url is None else {"auth": Auth.NONE, "key_names": ()}
    auth = plain.auth
    if auth is Auth.NONE:
        auth = _AUTHS.get(said.protocol or plain.protocol, Auth.BEARER)
    return {"auth": auth, "key_names": (said.key_env,)}


def _under(
    chosen: EndpointId, made: Endpoint, said: _Said, table: Table, catalog: Catalog
) -> Endpoint | None:
    """Return the endpoint under the id that was chosen; None where that disagrees with the rest."""
    try:
        precision = Precision(chosen.precision) if chosen.precision else made.precision
    except ValueError:
        known = suggestion(chosen.precision or "", tuple(Precision))
        table.fault("id", f"unknown precision {shown(chosen.precision)}{known}")
        return None
    for key, inside, beside in (
        ("provider", chosen.provider, said.provider),
        ("precision", precision, said.precision),
        ("variant", chosen.variant, said.variant),
    ):
        if beside is not None and inside != beside:
            table.fault("id", f'disagrees with {key} = "{beside}" (write it in one place)')
            return None
    return replace(
        made,
        id=str(chosen),
        provider=chosen.provider,
        provider_name=_title(catalog, chosen.provider),
        model=chosen.model,
        precision=precision,
    )
