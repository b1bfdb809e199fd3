"""Board, series and status as JSON documents. Pure; moments are RFC 3339, unknown is null."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from aggregator.api.judgement_documents import believed_document, incident_document
from aggregator.board import Board, BoardEndpoint, BoardSeries
from aggregator.cells import Cell, Latest
from aggregator.changes import Change
from aggregator.days import Day
from aggregator.pooled import fewest_runs
from aggregator.rows import WorkerRow
from aggregator.series import OneSeries, SeriesPage
from aggregator.standing import RegionStanding
from aggregator.statistic import Statistic, statistic_of
from aggregator.status import FailingEndpoint, Status
from aggregator.together import Times, Together
from pacewatch.words.figures import DEFINITION
from pacewatch.words.flag import Figure
from pacewatch.words.slot import Load, to_rfc3339

Document = dict[str, Any]


def board_document(board: Board) -> Document:
    """Return the document of `/api/board`."""
    return {
        "at": to_rfc3339(board.at),
        "simulated": board.simulated,
        "definition": DEFINITION,
        "window_s": int(board.window.total_seconds()),
        "regions": [_region_line(region) for region in board.regions],
        "workloads": list(board.workloads),
        "next_slot_at": _moment(board.next_slot_at),
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


def status_document(status: Status) -> Document:
    """Return the document of `/api/status`."""
    return {
        "at": to_rfc3339(status.at),
        "simulated": status.simulated,
        "problems": list(status.problems),
        "catalog": status.catalog,
        "ticked_at": _moment(status.ticked_at),
        "endpoints": status.endpoints,
        "measured": status.measured,
        "regions": [
            {
                **_region_line(region),
                "workers": [_worker(worker, status.catalog) for worker in region.workers],
            }
            for region in status.regions
        ],
        "failing": [_failing(endpoint) for endpoint in status.failing],
        "declined": [asdict(row) for row in status.declined],
        "judged_at": _moment(status.judged_at),
        "incidents": [incident_document(one) for one in status.incidents],
        "advice": [
            {**asdict(one), "since": to_rfc3339(one.since), "last_at": to_rfc3339(one.last_at)}
            for one in status.advice
        ],
    }


def series_document(page: SeriesPage) -> Document:
    """Return the document of `/api/series`."""
    return {
        "at": to_rfc3339(page.at),
        "simulated": page.simulated,
        "definition": DEFINITION,
        "window_s": int(page.window.total_seconds()),
        "series": [_one_series(one) for one in page.series],
        "next": page.next_after,
    }


def days_document(series: int, load: Load, days: Sequence[Day], now: datetime) -> Document:
    """Return the document of `/api/series/{id}/days`."""
    return {"at": to_rfc3339(now), "series": series, "days": [_day(day, load) for day in days]}


def _day(day: Day, load: Load) -> Document:
    return {
        "day": day.day.isoformat(),
        "definition": day.definition,
        "runs": day.runs,
        "requests": day.requests,
        "good": day.good,
        "cost_usd": day.cost_usd,
        **{
            str(figure): _statistic(statistic_of(day, figure, fewest_runs(load)))
            for figure in Figure
        },
    }


def _one_series(one: OneSeries) -> Document:
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
        **_cell(one.cell),
    }


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else to_rfc3339(moment)


def _region_line(region: RegionStanding) -> Document:
    return {
        "region": region.region,
        "state": str(region.state),
        "last_seen_at": _moment(region.last_seen_at),
    }


def _endpoint(endpoint: BoardEndpoint) -> Document:
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


def change_document(change: Change) -> Document:
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


def _series(series: BoardSeries) -> Document:
    return {
        "workload": series.workload,
        "load": str(series.load),
        "pooled": _cell(series.pooled),
        "regions": {region: _cell(cell) for region, cell in series.regions.items()},
    }


def _cell(cell: Cell) -> Document:
    return {
        "state": str(cell.state),
        "runs": cell.runs,
        "fewest_runs": cell.fewest_runs,
        "requests": cell.requests,
        "good": cell.good,
        **{name: _statistic(found) for name, found in cell.statistics.items()},
        **_together(cell.together),
        "newest_at": _moment(cell.newest_at),
        "latest": _latest(cell.latest),
        "last_success_at": _moment(cell.last_success_at),
        "failing_in": list(cell.failing_in),
    }


def _statistic(statistic: Statistic) -> Document:
    document: Document = {
        "median": statistic.median,
        "low": statistic.low,
        "high": statistic.high,
        "interval_percent": statistic.interval_percent,
        "runs": statistic.runs,
    }
    if statistic.quantiles is not None:
        p5, p25, _, p75, p95 = statistic.quantiles
        document |= {"p5": p5, "p25": p25, "p75": p75, "p95": p95}
    return document


def _together(together: Together | None) -> Document:
    if together is None:
        return {"system_tokens_per_s": None, "slowdown": None}
    return {
        "system_tokens_per_s": _statistic(together.throughput),
        "slowdown": {figure: _times(times) for figure, times in together.slower.items()},
    }


def _times(found: Times) -> Document:
    return {
        "times": found.times,
        "low": found.low,
        "high": found.high,
        "interval_percent": found.interval_percent,
        "runs": found.runs,
        "runs_alone": found.runs_alone,
    }


def _latest(latest: Latest | None) -> Document | None:
    if latest is None:
        return None
    return {
        "at": to_rfc3339(latest.at),
        "region": latest.region,
        "outcome": latest.outcome,
        "ttft_s": latest.ttft_s,
        "output_tokens_per_s": latest.output_tokens_per_s,
        "end_to_end_s": latest.end_to_end_s,
        "answer_only": latest.answer_only,
    }


def _worker(worker: WorkerRow, catalog: str | None) -> Document:
    return {
        "worker": worker.worker,
        "version": worker.version,
        "last_seen_at": to_rfc3339(worker.last_seen_at),
        "clock_offset_s": worker.clock_offset_s,
        "catalog": worker.catalog,
        "catalog_mismatch": None if catalog is None else worker.catalog != catalog,
        "in_hand": worker.in_hand,
        "outbox_runs": worker.outbox_runs,
        "budget_left_usd": worker.budget_left_usd,
        "rate_limits": worker.rate_limits,
    }


def _failing(endpoint: FailingEndpoint) -> Document:
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
                "last_success_at": _moment(series.last_success_at),
            }
            for series in endpoint.series
        ],
    }
