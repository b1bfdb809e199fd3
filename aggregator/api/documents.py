"""Board, series, their days and changes as JSON documents. Pure; unknown is null."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from typing_extensions import TypedDict

from aggregator.api.described import Moment, moment, told
from aggregator.api.figure_documents import (
    ANSWER,
    END_TO_END,
    SPEED,
    STALL,
    TTFT,
    CellDocument,
    StatisticDocument,
    cell_document,
    statistic_document,
)
from aggregator.api.judgement_documents import (
    BelievedDocument,
    IncidentDocument,
    believed_document,
    incident_document,
)
from aggregator.board import Board, BoardEndpoint, BoardSeries
from aggregator.changes import Change
from aggregator.days import Day
from aggregator.pooled import fewest_runs
from aggregator.series import OneSeries, SeriesPage
from aggregator.standing import RegionStanding
from aggregator.statistic import statistic_of
from pacewatch.words.figures import DEFINITION
from pacewatch.words.flag import Figure
from pacewatch.words.slot import Load, to_rfc3339


class RegionDocument(TypedDict):
    """A region of the fleet."""

    region: Annotated[str, told("its name")]
    state: Annotated[str, told("seen, silent or unseen: whether a worker of it is heard")]
    last_seen_at: Annotated[Moment | None, told("its latest heartbeat")]


_Changed = TypedDict("_Changed", {"from": Annotated[str, told("the value that was told before")]})


class ChangeDocument(_Changed):
    """What a provider changed, as its answers tell."""

    endpoint: Annotated[str, told("whose answers: an id")]
    provider: Annotated[str, told("the provider's word in ids")]
    model: Annotated[str, told("by its maker's name")]
    what: Annotated[str, told("model, fingerprint or tier, as answered")]
    to: Annotated[str, told("the new value")]
    changed_at: Annotated[Moment, told("slot of the first run that told it")]
    noted_at: Annotated[Moment, told("when it was believed")]


class BoardSeriesDocument(TypedDict):
    """One workload and load of an endpoint."""

    workload: Annotated[str, told("the shape of its requests")]
    load: Annotated[str, told("single or parallel")]
    pooled: Annotated[CellDocument, told("over the regions, each weighing the same")]
    regions: Annotated[dict[str, CellDocument], told("by the name of the region")]


class BoardEndpointDocument(TypedDict):
    """An endpoint with its series."""

    endpoint: Annotated[str, told("its id")]
    provider: Annotated[str, told("the provider's word in ids")]
    provider_name: Annotated[str, told("as people write it")]
    model: Annotated[str, told("by its maker's name")]
    precision: Annotated[str, told("what the provider says it serves")]
    protocol: Annotated[str, told("the wire protocol")]
    importance: Annotated[str, told("page, notify or watch")]
    location: Annotated[str | None, told("where it is served, as the catalog says")]
    account: Annotated[str | None, told("whose, as the catalog says")]
    tier: Annotated[str | None, told("of its service, as the catalog says")]
    active: Annotated[bool, told("false: no longer picked, its window not yet empty")]
    simulated: Annotated[bool, told("whether a simulator plays its provider")]
    verdict: Annotated[BelievedDocument | None, told("over all regions; null: not judged yet")]
    verdicts: Annotated[dict[str, BelievedDocument | None], told("by the name of the region")]
    changes: Annotated[list[ChangeDocument], told("within the window, the latest first")]
    series: Annotated[list[BoardSeriesDocument], told("one for each workload and load")]


class BoardModelDocument(TypedDict):
    """A model with the endpoints that serve it."""

    model: Annotated[str, told("by its maker's name")]
    endpoints: Annotated[list[BoardEndpointDocument], told("by output speed, the fastest first")]


class BoardDocument(TypedDict):
    """The board, or a part of it."""

    at: Annotated[Moment, told("the moment of the answer")]
    simulated: Annotated[bool, told("whether a simulator plays the providers")]
    definition: Annotated[int, told("version of the definitions that runs are measured by now")]
    window_s: Annotated[int, told("length of the window, s")]
    regions: Annotated[list[RegionDocument], told("every region of the fleet")]
    workloads: Annotated[list[str], told("those there is a series of, the fleet's own first")]
    next_slot_at: Annotated[Moment | None, told("when the next planned run is due")]
    incidents: Annotated[list[IncidentDocument], told("those that are open")]
    models: Annotated[list[BoardModelDocument], told("by name")]
    next: Annotated[str | None, told("for `after`; null: the last part")]


class SeriesDocument(CellDocument):
    """One series with the statistics of its window."""

    series: Annotated[int, told("its id")]
    endpoint: Annotated[str, told("the endpoint's id")]
    provider: Annotated[str, told("the provider's word in ids")]
    model: Annotated[str, told("by its maker's name")]
    precision: Annotated[str, told("what the provider says it serves")]
    region: Annotated[str, told("where its worker stands")]
    workload: Annotated[str, told("the shape of its requests")]
    load: Annotated[str, told("single or parallel")]
    simulated: Annotated[bool, told("whether a simulator plays the provider")]
    active: Annotated[bool, told("false: its endpoint is no longer picked")]


class SeriesPageDocument(TypedDict):
    """A page of series."""

    at: Annotated[Moment, told("the moment of the answer")]
    simulated: Annotated[bool, told("whether a simulator plays the providers")]
    definition: Annotated[int, told("version of the definitions that runs are measured by now")]
    window_s: Annotated[int, told("length of the window, s")]
    series: Annotated[list[SeriesDocument], told("by id")]
    next: Annotated[int | None, told("for `after`; null: the last page")]


class DayDocument(TypedDict):
    """A series' statistics of one UTC day."""

    day: Annotated[str, told("YYYY-MM-DD")]
    definition: Annotated[int, told("the greatest version of definitions of its runs")]
    definitions: Annotated[
        list[int], told("the least of them and the greatest; two: its medians mix both")
    ]
    runs: Annotated[int, told("runs whose slots lie in it")]
    requests: Annotated[int, told("requests of these runs")]
    good: Annotated[int, told("requests that ended well")]
    cost_usd: Annotated[float, told("what its runs cost, US$")]
    ttft_s: Annotated[StatisticDocument, told(TTFT)]
    answer_s: Annotated[StatisticDocument, told(ANSWER)]
    output_tokens_per_s: Annotated[StatisticDocument, told(SPEED)]
    end_to_end_s: Annotated[StatisticDocument, told(END_TO_END)]
    stall_s: Annotated[StatisticDocument, told(STALL)]


