"""Who may speak to the centre: tokens, of which the store keeps the SHA-256 alone.

A `region` token writes the runs of its region and nothing else. A `run` token asks for manual
runs, an `admin` token for all that people may ask. A token is shown once, when it is issued.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from aggregator.db import Connection, queries
from pacewatch.words.errors import SettingsError

REGION_NAME = re.compile(r"[a-z0-9._-]{1,64}")

_PREFIX = "pacewatch_"
_LONGEST_TOKEN = 200


class Scope(StrEnum):
    """What a token allows."""

    REGION = "region"
    RUN = "run"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What the bearer of a token may do."""

    region: str
    """The region it speaks for; empty for a token of no region."""
    scope: Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedToken:
    """A token as the store knows it: everything but the token."""

    id: str
    """The first 12 hex digits of its hash."""
    region: str
    scope: Scope
    created_at: datetime
    revoked_at: datetime | None


def issue_token(connection: Connection, region: str, scope: Scope | str, now: datetime) -> str:
    """Store a new token's hash and return the token; nobody can read it again.

    Raises SettingsError for a region that is no name, and for a region's token without a region.
    """
    scope = Scope(scope)
    if region and not REGION_NAME.fullmatch(region):
        raise SettingsError(
            f'region "{region}": no name (allowed: 1 to 64 characters of a-z 0-9 . _ -)'
        )
    if scope is Scope.REGION and not region:
        raise SettingsError("a token of scope region needs a region")
    token = _PREFIX + secrets.token_urlsafe(32)
    connection.execute(
        queries("regions")["insert_token"],
        {"hash": hash_token(token), "region": region, "scope": str(scope), "now": now},
    )
    return token


def region_of(connection: Connection, token: str) -> Grant | None:
    """Return what the token grants; None for an unknown or revoked one."""
    if not token or len(token) > _LONGEST_TOKEN:
        return None
    row = connection.execute(
        queries("regions")["find_token"], {"hash": hash_token(token)}
    ).fetchone()
    return None if row is None else Grant(region=row["region"], scope=Scope(row["scope"]))


def list_tokens(connection: Connection) -> list[IssuedToken]:
    """Return every token ever issued, the oldest first."""
    return [
        IssuedToken(
            id=row["id"],
            region=row["region"],
            scope=Scope(row["scope"]),
            created_at=row["created_at"],
            revoked_at=row["revoked_at"],
        )
        for row in connection.execute(queries("regions")["list_tokens"])
    ]


def revoke_tokens(
    connection: Connection, region: str, now: datetime, *, only: str | None = None
) -> int:
    """Revoke the region's tokens, or the one whose id is `only`; return how many were revoked."""
    return connection.execute(
        queries("regions")["revoke_tokens"], {"region": region, "only": only, "now": now}
    ).rowcount


def hash_token(token: str) -> bytes:
    """Return what the store keeps of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
