"""The run record as strangers write it: its members and their bounds; unknown ones are ignored.

The worker's side of the same wire is `pacewatch.words.wire.encode_run`; `aggregator.reading` makes
a Run of it.
"""

from functools import cache
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    model_validator,
)

from aggregator.record_values import (
    MAX_TOKENS,
    AnySeconds,
    Count,
    Large,
    Micros,
    Moment,
    Name,
    Phrase,
    Seconds,
    Switch,
    Word,
    tellable,
)
from pacewatch.words.flag import CENTRE_FLAGS, Flag
from pacewatch.words.outcome import Decline, Outcome
from pacewatch.words.slot import Load
from pacewatch.words.timing import (
    Stamp,
)
from pacewatch.words.wire import VERSION

MAX_REQUESTS = 100
MAX_CHUNKS = 100_000


class Part(BaseModel):
    """A part of the record; unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, use_attribute_docstrings=True)


class FaultPart(Part):
    """What a provider said of its own failure."""

    status: Annotated[int, Field(strict=True, ge=100, le=999)] | None = None
    """Of HTTP."""
    type: Phrase | None = None
    """The provider's own word."""
    retry_after_s: Seconds | None = None
    """How long to wait, s."""


class ConnectionPart(Part):
    """How the connection came about."""

    reused: Switch = False
    """Whether it had served another request."""
    dns_us: Micros | None = None
    """Time to resolve the host's name, us."""
    connect_us: Micros | None = None
    """Time to connect, us."""
    tls_us: Micros | None = None
    """Time of the TLS handshake, us."""
    via_proxy: Switch = False
    """Whether an egress proxy stood between."""
    http: Word | None = None
    """The version spoken, as `1.1`."""
    rtt_us: tuple[Micros | None, Micros | None] = (None, None)
    """The kernel's smoothed round-trip time before the request and after the answer, us."""
    retransmits: Count | None = None
    """Segments sent again over the connection's life."""


class ChunksPart(Part):
    """Token-bearing chunks in the order of their arrival, as columns of one length."""

    at_us: Annotated[list[Micros], Field(max_length=MAX_CHUNKS)] = []
    """When each came, from the request's own send, us."""
    bytes: Annotated[list[Count], Field(max_length=MAX_CHUNKS)] = []
    """UTF-8 bytes of its text."""
    tokens: Annotated[list[Count], Field(max_length=MAX_CHUNKS)] = []
    """o200k tokens whose last byte it brought."""
    kind: Annotated[str, Field(max_length=MAX_CHUNKS, pattern=r"^[rat]*$")] = ""
    """A letter each: r reasoning, a answer, t tool call."""

    @model_validator(mode="after")
    def fits(self) -> Self:
        """Refuse columns of different lengths, times that fall, and more tokens than there are."""
        if not len(self.at_us) == len(self.bytes) == len(self.tokens) == len(self.kind):
            raise ValueError("at_us, bytes, tokens and kind differ in length")
        if self.at_us != sorted(self.at_us):
            raise ValueError("at_us falls")
        if sum(self.tokens) > MAX_TOKENS:
            raise ValueError(f"more than {MAX_TOKENS} tokens")
        return self


class ProviderTokensPart(Part):
    """Tokens as the provider reports them."""

    input: Large | None = None
    """Tokens, cached ones included."""
    output: Large | None = None
    """Tokens, reasoning included."""
    reasoning: Large | None = None
    """Tokens of reasoning."""
    cached_input: Large | None = None
    """Tokens from a cache."""


class ServerTimingsPart(Part):
    """The provider's own timings, seconds; `as_told` in its own words."""

    queue_s: AnySeconds | None = None
    """Waiting, s."""
    prompt_s: AnySeconds | None = None
    """Reading the prompt, s."""
    completion_s: AnySeconds | None = None
    """Writing the answer, s."""
    total_s: AnySeconds | None = None
    """In all, s."""
    ttft_s: AnySeconds | None = None
    """To the first token, s."""
    tokens_per_s: AnySeconds | None = None
    """As the provider counts, tokens/s."""
    as_told: Annotated[dict[str, JsonValue], AfterValidator(tellable)] = {}
    """In the provider's own words and units."""


class IdentityPart(Part):
    """Who answered, in the provider's words."""

    model: Phrase | None = None
    """The provider's name of it."""
    fingerprint: Phrase | None = None
    """Of what served it."""
    tier: Phrase | None = None
    """Of its service."""
    request_id: Phrase | None = None
    """The provider's id of the request."""


