"""The raw record of a request and of a run: what was seen, never what was concluded.

Durations are integer microseconds, as on the wire, so that both sides compute the same figures
from the same numbers;
nanoseconds exist only inside the probe, before a Timing is made.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from pacewatch.words.flag import Flag
from pacewatch.words.outcome import Decline, Outcome
from pacewatch.words.slot import Load


class Stamp(StrEnum):
    """Who noted the arrival times: the kernel, or the process that read the socket."""

    KERNEL = "kernel"
    USER = "user"


REASONING, ANSWER, TOOL = "r", "a", "t"
"""Kinds of generated text, as the letters of `Chunks.kind`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What a provider said of its own failure."""

    status: int | None = None
    """HTTP status; None where no answer came."""
    type: str | None = None
    """The provider's own error type or code."""
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How the connection came about; its times are in no other figure."""

    reused: bool = False
    dns_us: int | None = None
    connect_us: int | None = None
    tls_us: int | None = None
    via_proxy: bool = False
    http: str | None = None
    """The protocol spoken, as `1.1`."""
    rtt_us: tuple[int | None, int | None] = (None, None)
    """The kernel's smoothed round-trip time before the request and after the answer."""
    retransmits: int | None = None
    """TCP retransmissions over the connection's life."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunks:
    """Token-bearing chunks in the order of their arrival, one entry each, as columns."""

    at_us: tuple[int, ...] = ()
    """Microseconds from the request's own send; never falling."""
    size_bytes: tuple[int, ...] = ()
    """UTF-8 bytes of generated text."""
    tokens: tuple[int, ...] = ()
    """o200k_base tokens whose last byte the chunk brought."""
    kind: str = ""
    """One letter a chunk: r reasoning, a answer, t tool call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderTokens:
    """Tokens as the provider reports them: the last total told; None where not told."""

    input: int | None = None
    """The whole prompt, cached parts included."""
    output: int | None = None
    """All that is billed as output, thoughts included."""
    reasoning: int | None = None
    cached_input: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTimings:
    """The provider's own timings in one form, seconds; `as_told` keeps its names and numbers."""

    queue_s: float | None = None
    prompt_s: float | None = None
    completion_s: float | None = None
    total_s: float | None = None
    ttft_s: float | None = None
    tokens_per_s: float | None = None
    as_told: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who answered, in the provider's words."""

    model: str | None = None
    fingerprint: str | None = None
    tier: str | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimits:
    """What the provider's headers say is left of its rate limits."""

    requests_left: int | None = None
    requests_limit: int | None = None
    requests_reset_s: float | None = None
    tokens_left: int | None = None
    tokens_limit: int | None = None
    tokens_reset_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """One request: when it was sent and when every piece came back."""

    n: int
    """Place in the run, from 0."""
    outcome: Outcome
    fault: Fault | None = None
    flags: tuple[Flag, ...] = ()
    connection: Connection = Connection()
    sent_us: int | None = None
    """When the request's last byte was handed to the kernel, from the run's earliest such moment;
    None: never sent.
    """
    headers_us: int | None = None
    """The answer's headers, from this request's own send."""
    end_us: int | None = None
    """The end of the exchange, from this request's own send."""
    stamp: Stamp = Stamp.USER
    chunks: Chunks = Chunks()
    provider_tokens: ProviderTokens | None = None
    server_timings: ServerTimings | None = None
    identity: Identity = Identity()
    limits: RateLimits | None = None
    finish: str | None = None
    """The provider's word for why the answer ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerName:
    """Which worker carried a run out."""

    id: str
    version: str
    catalog: str
    """Hash of the catalog it worked from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What was done for a slot: one execution's record, whole."""

    run_id: UUID
    execution: UUID
    region: str
    worker: WorkerName
    endpoint: str
    endpoint_hash: str
    workload: str
    load: Load
    simulated: bool
    started_at: datetime
    """The worker's raw wall time; places nothing, shows skew."""
    declined: Decline | None = None
    beside: int = 0
    """Other streams of this worker at the start."""
    cost_usd: float | None = None
    timings: tuple[Timing, ...] = ()
