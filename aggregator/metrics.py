"""The store's figures and counters as metric families.

Counters come from the store and never fall; what is bounded by the window is a gauge, and goes
with it. Names and labels come from `pacewatch.words.metrics` alone.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from aggregator.db import Connection
from aggregator.exposition import Family, escaped, label_text
from aggregator.pooled import fewest_runs
from aggregator.rows import (
    EndpointRow,
    MissedRow,
    OutcomeRow,
    PlaceRow,
    SeriesRow,
    StoreRow,
    WorkerRow,
    read_rows,
    read_store,
)
from aggregator.standing import shown_workers
from pacewatch.words.endpoint import parse_endpoint_id
from pacewatch.words.fleet import QUANTILES
from pacewatch.words.metrics import METRICS, PLACE_LABELS, SERIES_LABELS
from pacewatch.words.outcome import MISSED_REASONS, Outcome
from pacewatch.words.slot import Load, Purpose

STORED_QUANTILES = tuple(QUANTILES.values())
"""Quantiles of a statistic, in the order in which they are stored."""

FROM_ZERO_PURPOSES = (Purpose.SCHEDULED, Purpose.FIRST)
"""Purposes whose outcomes are all told from 0 on, before any request; the others from their first
request on: all of them would be a hundred samples an endpoint and region.
"""


def _zeros(*purposes: str) -> dict[tuple[str, str], int]:
    return {(str(outcome), purpose): 0 for outcome in Outcome for purpose in purposes}


FROM_ZERO = _zeros(*map(str, FROM_ZERO_PURPOSES))

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

Place = tuple[str, str, bool]
"""Endpoint, region, simulated or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """All that the metrics are made of, read at one moment."""

    store: StoreRow | None
    endpoints: Sequence[EndpointRow]
    series: Sequence[SeriesRow]
    places: Sequence[PlaceRow]
    outcomes: Sequence[OutcomeRow]
    missed: Sequence[MissedRow]
    workers: Sequence[WorkerRow]


def read_all(connection: Connection) -> Rows:
    """Return the rows of the connection's one moment."""
    return Rows(
        store=read_store(connection),
        endpoints=read_rows(connection, EndpointRow, "select_endpoints"),
        series=read_rows(connection, SeriesRow, "select_series"),
        places=read_rows(connection, PlaceRow, "select_place_counters"),
        outcomes=read_rows(connection, OutcomeRow, "select_outcome_counters"),
        missed=read_rows(connection, MissedRow, "select_missed_counters"),
        workers=read_rows(connection, WorkerRow, "select_workers"),
    )


class Page:
    """The families under their names, being filled."""

    def __init__(self, quantiles: Collection[float]) -> None:
        """Start with every metric, each without a sample; the quantiles are told of every rolling
        figure beside the usual ones.
        """
        self.quantiles = quantiles
        self._families = {name: Family(word=word) for name, word in METRICS.items()}

    def add(self, name: str, labels: str, value: float | None) -> None:
        """Add a sample; what is unknown has none."""
        if value is not None:
            self._families[name].add(labels, value)

    @property
    def families(self) -> Iterable[Family]:
        """Return all families in the order of the table."""
        return self._families.values()


def make_page(
    rows: Rows, *, now: datetime, window: timedelta, quantiles: Collection[float] = ()
) -> Iterable[Family]:
    """Return every metric with its samples at `now`, rolling ones with further quantiles. Pure."""
    page = Page(quantiles)
    known = {row.endpoint: row for row in rows.endpoints}
    for series in rows.series:
        _add_series(page, series, known, now=now, window=window)
    _add_places(page, rows, known)
    simulated = flag_text(rows.store is not None and rows.store.simulated)
    for worker in shown_workers(rows.workers, now):
        _add_worker(page, worker, rows.store, simulated)
    for endpoint in rows.endpoints:
        if endpoint.active:
            _add_endpoint(page, endpoint, simulated)
    return page.families


def flag_text(flag: bool) -> str:  # noqa: FBT001 - the label's own value
    """Return a yes or no as a label's value."""
    return "true" if flag else "false"


class Names(NamedTuple):
    """The labels that follow from an endpoint's id."""

    endpoint: str
    provider: str
    model: str


def names_of(endpoint: str, known: Mapping[str, EndpointRow]) -> Names:
    """Return an endpoint's labels: from the catalog as stored, else from its id."""
    row = known.get(endpoint)
    if row is not None:
        return Names(endpoint, row.provider, row.model)
    parts = parse_endpoint_id(endpoint)
    return Names(endpoint, parts.provider, parts.model)


