"""The members of evidence, as a JSON document."""

from typing import Annotated

from typing_extensions import TypedDict

from aggregator.api.described import Moment, told
from aggregator.api.documents import ChangeDocument
from aggregator.api.figure_documents import ANSWER, END_TO_END, SPEED, STALL, TTFT
from aggregator.api.judgement_documents import WholeIncidentDocument
from aggregator.api.request_documents import (
    ConnectionDocument,
    FaultDocument,
    FiguresDocument,
    ServerTimesDocument,
)

TimeBeforeDocument = TypedDict(
    "TimeBeforeDocument",
    {"from": Annotated[Moment, told("its begin")], "to": Annotated[Moment, told("its end")]},
)
"""The window that is laid beside."""


class EvidenceIncidentDocument(WholeIncidentDocument):
    """The incident that the evidence is of."""

    endpoints_left_out: Annotated[list[str], told("ids beyond those that are told of")]


class EvidenceEndpointDocument(TypedDict):
    """What the catalog says of an endpoint."""

    endpoint: Annotated[str, told("its id")]
    provider: Annotated[str, told("the provider's word in ids")]
    provider_name: Annotated[str, told("as people write it")]
    model: Annotated[str, told("by its maker's name")]
    precision: Annotated[str, told("what the provider says it serves")]
    protocol: Annotated[str, told("the wire protocol")]
    base_host: Annotated[str, told("the host that is asked")]
    location: Annotated[str | None, told("where it is served")]
    account: Annotated[str | None, told("whose")]
    tier: Annotated[str | None, told("of its service")]


class MedianDocument(TypedDict):
    """A median over runs, with its interval."""

    runs: Annotated[int, told("runs that have the figure")]
    median: Annotated[float | None, told("in the unit of the figure; null: too few runs")]
    low: Annotated[float | None, told("low end of its interval; null: none can be given")]
    high: Annotated[float | None, told("high end of its interval")]
    interval_percent: Annotated[int | None, told("how often such an interval holds it, percent")]


class TwoMediansDocument(TypedDict):
    """A figure before the moment and since."""

    before: Annotated[MedianDocument, told("over the window before")]
    since: Annotated[MedianDocument, told("over the time asked for")]


class MediansDocument(TypedDict):
    """The medians of a series, or over several regions."""

    endpoint: Annotated[str, told("an id")]
    region: Annotated[str | None, told("null: over several, each weighing the same")]
    workload: Annotated[str, told("the shape of its requests")]
    load: Annotated[str, told("single or parallel")]
    ttft_s: Annotated[TwoMediansDocument, told(TTFT)]
    answer_s: Annotated[TwoMediansDocument, told(ANSWER)]
    output_tokens_per_s: Annotated[TwoMediansDocument, told(SPEED)]
    end_to_end_s: Annotated[TwoMediansDocument, told(END_TO_END)]
    stall_s: Annotated[TwoMediansDocument, told(STALL)]


class OutcomesDocument(TypedDict):
    """How many requests ended so."""

    endpoint: Annotated[str, told("an id")]
    region: Annotated[str, told("from where")]
    outcome: Annotated[str, told("how they ended")]
    before: Annotated[int, told("requests in the window before")]
    since: Annotated[int, told("requests in the time asked for")]
    error: Annotated[FaultDocument | None, told("what the provider said")]


class LinksDocument(TypedDict):
    """Medians of connections."""

    connections: Annotated[int, told("how many were looked at")]
    dns_s: Annotated[float | None, told("median time to resolve the host's name, s")]
    connect_s: Annotated[float | None, told("median time to connect, s")]
    tls_s: Annotated[float | None, told("median time of the TLS handshake, s")]
    rtt_s: Annotated[float | None, told("median of the kernel's round-trip time, s")]
    retransmits: Annotated[int | None, told("segments sent again, of all together")]


class NetworkDocument(TypedDict):
    """Network times of the latest connections on either side of the moment."""

    endpoint: Annotated[str, told("an id")]
    region: Annotated[str, told("from where")]
    before: Annotated[LinksDocument, told("in the window before")]
    since: Annotated[LinksDocument, told("in the time asked for")]


class EvidenceRequestDocument(TypedDict):
    """A request; what came from its timeline is null once that is not kept."""

    n: Annotated[int, told("its number, from 0")]
    outcome: Annotated[str, told("how it ended")]
    error: Annotated[FaultDocument | None, told("what the provider said of its failure")]
    flags: Annotated[list[str], told("remarks on the timing")]
    figures: Annotated[FiguresDocument, told("as measured, flagged or not")]
    tokens: Annotated[int, told("o200k tokens of its text")]
    request_id: Annotated[str | None, told("the provider's id of the request")]
    model: Annotated[str | None, told("as answered")]
    fingerprint: Annotated[str | None, told("as answered")]
    tier: Annotated[str | None, told("as answered")]
    finish: Annotated[str | None, told("the provider's word for why it ended")]
    connection: Annotated[ConnectionDocument, told("how it came about")]
    server_timings: Annotated[ServerTimesDocument, told("the provider's own")]


class EvidenceRunDocument(TypedDict):
    """A run with its requests."""

    run: Annotated[str, told("its id")]
    slot_at: Annotated[Moment, told("for when it was planned")]
    endpoint: Annotated[str, told("an id")]
    region: Annotated[str, told("from where")]
    workload: Annotated[str, told("the shape of its requests")]
    load: Annotated[str, told("single or parallel")]
    purpose: Annotated[str, told("why it was made")]
    outcome: Annotated[str, told("of its first request that is not ok, else ok")]
    flags: Annotated[list[str], told("what the centre sets: throttled, inconclusive")]
    definition: Annotated[int, told("version of the definitions that it was measured by")]
    in_medians: Annotated[bool, told("whether its purpose enters the medians")]
    worker_version: Annotated[str, told("of Pacewatch")]
    requests: Annotated[list[EvidenceRequestDocument], told("in order")]


class BundleDocument(TypedDict):
    """What was measured since a moment, beside the window before it."""

    version: Annotated[str, told("of Pacewatch")]
    simulated: Annotated[bool, told("whether a simulator plays the providers")]
    since: Annotated[Moment, told("begin of the time asked for")]
    until: Annotated[Moment, told("its end")]
    before: Annotated[TimeBeforeDocument, told("the window before it")]
    definitions: Annotated[list[int], told("versions that the runs of both times were measured by")]
    incident: Annotated[EvidenceIncidentDocument | None, told("null: of an endpoint")]
    endpoints: Annotated[list[EvidenceEndpointDocument], told("what the catalog says of them")]
    medians: Annotated[list[MediansDocument], told("before and since, of each series")]
    outcomes: Annotated[list[OutcomesDocument], told("before and since")]
    network: Annotated[list[NetworkDocument], told("before and since")]
    changes: Annotated[list[ChangeDocument], told("what providers changed")]
    runs: Annotated[list[EvidenceRunDocument], told("the latest, the newest first")]
    runs_left_out: Annotated[int, told("earlier runs that are not told of")]


class EvidenceDocument(BundleDocument):
    """Evidence as it is answered."""

    at: Annotated[Moment, told("the moment of the answer")]
