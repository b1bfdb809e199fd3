"""The store's figures and counters as metric families.

Counters come from the store and never fall; what is bounded by the window is a gauge, and goes
with it. Names and labels come from `pacewatch.words.metrics` alone.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from aggregator.db import Connection
from aggregator.exposition import Family, label_text
from aggregator.families import Page, flag_text
from aggregator.judgement_metrics import JudgementRows, add_judgement, read_judgement
from aggregator.place_metrics import CountedRow, Place, add_places, note_place
from aggregator.rows import (
    EndpointRow,
    MissedRow,
    NoticeRow,
    OutcomeRow,
    PlaceRow,
    ScrapedSeries,
    StoreRow,
    WorkerRow,
    read_rows,
    read_size,
    read_store,
    stream_rows,
    stream_series,
)
from aggregator.series_metrics import SeriesMetrics
from aggregator.standing import shown_workers
from pacewatch.words.figures import DEFINITION
from pacewatch.words.metrics import METRICS
from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import SENTINEL, Purpose

_TIMING_ERRORS = ((0.5, "arrival_p50_s"), (0.99, "arrival_p99_s"))
"""Quantile, field of a worker's calibration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """All that the metrics are made of, read at one moment."""

    store: StoreRow | None
    endpoints: Sequence[EndpointRow]
    series: Iterable[ScrapedSeries]
    places: Iterable[PlaceRow]
    outcomes: Iterable[OutcomeRow]
    missed: Iterable[MissedRow]
    workers: Sequence[WorkerRow]
    judgement: JudgementRows
    notices: Sequence[NoticeRow] = ()
    used_ratio: float | None = None
    """Of the room that the file says the database has; None: it does not say."""


def read_all(
    connection: Connection, size_gb: float | None = None, channels: Sequence[str] = ()
) -> Rows:
    """Return the rows of the connection's one moment; the many are read while they are used.

    `size_gb` is the room that the database has; None: nobody said. `channels` are whom the file
    has told of incidents.
    """
    return Rows(
        store=read_store(connection),
        endpoints=read_rows(connection, EndpointRow, "select_endpoints", endpoints=None),
        series=stream_series(connection),
        places=stream_rows(connection, PlaceRow, "select_place_counters"),
        outcomes=stream_rows(connection, OutcomeRow, "select_outcome_counters"),
        missed=stream_rows(connection, MissedRow, "select_missed_counters"),
        workers=read_rows(connection, WorkerRow, "select_workers"),
        judgement=read_judgement(connection),
        notices=read_rows(connection, NoticeRow, "count_notices", channels=list(channels)),
        used_ratio=None if size_gb is None else read_size(connection) / (size_gb * 1e9),
    )


def make_page(
    rows: Rows, *, now: datetime, window: timedelta, quantiles: Collection[float] = ()
) -> Iterable[Family]:
    """Return every metric with its samples at `now`, rolling ones with further quantiles. Pure."""
    page = Page(quantiles)
    known = {row.endpoint: row for row in rows.endpoints}
    places: dict[Place, str] = {}
    of_series = SeriesMetrics(page, known, now=now, window=window)
    sentinels: set[Place] = set()
    for series in rows.series:
        of_series.add(series)
        place = series.endpoint, series.region, series.simulated
        note_place(places, place, known)
        if series.workload == SENTINEL:
            sentinels.add(place)
    counters, missed = list(rows.places), list(rows.missed)
    outcomes = [*map(_no_sentinel_yet, sorted(sentinels)), *rows.outcomes]
    counted: list[CountedRow] = [*counters, *outcomes, *missed]
    for row in counted:
        note_place(places, (row.endpoint, row.region, row.simulated), known)
    add_places(page, places, counters=counters, outcomes=outcomes, missed=missed)
    is_simulated = rows.store is not None and rows.store.simulated
    add_judgement(page, rows.judgement, known, places, simulated=is_simulated)
    simulated = flag_text(is_simulated)
    for worker in shown_workers(rows.workers, now):
        _add_worker(page, worker, rows.store, simulated)
    for endpoint in rows.endpoints:
        if endpoint.active:
            _add_endpoint(page, endpoint, simulated)
    for told in rows.notices:
        _add_notices(page, told, simulated)
    labels = label_text(("simulated",), (simulated,))
    if rows.store is not None and rows.store.judged_at is not None:
        ticked = rows.store.judged_at.timestamp()
        page.add("pacewatch_judging_ticked_timestamp_seconds", labels, ticked)
    page.add("pacewatch_definition_version", labels, DEFINITION)
    page.add("pacewatch_database_used_ratio", labels, rows.used_ratio)
    return page.families


def _no_sentinel_yet(place: Place) -> OutcomeRow:
    """Return what has the place's outcomes of sentinels told from 0 on; a count takes its place."""
    endpoint, region, simulated = place
    return OutcomeRow(
        endpoint=endpoint,
        region=region,
        simulated=simulated,
        outcome=str(Outcome.OK),
        purpose=str(Purpose.SENTINEL),
        requests=0,
    )


def _add_notices(page: Page, row: NoticeRow, simulated: str) -> None:
    labels = label_text(("channel", "simulated"), (row.channel, simulated))
    page.add("pacewatch_notices_waiting", labels, row.waiting)
    page.add("pacewatch_notices_given_up", labels, row.given_up)


def _add_worker(page: Page, row: WorkerRow, store: StoreRow | None, simulated: str) -> None:
    labels = label_text(("region", "worker", "simulated"), (row.region, row.worker, simulated))
    page.add("pacewatch_worker_last_seen_timestamp_seconds", labels, row.last_seen_at.timestamp())
    page.add("pacewatch_worker_clock_offset_seconds", labels, row.clock_offset_s)
    for quantile, field in _TIMING_ERRORS:
        error_s = (row.calibration or {}).get(field)
        if isinstance(error_s, float | int):
            more = f'{labels},quantile="{quantile}"'
            page.add("pacewatch_worker_timing_error_seconds", more, error_s)
    page.add("pacewatch_worker_calibrated", labels, int(row.calibration is not None))
    if row.calibration is not None:
        page.add("pacewatch_worker_suspect", labels, int(bool(row.calibration.get("over"))))
    if store is not None and store.catalog_hash is not None:
        differs = row.catalog != store.catalog_hash
        page.add("pacewatch_worker_catalog_mismatch", labels, int(differs))
    page.add("pacewatch_outbox_runs", labels, row.outbox_runs)
    page.add("pacewatch_budget_left_usd", labels, row.budget_left_usd)
    word = METRICS["pacewatch_rate_limit_left_ratio"]
    for told in row.rate_limits:
        values = (row.region, row.worker, told["provider"], told["key"], told["unit"], simulated)
        page.add(word.name, label_text(word.labels, values), told["left_ratio"])


def _add_endpoint(page: Page, row: EndpointRow, simulated: str) -> None:
    word = METRICS["pacewatch_endpoint_info"]
    facts = [getattr(row, name) or "" for name in word.labels[:-1]]
    page.add(word.name, label_text(word.labels, (*facts, simulated)), 1)
    prices = (("input", row.price_input_usd), ("output", row.price_output_usd))
    word = METRICS["pacewatch_price_usd_per_million_tokens"]
    for direction, usd in prices:
        values = (row.endpoint, row.provider, row.model, direction, simulated)
        page.add(word.name, label_text(word.labels, values), usd)