def _add_series(
    page: Page,
    row: SeriesRow,
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
    if row.is_in_window(now, window):
        page.add("pacewatch_window_samples", labels, row.runs)
        _add_rolling(page, row, labels)
    _add_latest(page, row, labels, known, now - window)


def _add_rolling(page: Page, row: SeriesRow, labels: str) -> None:
    enough = fewest_runs(Load(row.load))
    for name, column, count, always in _ROLLING:
        stored: list[float | None] | None = getattr(row, column)
        if stored is None or getattr(row, count) < enough:
            continue
        for quantile, value in zip(STORED_QUANTILES, stored, strict=True):
            if quantile not in always and quantile not in page.quantiles:
                continue
            page.add(name, f'{labels},quantile="{quantile}"', value)


def _add_latest(
    page: Page, row: SeriesRow, labels: str, known: Mapping[str, EndpointRow], cut: datetime
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


def _add_places(page: Page, rows: Rows, known: Mapping[str, EndpointRow]) -> None:
    counters = {(row.endpoint, row.region, row.simulated): row for row in rows.places}
    outcomes: dict[Place, dict[tuple[str, str], int]] = {}
    for ended in rows.outcomes:
        place = (ended.endpoint, ended.region, ended.simulated)
        outcomes.setdefault(place, {})[ended.outcome, ended.purpose] = ended.requests
    missed: dict[Place, dict[str, int]] = {}
    for lost in rows.missed:
        place = (lost.endpoint, lost.region, lost.simulated)
        missed.setdefault(place, {})[lost.reason] = lost.runs
    series_places = {row.place for row in rows.series}
    for place in sorted(series_places.union(counters, outcomes, missed)):
        endpoint, region, simulated = place
        values = (*names_of(endpoint, known), region, flag_text(simulated))
        labels = label_text(PLACE_LABELS, values)
        _add_place(page, labels, counters.get(place))
        _add_outcomes(page, labels, outcomes.get(place, {}))
        _add_missed(page, labels, missed.get(place, {}))


def _add_place(page: Page, labels: str, row: PlaceRow | None) -> None:
    page.add("pacewatch_runs_recovered_total", labels, row.recovered if row else 0)
    page.add("pacewatch_runs_duplicate_total", labels, row.duplicate if row else 0)
    page.add("pacewatch_probe_cost_usd_total", labels, row.cost_usd if row else 0)


def _add_outcomes(page: Page, labels: str, counted: Mapping[tuple[str, str], int]) -> None:
    told = FROM_ZERO
    if counted:
        purposes = {purpose for _, purpose in counted} - set(FROM_ZERO_PURPOSES)
        told = FROM_ZERO | _zeros(*sorted(purposes)) | dict(counted)
    for (outcome, purpose), requests in told.items():
        more = f'outcome="{escaped(outcome)}",purpose="{escaped(purpose)}"'
        page.add("pacewatch_requests_total", f"{labels},{more}", requests)


def _add_missed(page: Page, labels: str, counted: Mapping[str, int]) -> None:
    for reason, runs in (dict.fromkeys(MISSED_REASONS, 0) | dict(counted)).items():
        page.add("pacewatch_runs_missed_total", f'{labels},reason="{escaped(reason)}"', runs)


def _add_worker(page: Page, row: WorkerRow, store: StoreRow | None, simulated: str) -> None:
    labels = label_text(("region", "worker", "simulated"), (row.region, row.worker, simulated))
    page.add("pacewatch_worker_last_seen_timestamp_seconds", labels, row.last_seen_at.timestamp())
    page.add("pacewatch_worker_clock_offset_seconds", labels, row.clock_offset_s)
    if store is not None and store.catalog_hash is not None:
        differs = row.catalog != store.catalog_hash
        page.add("pacewatch_worker_catalog_mismatch", labels, int(differs))
    page.add("pacewatch_outbox_runs", labels, row.outbox_runs)
    page.add("pacewatch_budget_left_usd", labels, row.budget_left_usd)


def _add_endpoint(page: Page, row: EndpointRow, simulated: str) -> None:
    word = METRICS["pacewatch_endpoint_info"]
    facts = [getattr(row, name) or "" for name in word.labels[:-1]]
    page.add(word.name, label_text(word.labels, (*facts, simulated)), 1)
    prices = (("input", row.price_input_usd), ("output", row.price_output_usd))
    word = METRICS["pacewatch_price_usd_per_million_tokens"]
    for direction, usd in prices:
        values = (row.endpoint, row.provider, row.model, direction, simulated)
        page.add(word.name, label_text(word.labels, values), usd)
