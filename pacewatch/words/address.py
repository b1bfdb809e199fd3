"""Which addresses of our own parts may be spoken to in clear."""

import ipaddress
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

ALLOW_UNENCRYPTED = "PACEWATCH_ALLOW_UNENCRYPTED"
"""Set to `yes`, broker and aggregator may be reached without TLS beyond this host."""

BROKER_SCHEMES = ("redis", "rediss", "redis+socket")
"""How an address of the broker may begin."""

WEB_SCHEMES = ("http", "https")
"""How an address of the aggregator may begin."""

_ENCRYPTED = frozenset({"https", "rediss"})
_LOCAL = "redis+socket"


def is_loopback(host: str) -> bool:
    """Tell whether a host name or address is this host's loopback."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def refuse_address(
    name: str, url: str, schemes: Sequence[str], environment: Mapping[str, str]
) -> str | None:
    """Return why the address of that setting is refused, in words; None where it may be used."""
    no_address = f"{name}: not an address (form: scheme://host:port)"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return no_address
    if not parts.scheme or not (host or parts.scheme == _LOCAL):
        return no_address
    if parts.scheme not in schemes:
        return f'{name}: unknown scheme "{parts.scheme}" (known: {", ".join(schemes)})'
    if parts.scheme == _LOCAL or parts.scheme in _ENCRYPTED or is_loopback(host):
        return None
    if environment.get(ALLOW_UNENCRYPTED) == "yes":
        return None
    return (
        f"{name}: {parts.scheme} to {host} is neither TLS nor loopback "
        f"(allowed: https or rediss, a loopback address, or {ALLOW_UNENCRYPTED}=yes)"
    )
