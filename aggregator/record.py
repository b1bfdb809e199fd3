"""The run record as strangers write it: its members and their bounds; unknown ones are ignored.

The worker's side of the same wire is `pacewatch.words.wire.encode_run`; `aggregator.reading` makes
a Run of it.
"""

import json
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    model_validator,
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
MAX_TOKENS = 10_000_000
MAX_AS_TOLD = 8_000
"""Characters of JSON that the provider's own timings may take."""
LONGEST_US = 86_400 * 1_000_000
"""No time of a request is longer than a day, microseconds."""


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("holds half a surrogate pair") from error
    return text


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("is beyond the calendar") from error


def _as_told(told: dict[str, JsonValue]) -> dict[str, JsonValue]:
    try:
        text = json.dumps(told, allow_nan=False, ensure_ascii=False)
        text.encode()
    except ValueError as error:
        raise ValueError("holds what cannot be told on: infinity, or half a character") from error
    if len(text) > MAX_AS_TOLD:
        raise ValueError(f"takes more than {MAX_AS_TOLD} characters")
    return told


Micros = Annotated[int, Field(strict=True, ge=0, le=LONGEST_US)]
Count = Annotated[int, Field(strict=True, ge=0, le=MAX_TOKENS)]
Large = Annotated[int, Field(strict=True, ge=0, le=2**53)]
Seconds = Annotated[float, Field(strict=True, ge=0, le=1e9, allow_inf_nan=False)]
AnySeconds = Annotated[float, Field(strict=True, ge=-1e9, le=1e12, allow_inf_nan=False)]
Switch = Annotated[bool, Field(strict=True)]
Word = Annotated[str, Field(max_length=100), AfterValidator(_storable)]
Phrase = Annotated[str, Field(max_length=500), AfterValidator(_storable)]
Name = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_storable)]
Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]


class Part(BaseModel):
    """A part of the record; unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class FaultPart(Part):
    """What a provider said of its own failure."""

    status: Annotated[int, Field(strict=True, ge=100, le=999)] | None = None
    type: Phrase | None = None
    retry_after_s: Seconds | None = None


class ConnectionPart(Part):
    """How the connection came about."""

    reused: Switch = False
    dns_us: Micros | None = None
    connect_us: Micros | None = None
    tls_us: Micros | None = None
    via_proxy: Switch = False
    http: Word | None = None
    rtt_us: tuple[Micros | None, Micros | None] = (None, None)
    retransmits: Count | None = None


class ChunksPart(Part):
    """Token-bearing chunks in the order of their arrival, as columns of one length."""

    at_us: Annotated[list[Micros], Field(max_length=MAX_CHUNKS)] = []
    bytes: Annotated[list[Count], Field(max_length=MAX_CHUNKS)] = []
    tokens: Annotated[list[Count], Field(max_length=MAX_CHUNKS)] = []
    kind: Annotated[str, Field(max_length=MAX_CHUNKS, pattern=r"^[rat]*$")] = ""

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
    output: Large | None = None
    reasoning: Large | None = None
    cached_input: Large | None = None


class ServerTimingsPart(Part):
    """The provider's own timings, seconds; `as_told` in its own words."""

    queue_s: AnySeconds | None = None
    prompt_s: AnySeconds | None = None
    completion_s: AnySeconds | None = None
    total_s: AnySeconds | None = None
    ttft_s: AnySeconds | None = None
    tokens_per_s: AnySeconds | None = None
    as_told: Annotated[dict[str, JsonValue], AfterValidator(_as_told)] = {}


class IdentityPart(Part):
    """Who answered, in the provider's words."""

    model: Phrase | None = None
    fingerprint: Phrase | None = None
    tier: Phrase | None = None
    request_id: Phrase | None = None


class LimitsPart(Part):
    """What the provider's headers say is left of its rate limits."""

    requests_left: Large | None = None
    requests_limit: Large | None = None
    requests_reset_s: AnySeconds | None = None
    tokens_left: Large | None = None
    tokens_limit: Large | None = None
    tokens_reset_s: AnySeconds | None = None


class RequestPart(Part):
    """One request: when it was sent and when every piece came back."""

    n: Annotated[int, Field(strict=True, ge=0, lt=MAX_REQUESTS)]
    outcome: Outcome
    error: FaultPart | None = None
    flags: Annotated[list[Flag], Field(max_length=len(Flag))] = []
    connection: ConnectionPart = ConnectionPart()
    sent_us: Micros | None = None
    headers_us: Micros | None = None
    end_us: Micros | None = None
    stamp: Stamp = Stamp.USER
    chunks: ChunksPart = ChunksPart()
    provider_tokens: ProviderTokensPart | None = None
    server_timings: ServerTimingsPart | None = None
    identity: IdentityPart = IdentityPart()
    limits: LimitsPart | None = None
    finish: Phrase | None = None

    @model_validator(mode="after")
    def is_of_a_worker(self) -> Self:
        """Refuse the flags that the centre sets."""
        if CENTRE_FLAGS.intersection(self.flags):
            raise ValueError(f"the flags {', '.join(sorted(CENTRE_FLAGS))} are the centre's to set")
        return self


class WorkerPart(Part):
    """Which worker carried the run out."""

    id: Name
    version: Word
    catalog: Word


class RunRecord(Part):
    """One execution of a run: what was seen, without any figure."""

    model_config = ConfigDict(title="Pacewatch run record", extra="ignore", frozen=True)

    v: Annotated[int, Field(strict=True, ge=1, le=VERSION)]
    definition: Annotated[int, Field(strict=True, ge=1, le=32_000)] = 1
    run: UUID
    execution: UUID
    region: Name
    worker: WorkerPart
    endpoint: Name
    endpoint_hash: Word
    workload: Word
    load: Load
    simulated: Switch
    started_at: Moment
    declined: Decline | None = None
    beside: Annotated[int, Field(strict=True, ge=0, le=30_000)] = 0
    cost_usd: Annotated[float, Field(strict=True, ge=0, le=1e4, allow_inf_nan=False)] | None = None
    requests: Annotated[list[RequestPart], Field(max_length=MAX_REQUESTS)] = []

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