class LimitsPart(Part):
    """What the provider's headers say is left of its rate limits."""

    requests_left: Large | None = None
    """Requests."""
    requests_limit: Large | None = None
    """Requests."""
    requests_reset_s: AnySeconds | None = None
    """Time to the reset, s."""
    tokens_left: Large | None = None
    """Tokens."""
    tokens_limit: Large | None = None
    """Tokens."""
    tokens_reset_s: AnySeconds | None = None
    """Time to the reset, s."""


class RequestPart(Part):
    """One request: when it was sent and when every piece came back."""

    n: Annotated[int, Field(strict=True, ge=0, lt=MAX_REQUESTS)]
    """Its number in the run, from 0."""
    outcome: Outcome
    """How it ended."""
    error: FaultPart | None = None
    """What the provider said of its failure."""
    flags: Annotated[list[Flag], Field(max_length=len(Flag))] = []
    """Remarks on the timing; the centre's own are not among them."""
    connection: ConnectionPart = ConnectionPart()
    """How it came about."""
    sent_us: Micros | None = None
    """When its last byte was handed to the kernel, from the run's earliest such moment, us."""
    headers_us: Micros | None = None
    """When the headers came, from its own send, us."""
    end_us: Micros | None = None
    """When it ended, from its own send, us."""
    stamp: Stamp = Stamp.USER
    """Who noted the times: the kernel, or the process that read."""
    chunks: ChunksPart = ChunksPart()
    """When its text came."""
    provider_tokens: ProviderTokensPart | None = None
    """Null: none were reported."""
    server_timings: ServerTimingsPart | None = None
    """Null: none were told."""
    identity: IdentityPart = IdentityPart()
    """Who answered."""
    limits: LimitsPart | None = None
    """Null: none were told."""
    finish: Phrase | None = None
    """The provider's word for why the answer ended."""

    @model_validator(mode="after")
    def is_of_a_worker(self) -> Self:
        """Refuse the flags that the centre sets."""
        if CENTRE_FLAGS.intersection(self.flags):
            raise ValueError(f"the flags {', '.join(sorted(CENTRE_FLAGS))} are the centre's to set")
        return self


class WorkerPart(Part):
    """Which worker carried the run out."""

    id: Name
    """Its id."""
    version: Word
    """Of Pacewatch."""
    catalog: Word
    """Hash of its catalog."""


class RunRecord(Part):
    """One execution of a run: what was seen, without any figure."""

    model_config = ConfigDict(
        title="Pacewatch run record", extra="ignore", frozen=True, use_attribute_docstrings=True
    )

    v: Annotated[int, Field(strict=True, ge=1, le=VERSION)]
    """Version of the record."""
    definition: Annotated[int, Field(strict=True, ge=1, le=32_000)] = 1
    """Version of the definitions that the worker knew."""
    run: UUID
    """The task's id."""
    execution: UUID
    """A new UUID (version 4) for each time that the run is begun."""
    region: Name
    """Where the worker stands: the token's."""
    worker: WorkerPart
    """Who carried it out."""
    endpoint: Name
    """The task's: an id."""
    endpoint_hash: Word
    """Over all that decides what was asked."""
    workload: Word
    """The task's: the shape of its requests."""
    load: Load
    """The task's: one request, or several at once."""
    simulated: Switch
    """Whether a simulator answered."""
    started_at: Moment
    """The worker's raw wall clock."""
    declined: Decline | None = None
    """Why the run was not made; null: it was."""
    beside: Annotated[int, Field(strict=True, ge=0, le=30_000)] = 0
    """Other streams of the worker at the start."""
    cost_usd: Annotated[float, Field(strict=True, ge=0, le=1e4, allow_inf_nan=False)] | None = None
    """What it cost by the known price, US$; null: none is known."""
    requests: Annotated[list[RequestPart], Field(max_length=MAX_REQUESTS)] = []
    """One for each request; empty in a declined run."""

    @model_validator(mode="after")
    def is_whole(self) -> Self:
        """Refuse a run whose requests don't fit what it says it is."""
        if (self.declined is None) != bool(self.requests):
            raise ValueError("either requests or a declined reason is needed, and not both")
        if self.load is Load.SINGLE and len(self.requests) > 1:
            raise ValueError("a single run has one request")
        if len({request.n for request in self.requests}) < len(self.requests):
            raise ValueError("two requests have the same n")
        return self


@cache
def run_schema() -> dict[str, Any]:
    """Return the record's JSON Schema."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **RunRecord.model_json_schema(),
    }
