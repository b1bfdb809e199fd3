"""Readers of what catalog and user's file say of endpoints alike: price, limits, effort."""

from typing import Any
from urllib.parse import urlsplit

from pacewatch.effort import ROOM_TOKENS, effort_members
from pacewatch.tables import Table
from pacewatch.words.endpoint import Endpoint, Importance, Limits, Price, Protocol, RateLimit

_FORBIDDEN_HEADERS = frozenset(
    {"authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "host", "content-length"}
)


def read_price(table: Table) -> Price | None:
    """Return the price of the table's `price`, US$ per million tokens; None where there is none."""
    if not table.has("price"):
        return None
    price = table.table("price")
    into = price.number("input_usd", low=0, high=10_000)
    out = price.number("output_usd", low=0, high=10_000)
    source = price.text("source") or table.place
    for key, value in (("input_usd", into), ("output_usd", out)):
        if value is None and not price.has(key):
            price.fault(key, "is missing (US$ per million tokens)")
    price.close()
    if into is None or out is None:
        return None
    return Price(input_usd=into, output_usd=out, source=source)


def read_limits(table: Table, *, reasons: bool, base: Limits | None = None) -> Limits:
    """Return the limits of the table's `limits` over a base, or over what reasoning asks for."""
    base = base or (Limits(first_token_s=300.0) if reasons else Limits())
    limits = table.table("limits")
    read = {
        key: limits.number(key, low=0.1, high=3_600) or getattr(base, key)
        for key in ("connect_s", "first_token_s", "stall_s", "total_s")
    }
    limits.close()
    return Limits(**read)


def read_rate_limit(table: Table) -> RateLimit | None:
    """Return the table's `rate_limit`; None where there is none."""
    if not table.has("rate_limit"):
        return None
    rows = table.table("rate_limit")
    requests, tokens = (
        rows.whole(f"{unit}_per_minute", low=1, high=10**12) for unit in ("requests", "tokens")
    )
    source = rows.text("source") or table.place
    rows.close()
    return RateLimit(requests_per_minute=requests, tokens_per_minute=tokens, source=source)


def read_effort(table: Table, protocol: Protocol, effort: str | None) -> dict[str, Any]:
    """Return the members of the body that ask for the effort of the table; none without one."""
    members = {} if effort is None else effort_members(protocol, effort)
    if members is None:
        table.fault("effort", f"{protocol} has no setting of effort (allowed: members of body)")
    return members or {}


def read_headers(table: Table) -> dict[str, str]:
    """Return the table's `headers`: texts, and none that shows a key."""
    headers = table.mapping("headers")
    for name, value in headers.items():
        if name.lower() in _FORBIDDEN_HEADERS:
            table.fault("headers", f'"{name}" is set by Pacewatch (allowed: other headers)')
        elif not isinstance(value, str):
            table.fault("headers", f'"{name}": a text is needed')
    return {str(name): str(value) for name, value in headers.items()}


def why_no_base_url(url: str) -> str | None:
    """Return why a base URL cannot be, in words that do not repeat it; None where it can."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is no address (form: http://host:port/path or https://host/path)"
    if parts.scheme not in ("http", "https") or not host:
        return "is no http or https address (form: http://host:port/path or https://host/path)"
    if parts.username is not None or parts.password is not None:
        return "must hold no user name and no password"
    if parts.query or parts.fragment:
        return "must have no query and no fragment (form: https://host/path)"
    return None


def why_no_proxy(url: str) -> str | None:
    """Return why an address of an egress proxy cannot be; a proxy is spoken to in clear, and what
    goes through its tunnel is TLS all the same.
    """
    if url.startswith("https:"):
        return "a proxy that is itself reached over TLS cannot be used (form: http://host:port)"
    return why_no_base_url(url)


def read_changes(table: Table, base: Endpoint | None) -> dict[str, Any]:
    """Return what the table says of the endpoint beyond where it is and what it is called."""
    changes = _reasoning(table, base)
    for key in ("location", "account", "tier"):
        if (text := table.text(key)) is not None:
            changes[key] = text
    if (price := read_price(table)) is not None:
        changes["price"] = price
    if (rate_limit := read_rate_limit(table)) is not None:
        changes["rate_limit"] = rate_limit
    if (importance := table.text("importance", allowed=tuple(Importance))) is not None:
        changes["importance"] = Importance(importance)
    if table.has("body"):
        changes["body"] = table.mapping("body")
    if table.has("headers"):
        changes["headers"] = read_headers(table)
    return changes


def _reasoning(table: Table, base: Endpoint | None) -> dict[str, Any]:
    """Return whether the endpoint reasons, how much it is asked to, the room and time for it."""
    reasons = table.flag("reasons")
    if reasons is None:
        reasons = base is not None and base.reasons
    limits = read_limits(table, reasons=reasons, base=None if base is None else base.limits)
    changes: dict[str, Any] = {"reasons": reasons, "limits": limits}
    room = table.whole("reasoning_tokens", low=0, high=100_000)
    if room is None and reasons and (base is None or not base.reasons):
        room = ROOM_TOKENS
    if room is not None:
        changes["reasoning_tokens"] = room
    if (effort := table.text("effort")) is not None:
        changes["effort"] = effort
    return changes
