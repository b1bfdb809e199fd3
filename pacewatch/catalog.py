"""Reads `providers/*.toml`, the catalog that ships in the package, into Providers and Endpoints.

What the user's own file says is read in `pacewatch.config`; both share the readers below.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from pacewatch.effort import merged
from pacewatch.facts import (
    read_effort,
    read_headers,
    read_limits,
    read_price,
    read_rate_limit,
    why_no_base_url,
)
from pacewatch.tables import Table
from pacewatch.words.endpoint import (
    PART,
    Auth,
    Endpoint,
    EndpointId,
    Precision,
    Protocol,
    RateLimit,
)
from pacewatch.words.errors import CatalogError

PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
"""What the user's file fills in a provider's base URL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A company that serves models over an API: what its endpoints share."""

    id: str
    name: str
    protocol: Protocol
    base_url: str
    """Scheme, host and leading path, with {names} that the user's file fills."""
    addresses: Mapping[Protocol, str] = field(default_factory=dict)
    """The same for other protocols that it speaks elsewhere, with the same {names}."""
    auth: Auth
    key_names: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    prices: str | None = None
    """The provider's id in genai-prices; None: unknown there."""
    rate_limit: RateLimit | None = None
    """Of all its models together; None: none is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """All that ships: providers, endpoints and what genai-prices calls their models."""

    providers: Mapping[str, Provider]
    endpoints: Mapping[str, Endpoint]
    price_models: Mapping[str, str]
    """Name in genai-prices, by endpoint id; asked for where the provider has `prices`."""


@cache
def read_catalog() -> Catalog:
    """Return the shipped catalog; raises CatalogError with every fault."""
    folder = files("pacewatch").joinpath("providers")
    texts = {
        entry.name.removesuffix(".toml"): entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    }
    return parse_catalog(texts)


def parse_catalog(texts: Mapping[str, str]) -> Catalog:
    """Return the catalog of provider files by provider id; raises CatalogError, all faults."""
    faults: list[str] = []
    providers: dict[str, Provider] = {}
    endpoints: dict[str, Endpoint] = {}
    names: dict[str, str] = {}
    for name, text in sorted(texts.items()):
        table = _open(name, text, faults)
        provider = None if table is None else _provider(table, name)
        if table is None or provider is None:
            continue
        providers[name] = provider
        for one in table.tables("endpoint"):
            price_model = one.text("price_model")
            endpoint = _endpoint(one, provider)
            one.close()
            if endpoint is None:
                continue
            if endpoint.id in endpoints:
                one.fault("", f"{endpoint.id} is there twice (give one a variant)")
            endpoints[endpoint.id] = endpoint
            names[endpoint.id] = price_model or endpoint.provider_model
        table.close()
    if faults:
        raise CatalogError(faults)
    return Catalog(providers=providers, endpoints=endpoints, price_models=names)


def _open(name: str, text: str, faults: list[str]) -> Table | None:
    place = f"providers/{name}.toml"
    if not PART.fullmatch(name):
        faults.append(f"{place}: the file's name is the provider's id (form: a-z 0-9 . _ -)")
        return None
    try:
        return Table(tomllib.loads(text), place=place, path="", faults=faults)
    except tomllib.TOMLDecodeError as error:
        faults.append(f"{place}: no TOML: {error}")
        return None


def own_key_name(provider: str) -> str:
    """Return the variable that goes before the provider's usual one."""
    return f"PACEWATCH_{re.sub(r'[^A-Z0-9]', '_', provider.upper())}_API_KEY"


def _provider(table: Table, name: str) -> Provider | None:
    before = len(table.faults)
    title = table.text("name", needed=True)
    protocol = table.text("protocol", allowed=tuple(Protocol), needed=True)
    base_url = table.text("base_url", needed=True)
    auth = table.text("auth", allowed=tuple(Auth), needed=True)
    usual = table.text("key_env")
    prices = table.text("prices")
    headers, body = read_headers(table), table.mapping("body")
    if base_url is not None:
        _check_address(table, "base_url", base_url)
    addresses, rate_limit = _addresses(table), read_rate_limit(table)
    if len(table.faults) > before or not (title and protocol and base_url and auth):
        return None
    return Provider(
        id=name,
        name=title,
        protocol=Protocol(protocol),
        base_url=base_url,
        addresses=addresses,
        auth=Auth(auth),
        key_names=() if auth == Auth.NONE else (own_key_name(name), *([usual] if usual else [])),
        headers=headers,
        body=body,
        prices=prices,
        rate_limit=rate_limit,
    )


def _check_address(table: Table, key: str, url: str) -> None:
    filled = PLACEHOLDER.sub("x", re.sub(r"^\{[a-z_]+\}", "https://x", url))
    if fault := why_no_base_url(filled):
        table.fault(key, fault)


def _addresses(table: Table) -> dict[Protocol, str]:
    rows = table.table("addresses")
    found = {protocol: url for protocol in Protocol if (url := rows.text(protocol)) is not None}
    for protocol, url in found.items():
        _check_address(rows, protocol, url)
    rows.close()
    return found


def _endpoint(table: Table, provider: Provider) -> Endpoint | None:
    before = len(table.faults)
    model = table.text("model", needed=True)
    provider_model = table.text("provider_model", needed=True)
    precision = Precision(table.text("precision", allowed=tuple(Precision)) or "unknown")
    variant = table.text("variant")
    for key, value in (("model", model), ("variant", variant)):
        if value is not None and not PART.fullmatch(value):
            table.fault(key, f'"{value}" is no slug (form: a-z 0-9 . _ -)')
    reasons = table.flag("reasons") or False
    speed, source = _published(table)
    facts: dict[str, Any] = {
        "reasons": reasons,
        "effort": table.text("effort"),
        "reasoning_tokens": table.whole("reasoning_tokens", low=0, high=100_000) or 0,
        "location": table.text("location"),
        "tier": table.text("tier"),
        "price": read_price(table),
        "limits": read_limits(table, reasons=reasons),
        "rate_limit": read_rate_limit(table),
        "ends_on": table.day("ends_on"),
        "listed": table.flag("listed") is not False,
    }
    facts["body"] = merged(
        read_effort(table, provider.protocol, facts["effort"]),
        {**provider.body, **table.mapping("body")},
    )
    if len(table.faults) > before or not (model and provider_model):
        return None
    return Endpoint(
        id=endpoint_id(provider.id, model, precision, variant),
        provider=provider.id,
        provider_name=provider.name,
        model=model,
        provider_model=provider_model,
        precision=precision,
        protocol=provider.protocol,
        base_url=provider.base_url,
        auth=provider.auth,
        key_names=provider.key_names,
        headers=provider.headers,
        published_tokens_per_s=speed,
        published_source=source,
        **facts,
    )


def endpoint_id(provider: str, model: str, precision: Precision, variant: str | None) -> str:
    """Return the id; an unknown precision is left out of it."""
    known = None if precision is Precision.UNKNOWN else str(precision)
    return str(EndpointId(provider=provider, model=model, precision=known, variant=variant))


def _published(table: Table) -> tuple[float | None, str | None]:
    """Return the first published speed, which plan and simulator take, and its source."""
    figures: list[tuple[float | None, str | None]] = []
    for row in table.tables("published"):
        speed = row.number("tokens_per_s", low=0.1, high=1_000_000)
        figures.append((speed, row.text("source", needed=True)))
        row.close()
    return figures[0] if figures else (None, None)
