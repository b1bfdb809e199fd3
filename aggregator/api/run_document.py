"""One run as a JSON document: the record as it was pushed, figures and the slot's facts beside it.
Pure.
"""

from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from aggregator.api.described import Moment, told
from aggregator.api.request_documents import (
    ConnectionDocument,
    FaultDocument,
    FiguresDocument,
    ServerTimesDocument,
    figures_document,
)
from aggregator.runs import OneRun, Row
from pacewatch.words.slot import to_rfc3339
from pacewatch.words.wire import encode_run

Record = dict[str, Any]
"""A record as it was pushed, or one of its requests."""


class WorkerOfRunDocument(TypedDict):
    """Which worker carried a run out."""

    id: Annotated[str, told("its id")]
    version: Annotated[str, told("of Pacewatch")]
    catalog: Annotated[str | None, told("hash of its catalog; null: no longer kept")]


class FaultOfRunDocument(FaultDocument):
    """What a provider said of its own failure, and when to come again."""

    retry_after_s: Annotated[float | None, told("how long to wait, s")]


class ChunksDocument(TypedDict):
    """Token-bearing chunks in the order of their arrival, as columns of one length."""

    at_us: Annotated[list[int], told("when each came, from the send, us")]
    bytes: Annotated[list[int], told("UTF-8 bytes of its text")]
    tokens: Annotated[list[int], told("o200k tokens of its text")]
    kind: Annotated[str, told("a letter each: r reasoning, a answer, t tool call")]


class ProviderTokensDocument(TypedDict):
    """Tokens as the provider reports them."""

    input: Annotated[int | None, told("tokens, cached ones included")]
    output: Annotated[int | None, told("tokens, reasoning included")]
    reasoning: Annotated[int | None, told("tokens of reasoning")]
    cached_input: Annotated[int | None, told("tokens from a cache")]


class ServerTimesOfRunDocument(ServerTimesDocument):
    """The provider's own timings, and how it told them."""

    as_told: Annotated[dict[str, Any], told("in its own words and units")]


class IdentityDocument(TypedDict):
    """Who answered, in the provider's words."""

    model: Annotated[str | None, told("the provider's name of it")]
    fingerprint: Annotated[str | None, told("of what served it")]
    tier: Annotated[str | None, told("of its service")]
    request_id: Annotated[str | None, told("the provider's id of the request")]


class LimitsDocument(TypedDict):
    """What the provider's headers say is left of its rate limits."""

    requests_left: Annotated[int | None, told("requests")]
    requests_limit: Annotated[int | None, told("requests")]
    requests_reset_s: Annotated[float | None, told("time to the reset, s")]
    tokens_left: Annotated[int | None, told("tokens")]
    tokens_limit: Annotated[int | None, told("tokens")]
    tokens_reset_s: Annotated[float | None, told("time to the reset, s")]


class RequestOfRunDocument(TypedDict):
    """A request; what goes with its timeline is null once that is not kept any more."""

    n: Annotated[int, told("its number, from 0")]
    outcome: Annotated[str, told("how it ended")]
    error: Annotated[FaultOfRunDocument | None, told("what the provider said of its failure")]
    flags: Annotated[list[str], told("remarks on the timing")]
    tokens: Annotated[int, told("o200k tokens of its text")]
    figures: Annotated[FiguresDocument, told("as measured, flagged or not")]
    left_out: Annotated[list[str], told("figures that its flags keep out of statistics")]
    connection: Annotated[ConnectionDocument | None, told("how it came about")]
    sent_us: Annotated[int | None, told("its send, from the run's earliest one, us")]
    headers_us: Annotated[int | None, told("its headers, from its own send, us")]
    end_us: Annotated[int | None, told("its end, from its own send, us")]
    stamp: Annotated[str | None, told("kernel or user: who noted the times")]
    chunks: Annotated[ChunksDocument | None, told("when its text came")]
    provider_tokens: Annotated[ProviderTokensDocument | None, told("null: none were reported")]
    server_timings: Annotated[ServerTimesOfRunDocument | None, told("null: none were told")]
    identity: Annotated[IdentityDocument | None, told("who answered")]
    limits: Annotated[LimitsDocument | None, told("null: none were told")]
    finish: Annotated[str | None, told("the provider's word for why it ended")]


class UnrunDocument(TypedDict):
    """An execution that measured nothing."""

    execution: Annotated[str, told("its id")]
    declined: Annotated[str | None, told("why; null: a fault of our own")]
    received_at: Annotated[Moment, told("when it came in")]


class DuplicateDocument(TypedDict):
    """An execution that came after the one that counts."""

    execution: Annotated[str, told("its id")]
    cost_usd: Annotated[float | None, told("what it cost, US$; null: unknown")]
    received_at: Annotated[Moment, told("when it came in")]


class AsideDocument(TypedDict):
    """An execution whose record is kept and not known here yet."""

    execution: Annotated[str, told("its id")]
    reason: Annotated[str, told("what is not known here, one sentence")]
    received_at: Annotated[Moment, told("when it came in")]


