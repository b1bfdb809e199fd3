"""Reads the `[[endpoint]]` tables of the user's file: endpoints of one's own.

A base URL and a model are enough. Without a base URL the table names a provider of the catalog,
and takes address, protocol and key from there: a variant, or a model that does not ship.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from pacewatch.catalog import (
    Catalog,
    Provider,
    endpoint_id,
    read_headers,
    read_limits,
    read_price,
    why_no_base_url,
)
from pacewatch.tables import Table, shown, suggestion
from pacewatch.words.endpoint import (
    PART,
    Auth,
    Endpoint,
    EndpointId,
    Importance,
    Precision,
    Protocol,
    parse_endpoint_id,
)

_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_FULL_PATHS = ("/chat/completions", "/messages", "/responses", "/completions")


def read_own(table: Table, catalog: Catalog) -> Endpoint | None:
    """Return the endpoint of one `[[endpoint]]` table; None where it has a fault."""
    before = len(table.faults)
    model = table.text("model", needed=True)
    base_url = _base_url(table)
    provider = _provider(table, catalog, has_address=table.has("base_url"))
    key_env = _key_env(table)
    changes = _changes(table)
    chosen = _chosen_id(table)
    precision = table.text("precision", allowed=tuple(Precision))
    variant = _slug(table, "variant")
    named = table.text("provider")
    base = _base(catalog, provider, model) if base_url is None else None
    limits_base = None if base is None else base.limits
    reasons = table.flag("reasons")
    known_reasons = reasons if reasons is not None else base is not None and base.reasons
    changes["reasons"] = known_reasons
    changes["limits"] = read_limits(table, reasons=known_reasons, base=limits_base)
    protocol = table.text("protocol", allowed=tuple(Protocol))
    table.close()
    if len(table.faults) > before or model is None:
        return None
    made = base or _plain(model, base_url, provider, Protocol(protocol) if protocol else None)
    if made is None:
        return None
    if named and base is None:
        made = replace(made, provider=named, provider_name=_title(catalog, named, made))
    changes |= _key(made, key_env, has_address=base_url is not None)
    if precision is not None:
        changes["precision"] = Precision(precision)
    if protocol is not None:
        changes["protocol"] = Protocol(protocol)
    made = replace(made, own=True, listed=True, ends_on=None, **changes)
    return _with_id(table, made, chosen, variant)


def _base_url(table: Table) -> str | None:
    url = table.text("base_url")
    if url is None:
        return None
    if fault := why_no_base_url(url):
        hint = " (a key comes from the environment: key_env)" if "password" in fault else ""
        table.fault("base_url", fault + hint)
        return None
    url = url.rstrip("/")
    for path in _FULL_PATHS:
        if url.endswith(path):
            table.fault("base_url", f'ends in "{path}", which Pacewatch adds itself (leave it out)')
            return None
    return url


def _provider(table: Table, catalog: Catalog, *, has_address: bool) -> Provider | None:
    name = _slug(table, "provider")
    provider = catalog.providers.get(name or "")
    if has_address or provider is not None:
        return provider
    if name is None:
        if not table.has("provider"):
            table.fault("base_url", "is missing (or a provider of the catalog: provider = ...)")
        return None
    table.fault(
        "provider",
        f"{shown(name)} is not in the catalog, so base_url is needed"
        f"{suggestion(name, catalog.providers)}",
    )
    return None


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


def _changes(table: Table) -> dict[str, Any]:
    """Return what the table says of the endpoint beyond where it is and what it is called."""
    changes: dict[str, Any] = {}
    for key in ("location", "account", "tier"):
        if (text := table.text(key)) is not None:
            changes[key] = text
    if (price := read_price(table)) is not None:
        changes["price"] = price
    if (room := table.whole("reasoning_tokens", low=0, high=100_000)) is not None:
        changes["reasoning_tokens"] = room
    if (importance := table.text("importance", allowed=tuple(Importance))) is not None:
        changes["importance"] = Importance(importance)
    if table.has("body"):
        changes["body"] = table.mapping("body")
    if table.has("headers"):
        changes["headers"] = read_headers(table)
    return changes


def _base(catalog: Catalog, provider: Provider | None, model: str | None) -> Endpoint | None:
    """Return the catalog's endpoint of that model at that provider, whose facts are taken."""
    if provider is None or model is None:
        return None
    for endpoint in catalog.endpoints.values():
        if endpoint.provider == provider.id and model in (endpoint.model, endpoint.provider_model):
            return endpoint
    return None


def _plain(
    model: str, base_url: str | None, provider: Provider | None, protocol: Protocol | None
) -> Endpoint | None:
    """Return an endpoint with nothing known but its address and its model."""
    slug = _slug_of(model.rsplit("/", 1)[-1]) or _slug_of(model) or "model"
    if provider is not None:
        return Endpoint(
            id="",
            provider=provider.id,
            provider_name=provider.name,
            model=slug,
            provider_model=model,
            precision=Precision.UNKNOWN,
            protocol=protocol or provider.protocol,
            base_url=base_url or provider.base_url,
            auth=provider.auth,
            key_names=provider.key_names,
            headers=provider.headers,
            body=provider.body,
        )
    if base_url is None:
        return None
    host = urlsplit(base_url).netloc
    return Endpoint(
        id="",
        provider=_slug_of(host) or "own",
        provider_name=host,
        model=slug,
        provider_model=model,
        precision=Precision.UNKNOWN,
        protocol=protocol or Protocol.OPENAI_CHAT,
        base_url=base_url,
        auth=Auth.NONE,
        headers={"anthropic-version": "2023-06-01"} if protocol is Protocol.ANTHROPIC else {},
    )


def _slug_of(text: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-.")[:64]


def _title(catalog: Catalog, provider: str, made: Endpoint) -> str:
    known = catalog.providers.get(provider)
    return known.name if known is not None else provider if made.provider != provider else ""


_AUTHS: Mapping[Protocol, Auth] = {
    Protocol.ANTHROPIC: Auth.X_API_KEY,
    Protocol.GEMINI: Auth.X_GOOG_API_KEY,
}


def _key(made: Endpoint, key_env: str | None, *, has_address: bool) -> dict[str, Any]:
    """Return how the key is shown and found: a provider's usual key stays with its own address."""
    if key_env is not None:
        auth = made.auth
        if auth is Auth.NONE:
            auth = _AUTHS.get(made.protocol, Auth.BEARER)
        return {"auth": auth, "key_names": (key_env,)}
    return {"auth": Auth.NONE, "key_names": ()} if has_address else {}


def _with_id(
    table: Table, made: Endpoint, chosen: EndpointId | None, variant: str | None
) -> Endpoint | None:
    """Return the endpoint under its id: the chosen one, or one made from what is known."""
    if chosen is None:
        return replace(made, id=endpoint_id(made.provider, made.model, made.precision, variant))
    try:
        precision = Precision(chosen.precision or "unknown")
    except ValueError:
        known = suggestion(chosen.precision or "", tuple(Precision))
        table.fault("id", f"unknown precision {shown(chosen.precision)}{known}")
        return None
    if precision is not made.precision and made.precision is not Precision.UNKNOWN:
        table.fault("id", f'disagrees with precision = "{made.precision}" (write it in one place)')
        return None
    if variant is not None and variant != chosen.variant:
        table.fault("id", f'disagrees with variant = "{variant}" (write it in one place)')
        return None
    return replace(
        made, id=str(chosen), provider=chosen.provider, model=chosen.model, precision=precision
    )
