"""Whether the fleet is well, as a JSON document. Pure; unknown is null."""

from typing import Annotated, Any

from typing_extensions import TypedDict

from aggregator.advice import Advice
from aggregator.api.described import Moment, moment, told
from aggregator.api.documents import RegionDocument, region_document
from aggregator.api.judgement_documents import IncidentDocument, incident_document
from aggregator.rows import DeclinedRow, WorkerRow
from aggregator.standing import RegionStanding, exactness_of
from aggregator.status import FailingEndpoint, Status
from pacewatch.words.slot import to_rfc3339


class RateLimitDocument(TypedDict):
    """What is left of a rate limit, as a provider told a worker."""

    provider: Annotated[str, told("the provider's word in ids")]
    key: Annotated[str, told("the variable that the key stands in; empty where there is none")]
    unit: Annotated[str, told("requests or tokens")]
    left_ratio: Annotated[float, told("what is left of the whole, 0 to 1")]


class WorkerDocument(TypedDict):
    """A worker, as its latest heartbeat told."""

    worker: Annotated[str, told("its id")]
    version: Annotated[str, told("of Pacewatch")]
    last_seen_at: Annotated[Moment, told("its latest heartbeat, by the centre's clock")]
    clock_offset_s: Annotated[float, told("its clock less the centre's, s")]
    catalog: Annotated[str, told("hash of its catalog")]
    catalog_mismatch: Annotated[
        bool | None, told("whether its catalog is another than the centre's")
    ]
    exactness: Annotated[
        str, told("of its timings by its own calibration; unknown: none since it started")
    ]
    in_hand: Annotated[int, told("runs received, running, or in the outbox")]
    outbox_runs: Annotated[int, told("runs that are not pushed yet")]
    budget_left_usd: Annotated[float | None, told("of its day's cap, US$; null: it has none")]
    rate_limits: Annotated[list[RateLimitDocument], told("by provider, key and unit")]


class StatusRegionDocument(RegionDocument):
    """A region with its workers."""

    workers: Annotated[list[WorkerDocument], told("those that were heard")]


class FailingSeriesDocument(TypedDict):
    """A series whose latest runs failed."""

    region: Annotated[str, told("where its worker stands")]
    workload: Annotated[str, told("the shape of its requests")]
    load: Annotated[str, told("single or parallel")]
    outcome: Annotated[str, told("of the latest run")]
    latest_at: Annotated[Moment, told("slot of the latest run")]
    last_success_at: Annotated[Moment | None, told("null: never yet")]


class FailingDocument(TypedDict):
    """An endpoint that fails."""

    endpoint: Annotated[str, told("its id")]
    provider_name: Annotated[str, told("as people write it")]
    model: Annotated[str, told("by its maker's name")]
    importance: Annotated[str, told("page, notify or watch")]
    series: Annotated[list[FailingSeriesDocument], told("those that fail")]


class DeclinedDocument(TypedDict):
    """What workers did not run, for one reason."""

    region: Annotated[str, told("where its workers stand")]
    provider: Annotated[str, told("the provider's word in ids")]
    reason: Annotated[str, told("`declined:` and why")]
    runs: Annotated[int, told("so many within a day of the schedule")]


class AdviceDocument(TypedDict):
    """Something to set right that no good run has contradicted since."""

    endpoint: Annotated[str, told("its id")]
    kind: Annotated[str, told("what is to be set right, one word")]
    region: Annotated[str, told("where it was met last")]
    since: Annotated[Moment, told("when it was met first")]
    last_at: Annotated[Moment, told("when it was met last")]
    runs: Annotated[int, told("so many met it")]


class StatusDocument(TypedDict):
    """Whether the fleet itself is well."""

    at: Annotated[Moment, told("the moment of the answer")]
    simulated: Annotated[bool, told("whether a simulator plays the providers")]
    problems: Annotated[list[str], told("what is wrong, a sentence each; empty: all is well")]
    catalog: Annotated[str | None, told("hash of the centre's catalog; null: no tick yet")]
    ticked_at: Annotated[Moment | None, told("the dispatcher's latest finished tick")]
    endpoints: Annotated[int, told("how many are picked")]
    measured: Annotated[int, told("how many of them have a run in the window")]
    regions: Annotated[list[StatusRegionDocument], told("every region of the fleet")]
    failing: Annotated[list[FailingDocument], told("endpoints that fail")]
    declined: Annotated[list[DeclinedDocument], told("what workers did not run, and why")]
    judged_at: Annotated[Moment | None, told("the judge's latest finished round")]
    incidents: Annotated[list[IncidentDocument], told("those that are open")]
    advice: Annotated[list[AdviceDocument], told("what is to be set right")]


def status_document(status: Status) -> StatusDocument:
    """Return the document of `/api/status`."""
    return {
        "at": to_rfc3339(status.at),
        "simulated": status.simulated,
        "problems": list(status.problems),
        "catalog": status.catalog,
        "ticked_at": moment(status.ticked_at),
        "endpoints": status.endpoints,
        "measured": status.measured,
        "regions": [_region(region, status.catalog) for region in status.regions],
        "failing": [_failing(endpoint) for endpoint in status.failing],
        "declined": [_declined(row) for row in status.declined],
        "judged_at": moment(status.judged_at),
        "incidents": [incident_document(one) for one in status.incidents],
        "advice": [_advice(one) for one in status.advice],
    }


def _region(region: RegionStanding, catalog: str | None) -> StatusRegionDocument:
    return {
        **region_document(region),
        "workers": [_worker(worker, catalog) for worker in region.workers],
    }


def _declined(row: DeclinedRow) -> DeclinedDocument:
    return {
        "region": row.region,
        "provider": row.provider,
        "reason": row.reason,
        "runs": row.runs,
    }


def _advice(one: Advice) -> AdviceDocument:
    return {
        "endpoint": one.endpoint,
        "kind": one.kind,
        "region": one.region,
        "since": to_rfc3339(one.since),
        "last_at": to_rfc3339(one.last_at),
        "runs": one.runs,
    }


def _worker(worker: WorkerRow, catalog: str | None) -> WorkerDocument:
    return {
        "worker": worker.worker,
        "version": worker.version,
        "last_seen_at": to_rfc3339(worker.last_seen_at),
        "clock_offset_s": worker.clock_offset_s,
        "catalog": worker.catalog,
        "catalog_mismatch": None if catalog is None else worker.catalog != catalog,
        "exactness": exactness_of(worker),
        "in_hand": worker.in_hand,
        "outbox_runs": worker.outbox_runs,
        "budget_left_usd": worker.budget_left_usd,
        "rate_limits": [_rate_limit(limit) for limit in worker.rate_limits],
    }


def _rate_limit(limit: dict[str, Any]) -> RateLimitDocument:
    return {
        "key": limit["key"],
        "unit": limit["unit"],
        "provider": limit["provider"],
        "left_ratio": limit["left_ratio"],
    }


def _failing(endpoint: FailingEndpoint) -> FailingDocument:
    facts = endpoint.facts
    return {
        "endpoint": facts.endpoint,
        "provider_name": facts.provider_name,
        "model": facts.model,
        "importance": facts.importance,
        "series": [
            {
                "region": series.region,
                "workload": series.workload,
                "load": series.load,
                "outcome": series.outcome,
                "latest_at": to_rfc3339(series.latest_at),
                "last_success_at": moment(series.last_success_at),
            }
            for series in endpoint.series
        ],
    }