class ExecutionDocument(TypedDict):
    """The execution of a run that counts; before one has come in there is `execution` alone."""

    v: NotRequired[Annotated[int | None, told("version of its record; null: no longer kept")]]
    execution: Annotated[str | None, told("its id; null: none has come in")]
    worker: NotRequired[Annotated[WorkerOfRunDocument, told("who carried it out")]]
    started_at: NotRequired[Annotated[Moment, told("by the worker's own clock")]]
    received_at: NotRequired[Annotated[Moment, told("when it came in, by the centre's clock")]]
    endpoint_hash: NotRequired[Annotated[str, told("of endpoint, workload and settings")]]
    beside: NotRequired[Annotated[int, told("other streams of the worker at the start")]]
    cost_usd: NotRequired[Annotated[float | None, told("US$; null: without a known price")]]
    outcome: NotRequired[Annotated[str, told("of its first request that is not ok, else ok")]]
    flags: NotRequired[Annotated[list[str], told("what the centre sets: throttled, inconclusive")]]
    definition: NotRequired[
        Annotated[int, told("version of the definitions that its figures follow")]
    ]
    figures: NotRequired[
        Annotated[FiguresDocument, told("the run's own medians over its requests")]
    ]
    system_tokens_per_s: NotRequired[
        Annotated[
            float | None,
            told("all its tokens over the time from the first send to the last token, tokens/s"),
        ]
    ]


class RunDocument(ExecutionDocument):
    """One run whole: what was planned, and what came in for it."""

    endpoint: Annotated[str, told("an id")]
    region: Annotated[str, told("from where")]
    workload: Annotated[str, told("the shape of its requests")]
    load: Annotated[str, told("single or parallel")]
    purpose: Annotated[str, told("why it is made")]
    run: Annotated[str, told("its id")]
    simulated: Annotated[bool, told("whether a simulator plays the provider")]
    slot_at: Annotated[Moment, told("for when it was planned")]
    valid_until: Annotated[Moment, told("until when a worker may begin")]
    state: Annotated[str, told("planned, sent, run or missed")]
    reason: Annotated[str | None, told("why it was missed")]
    requests: Annotated[list[RequestOfRunDocument], told("in order; empty until it has run")]
    unrun: Annotated[list[UnrunDocument], told("executions that measured nothing")]
    duplicates: Annotated[list[DuplicateDocument], told("executions that came later")]
    aside: Annotated[
        list[AsideDocument], told("executions that are taken in once they are known here")
    ]


def run_document(found: OneRun) -> RunDocument:
    """Return the document of `/api/runs/{id}`."""
    slot = found.slot
    record = {} if found.record is None else encode_run(found.record)
    return {
        "endpoint": slot["endpoint"],
        "region": slot["region"],
        "workload": slot["workload"],
        "load": slot["load"],
        "purpose": slot["purpose"],
        "run": str(slot["run_id"]),
        "simulated": slot["simulated"],
        "slot_at": to_rfc3339(slot["slot_at"]),
        "valid_until": to_rfc3339(slot["valid_until"]),
        "state": slot["state"],
        "reason": slot["reason"],
        **_execution(found.won, record),
        "requests": [_request(row, _seen(record, row["n"])) for row in found.timings],
        "unrun": [_unrun(row) for row in found.unrun],
        "duplicates": [_duplicate(row) for row in found.duplicates],
        "aside": [_aside(row) for row in found.aside],
    }


def _execution(won: Row | None, record: Record) -> ExecutionDocument:
    if won is None:
        return {"execution": None}
    worker = {"id": won["worker"], "version": won["worker_version"], "catalog": None}
    return {
        "v": record.get("v"),
        "execution": str(won["execution"]),
        "worker": record.get("worker", worker),
        "started_at": to_rfc3339(won["started_at"]),
        "received_at": to_rfc3339(won["received_at"]),
        "endpoint_hash": won["endpoint_hash"],
        "beside": won["beside"],
        "cost_usd": won["cost_usd"],
        "outcome": won["outcome"],
        "flags": won["flags"],
        "definition": won["definition"],
        "figures": figures_document(won),
        "system_tokens_per_s": won["system_tokens_per_s"],
    }


def _seen(record: Record, n: int) -> Record:
    """Return what the record has of the n-th request; nothing where there is no record."""
    return next((one for one in record.get("requests", ()) if one["n"] == n), {})


def _request(row: Row, seen: Record) -> RequestOfRunDocument:
    fault = {"status": row["fault_status"], "type": row["fault_type"], "retry_after_s": None}
    return {
        "n": row["n"],
        "outcome": row["outcome"],
        "error": seen.get("error", fault if any(fault.values()) else None),
        "flags": row["flags"],
        "tokens": row["tokens"],
        "figures": figures_document(row),
        "left_out": row["left_out"],
        "connection": seen.get("connection"),
        "sent_us": seen.get("sent_us"),
        "headers_us": seen.get("headers_us"),
        "end_us": seen.get("end_us"),
        "stamp": seen.get("stamp"),
        "chunks": seen.get("chunks"),
        "provider_tokens": seen.get("provider_tokens"),
        "server_timings": seen.get("server_timings"),
        "identity": seen.get("identity"),
        "limits": seen.get("limits"),
        "finish": seen.get("finish"),
    }


def _unrun(row: Row) -> UnrunDocument:
    return {
        "execution": str(row["execution"]),
        "declined": row["declined"],
        "received_at": to_rfc3339(row["received_at"]),
    }


def _duplicate(row: Row) -> DuplicateDocument:
    return {
        "execution": str(row["execution"]),
        "cost_usd": row["cost_usd"],
        "received_at": to_rfc3339(row["received_at"]),
    }


def _aside(row: Row) -> AsideDocument:
    return {
        "execution": str(row["execution"]),
        "reason": row["reason"],
        "received_at": to_rfc3339(row["received_at"]),
    }
