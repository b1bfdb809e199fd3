"""Who is probed: providers, endpoints and their ids."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any

from pacewatch.words.slot import Workload

PART = re.compile(r"[a-z0-9._-]+")
"""What a part of an endpoint id is made of."""

_ID = re.compile(rf"({PART.pattern})/({PART.pattern})(?:@({PART.pattern}))?(?:#({PART.pattern}))?")


_OWN_KEY = re.compile(r"PACEWATCH_[A-Z0-9_]+_API_KEY")


class Precision(StrEnum):
    """What the provider says it serves."""

    BF16 = "bf16"
    FP8 = "fp8"
    FP4 = "fp4"
    UNKNOWN = "unknown"


class Importance(StrEnum):
    """What trouble with an endpoint may do: wake somebody, tell somebody, be shown."""

    PAGE = "page"
    NOTIFY = "notify"
    WATCH = "watch"


class Protocol(StrEnum):
    """A wire protocol of the catalog, read by this version or not."""

    OPENAI_CHAT = "openai-chat"
    OPENAI_RESPONSES = "openai-responses"
    ANTHROPIC = "anthropic-messages"
    GEMINI = "gemini"
    BEDROCK = "bedrock-converse"


READ_PROTOCOLS = frozenset(
    {
        Protocol.OPENAI_CHAT,
        Protocol.OPENAI_RESPONSES,
        Protocol.ANTHROPIC,
        Protocol.GEMINI,
        Protocol.BEDROCK,
    }
)
"""Protocols this version has a reader for."""


class Auth(StrEnum):
    """How a request shows its key."""

    NONE = "none"
    BEARER = "bearer"
    X_API_KEY = "x-api-key"
    API_KEY = "api-key"
    X_GOOG_API_KEY = "x-goog-api-key"
    GOOGLE = "google"
    AWS = "aws"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointId:
    """The parts of `provider/model[@precision][#variant]`."""

    provider: str
    model: str
    precision: str | None = None
    variant: str | None = None

    def __str__(self) -> str:
        """Return the id as it is written."""
        tail = f"@{self.precision}" if self.precision else ""
        return f"{self.provider}/{self.model}{tail}" + (f"#{self.variant}" if self.variant else "")


def parse_endpoint_id(text: str) -> EndpointId:
    """Return the parts of an endpoint id; raises ValueError with the reason."""
    match = _ID.fullmatch(text)
    if match is None:
        raise ValueError(
            f'"{text}" is no endpoint id '
            "(form: provider/model[@precision][#variant], parts of a-z 0-9 . _ -)"
        )
    provider, model, precision, variant = match.groups()
    return EndpointId(provider=provider, model=model, precision=precision, variant=variant)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US$ per million tokens, and where the figure comes from."""

    input_usd: float
    output_usd: float
    source: str
    """`genai-prices`, or the catalog's remark with its date."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a request may take, seconds."""

    connect_s: float = 10.0
    first_token_s: float = 60.0
    stall_s: float = 30.0
    total_s: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """What a provider lets a key ask for; None: not known."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    """In and out."""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One model at one provider at one precision, reachable over one wire protocol."""

    id: str
    provider: str
    provider_name: str
    """The company's name, as people write it."""
    model: str
    """The model by its maker's name (slug)."""
    provider_model: str
    """The provider's own name of the model."""
    precision: Precision
    protocol: Protocol
    base_url: str
    """Scheme, host and leading path; the protocol adds the rest."""
    auth: Auth
    key_names: tuple[str, ...] = ()
    """Environment variables the key is looked for in, the first that is set wins; PACEWATCH_...
    goes first.
    """
    ambient: str | None = None
    """The cloud whose credentials of the shell may be used, since the file lets them: aws, google
    or azure.
    """
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers of the request, no secrets."""
    body: Mapping[str, Any] = field(default_factory=dict)
    """Further members of the request's body."""
    reasons: bool = False
    effort: str | None = None
    """How much reasoning is asked for, in the provider's own word; it stands in the body."""
    reasoning_tokens: int = 0
    """Room asked for beyond the workload's output, for endpoints that reason."""
    importance: Importance = Importance.NOTIFY
    location: str | None = None
    account: str | None = None
    tier: str | None = None
    price: Price | None = None
    """None: no price is known."""
    published_tokens_per_s: float | None = None
    published_source: str | None = None
    limits: Limits = Limits()
    rate_limit: RateLimit | None = None
    """Of this model alone; None: none is known."""
    ends_on: date | None = None
    """The provider's announced end of service."""
    listed: bool = True
    """False: the provider does not list it at present."""
    own: bool = False
    """True: an endpoint of the user's own, from the file."""


def why_not_probed(endpoint: Endpoint) -> str | None:
    """Return why this version cannot probe the endpoint, in words; None where it can."""
    if endpoint.protocol not in READ_PROTOCOLS:
        return f"protocol {endpoint.protocol} has no reader yet"
    return None


def pair_names(endpoint: Endpoint) -> tuple[str, ...]:
    """Return the variables of our own that hold an access key of AWS: its id, its secret, and the
    token of its session; none where the endpoint is not asked with one.
    """
    name = endpoint.key_names[0] if endpoint.key_names else ""
    if endpoint.auth is not Auth.AWS or not _OWN_KEY.fullmatch(name):
        return ()
    stem = name.removesuffix("API_KEY")
    return tuple(stem + part for part in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN"))


def secret_names(endpoint: Endpoint) -> tuple[str, ...]:
    """Return every variable that may hold a part of what the endpoint is asked with."""
    return (*endpoint.key_names, *pair_names(endpoint))


def endpoint_hash(endpoint: Endpoint, workload: Workload) -> str:
    """Return 16 hex digits over all that decides what is asked: endpoint, workload and body
    settings.

    Where it differs, figures must not be compared. The host is left out: the simulator and a
    proxy change it.
    """
    asked = {
        "endpoint": endpoint.id,
        "provider_model": endpoint.provider_model,
        "protocol": endpoint.protocol,
        "body": endpoint.body,
        "reasoning_tokens": endpoint.reasoning_tokens,
        "workload": [workload.name, workload.input_tokens, workload.output_tokens],
    }
    return hashlib.sha256(
        json.dumps(asked, sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()[:16]
