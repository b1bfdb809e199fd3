"""The store's figures and counters as metric families.

Counters come from the store and never fall; what is bounded by the window is a gauge, and goes
with it. Names and labels come from `pacewatch.words.metrics` alone.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from aggregator.db import Connection
from aggregator.exposition import Family, label_text
from aggregator.families import Page, flag_text, names_of
from aggregator.judgement_metrics import JudgementRows, add_judgement, read_judgement
from aggregator.place_metrics import CountedRow, Place, add_places, note_place
from aggregator.pooled import fewest_runs
from aggregator.rows import (
    EndpointRow,
    MissedRow,
    NoticeRow,
    OutcomeRow,
    PlaceRow,
    ScrapedSeries,
    StoreRow,
    WorkerRow,
    is_in_window,
    read_rows,
    read_size,
    read_store,
    stream_rows,
    stream_series,
)
from aggregator.standing import shown_workers
from pacewatch.words.fleet import QUANTILES
from pacewatch.words.metrics import METRICS, SERIES_LABELS
from pacewatch.words.slot import Load

STORED_QUANTILES = tuple(QUANTILES.values())
"""Quantiles of a statistic, in the order in which they are stored."""

_ROLLING: tuple[tuple[str, str, str, tuple[float, ...]], ...] = (
    ("pacewatch_time_to_first_token_seconds", "ttft_s", "ttft_runs", (0.5, 0.95)),
    ("pacewatch_time_to_first_answer_token_seconds", "answer_s", "answer_runs", (0.5,)),
    ("pacewatch_output_tokens_per_second", "output_tokens_per_s", "speed_runs", (0.5,)),
    ("pacewatch_end_to_end_seconds", "end_to_end_s", "end_to_end_runs", (0.5,)),
)
"""Metric, column of quantiles, column of the runs behind them, quantiles that are always told."""

_LATEST = (
    ("pacewatch_latest_time_to_first_token_seconds", "latest_ttft_s"),
    ("pacewatch_latest_output_tokens_per_second", "latest_output_tokens_per_s"),
    ("pacewatch_latest_end_to_end_seconds", "latest_end_to_end_s"),
)

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
    for series in rows.series:
        _add_series(page, series, known, now=now, window=window)
        note_place(places, (series.endpoint, series.region, series.simulated), known)
    counters, outcomes, missed = list(rows.places), list(rows.outcomes), list(rows.missed)
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
    page.add("pacewatch_database_used_ratio", labels, rows.used_ratio)
    return page.families


def _add_notices(page: Page, row: NoticeRow, simulated: str) -> None:
    labels = label_text(("channel", "simulated"), (row.channel, simulated))
    page.add("pacewatch_notices_waiting", labels, row.waiting)
    for outcome, count in (("sent", row.sent), ("given_up", row.given_up)):
        page.add("pacewatch_notices_total", labels, count, f',outcome="{outcome}"')


def _add_series(
    page: Page,
    row: ScrapedSeries,
    known: Mapping[str, EndpointRow],
    *,
    now: datetime,
    window: timedelta,
) -> None:
    values = (
        *names_of(row.endpoint, known),
        row.region,
        row.workload,
        row.load,
        flag_text(row.simulated),
    )
    labels = label_text(SERIES_LABELS, values)
    page.add("pacewatch_requests_tried_total", labels, row.tried)
    page.add("pacewatch_requests_succeeded_total", labels, row.succeeded)
    if is_in_window(row.newest_at, now, window):
        page.add("pacewatch_window_samples", labels, row.runs)
        _add_rolling(page, row, labels)
    _add_latest(page, row, labels, known, now - window)


def _add_rolling(page: Page, row: ScrapedSeries, labels: str) -> None:
    enough = fewest_runs(Load(row.load))
    for name, column, count, always in _ROLLING:
        stored: list[float | None] | None = getattr(row, column)
        if stored is None or getattr(row, count) < enough:
            continue
        for quantile, value in zip(STORED_QUANTILES, stored, strict=True):
            if quantile not in always and quantile not in page.quantiles:
                continue
            page.add(name, labels, value, f',quantile="{quantile}"')


def _add_latest(
    page: Page, row: ScrapedSeries, labels: str, known: Mapping[str, EndpointRow], cut: datetime
) -> None:
    """Add the latest run: its figures while it is in the window, its moment for as long as the
    endpoint is probed, so that a rule on its age does not end by itself.
    """
    if row.latest_at is None:
        return
    fresh = row.latest_at > cut
    if fresh:
        for name, column in _LATEST:
            page.add(name, labels, getattr(row, column))
    endpoint = known.get(row.endpoint)
    if fresh or (endpoint is not None and endpoint.active):
        page.add("pacewatch_latest_run_timestamp_seconds", labels, row.latest_at.timestamp())
        if row.last_success_at is not None:
            page.add(
                "pacewatch_last_success_timestamp_seconds", labels, row.last_success_at.timestamp()
            )


def _add_worker(page: Page, row: WorkerRow, store: StoreRow | None, simulated: str) -> None:
    labels = label_text(("region", "worker", "simulated"), (row.region, row.worker, simulated))
    page.add("pacewatch_worker_last_seen_timestamp_seconds", labels, row.last_seen_at.timestamp())
    page.add("pacewatch_worker_clock_offset_seconds", labels, row.clock_offset_s)
    for quantile, field in _TIMING_ERRORS:
        error_s = (row.calibration or {}).get(field)
        if isinstance(error_s, float | int):
            more = f'{labels},quantile="{quantile}"'
            page.add("pacewatch_worker_timing_error_seconds", more, error_s)
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