class DaysDocument(TypedDict):
    """A series by UTC day."""

    at: Annotated[Moment, told("the moment of the answer")]
    series: Annotated[int, told("its id")]
    days: Annotated[list[DayDocument], told("those that have runs, in order")]


def board_document(board: Board) -> BoardDocument:
    """Return the document of `/api/board`."""
    return {
        "at": to_rfc3339(board.at),
        "simulated": board.simulated,
        "definition": DEFINITION,
        "window_s": int(board.window.total_seconds()),
        "regions": [region_document(region) for region in board.regions],
        "workloads": list(board.workloads),
        "next_slot_at": moment(board.next_slot_at),
        "incidents": [incident_document(one) for one in board.incidents],
        "models": [
            {
                "model": model.model,
                "endpoints": [_endpoint(endpoint) for endpoint in model.endpoints],
            }
            for model in board.models
        ],
        "next": board.next_after,
    }


def series_document(page: SeriesPage) -> SeriesPageDocument:
    """Return the document of `/api/series`."""
    return {
        "at": to_rfc3339(page.at),
        "simulated": page.simulated,
        "definition": DEFINITION,
        "window_s": int(page.window.total_seconds()),
        "series": [_one_series(one) for one in page.series],
        "next": page.next_after,
    }


def days_document(series: int, load: Load, days: Sequence[Day], now: datetime) -> DaysDocument:
    """Return the document of `/api/series/{id}/days`."""
    return {"at": to_rfc3339(now), "series": series, "days": [_day(day, load) for day in days]}


def _day(day: Day, load: Load) -> DayDocument:
    found = {figure: statistic_of(day, figure, fewest_runs(load)) for figure in Figure}
    return {
        "day": day.day.isoformat(),
        "definition": day.definition,
        "definitions": list(day.definitions),
        "runs": day.runs,
        "requests": day.requests,
        "good": day.good,
        "cost_usd": day.cost_usd,
        "ttft_s": statistic_document(found[Figure.TTFT]),
        "answer_s": statistic_document(found[Figure.ANSWER]),
        "output_tokens_per_s": statistic_document(found[Figure.SPEED]),
        "end_to_end_s": statistic_document(found[Figure.END_TO_END]),
        "stall_s": statistic_document(found[Figure.STALL]),
    }


def _one_series(one: OneSeries) -> SeriesDocument:
    facts, row = one.facts, one.row
    return {
        "series": row.series_id,
        "endpoint": row.endpoint,
        "provider": facts.provider,
        "model": facts.model,
        "precision": facts.precision,
        "region": row.region,
        "workload": row.workload,
        "load": row.load,
        "simulated": row.simulated,
        "active": facts.active,
        **cell_document(one.cell),
    }


def region_document(region: RegionStanding) -> RegionDocument:
    """Return how a region of the fleet stands."""
    return {
        "region": region.region,
        "state": str(region.state),
        "last_seen_at": moment(region.last_seen_at),
    }


def _endpoint(endpoint: BoardEndpoint) -> BoardEndpointDocument:
    facts = endpoint.facts
    return {
        "endpoint": facts.endpoint,
        "provider": facts.provider,
        "provider_name": facts.provider_name,
        "model": facts.model,
        "precision": facts.precision,
        "protocol": facts.protocol,
        "importance": facts.importance,
        "location": facts.location,
        "account": facts.account,
        "tier": facts.tier,
        "active": facts.active,
        "simulated": endpoint.simulated,
        "verdict": believed_document(endpoint.believed.get("")),
        "verdicts": {
            region: believed_document(one) for region, one in endpoint.believed.items() if region
        },
        "changes": [change_document(change) for change in endpoint.changes],
        "series": [_series(series) for series in endpoint.series],
    }


def change_document(change: Change) -> ChangeDocument:
    """Return what a provider changed."""
    return {
        "endpoint": change.endpoint,
        "provider": change.provider,
        "model": change.model,
        "what": change.facet,
        "from": change.before,
        "to": change.value,
        "changed_at": to_rfc3339(change.changed_at),
        "noted_at": to_rfc3339(change.noted_at),
    }


def _series(series: BoardSeries) -> BoardSeriesDocument:
    return {
        "workload": series.workload,
        "load": str(series.load),
        "pooled": cell_document(series.pooled),
        "regions": {region: cell_document(cell) for region, cell in series.regions.items()},
    }
