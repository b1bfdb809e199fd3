"""Statistics, latest run and counters of every series as metrics.

Where a sample goes is looked up once for all series: there are tens of thousands of them, with a
dozen samples each.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from aggregator.exposition import Column, label_text
from aggregator.families import Page, flag_text, names_of
from aggregator.pooled import fewest_runs
from aggregator.rows import EndpointRow, ScrapedSeries, is_in_window
from pacewatch.words.fleet import QUANTILES
from pacewatch.words.metrics import SERIES_LABELS
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

_OF_ENDPOINT = 3
"""The first labels of a series follow from its endpoint alone."""

_FIELD = {name: place for place, name in enumerate(ScrapedSeries._fields)}


class _Rolling(NamedTuple):
    """Where a rolling figure stands in a series' row, and where its quantiles go."""

    stored: int
    runs: int
    told: tuple[tuple[int, Column], ...]
    """Place of a quantile among the stored ones, and its column."""


class SeriesMetrics:
    """The columns that the samples of series go into."""

    def __init__(
        self, page: Page, known: Mapping[str, EndpointRow], *, now: datetime, window: timedelta
    ) -> None:
        """Look up every column; none has a sample yet."""
        self._known, self._now, self._window = known, now, window
        self._enough = {str(load): fewest_runs(load) for load in Load}
        self._heads: dict[str, str] = {}
        self._tails: dict[tuple[str, str, str, bool], str] = {}
        self._tried = page.column("pacewatch_requests_tried_total")
        self._succeeded = page.column("pacewatch_requests_succeeded_total")
        self._runs = page.column("pacewatch_window_samples")
        self._rolling = tuple(_rolling(page, *told) for told in _ROLLING)
        self._latest = tuple((_FIELD[field], page.column(name)) for name, field in _LATEST)
        self._latest_at = page.column("pacewatch_latest_run_timestamp_seconds")
        self._success_at = page.column("pacewatch_last_success_timestamp_seconds")

    def add(self, row: ScrapedSeries) -> None:
        """Add the samples of a series."""
        labels = self._label_text(row)
        self._tried.add(labels, row.tried)
        self._succeeded.add(labels, row.succeeded)
        if is_in_window(row.newest_at, self._now, self._window):
            self._runs.add(labels, row.runs)
            self._add_rolling(row, labels)
        if row.latest_at is not None:
            self._add_latest(row, row.latest_at, labels)

    def _label_text(self, row: ScrapedSeries) -> str:
        """Return the labels of a series; what several share is written once."""
        head = self._heads.get(row.endpoint)
        if head is None:
            names = names_of(row.endpoint, self._known)
            head = f"{label_text(SERIES_LABELS[:_OF_ENDPOINT], names)},"
            self._heads[row.endpoint] = head
        place = row.region, row.workload, row.load, row.simulated
        tail = self._tails.get(place)
        if tail is None:
            words = *place[:-1], flag_text(row.simulated)
            tail = self._tails[place] = label_text(SERIES_LABELS[_OF_ENDPOINT:], words)
        return head + tail

    def _add_rolling(self, row: ScrapedSeries, labels: str) -> None:
        enough, fields = self._enough[row.load], _fields_of(row)
        for stored, runs, told in self._rolling:
            values = fields[stored]
            if values is None or fields[runs] < enough:
                continue
            for place, column in told:
                if (value := values[place]) is not None:
                    column.add(labels, value)

    def _add_latest(self, row: ScrapedSeries, latest_at: datetime, labels: str) -> None:
        """Add the latest run: its figures while it is in the window, its moment for as long as the
        endpoint is probed, so that a rule on its age does not end by itself.
        """
        fresh = latest_at > self._now - self._window
        if fresh:
            fields = _fields_of(row)
            for place, column in self._latest:
                if (value := fields[place]) is not None:
                    column.add(labels, value)
        endpoint = self._known.get(row.endpoint)
        if fresh or (endpoint is not None and endpoint.active):
            self._latest_at.add(labels, latest_at.timestamp())
            if row.last_success_at is not None:
                self._success_at.add(labels, row.last_success_at.timestamp())


def _fields_of(row: ScrapedSeries) -> Sequence[Any]:
    return row


def _rolling(page: Page, name: str, stored: str, runs: str, always: tuple[float, ...]) -> _Rolling:
    return _Rolling(
        stored=_FIELD[stored],
        runs=_FIELD[runs],
        told=tuple(
            (place, page.column(name, f',quantile="{quantile}"'))
            for place, quantile in enumerate(STORED_QUANTILES)
            if quantile in always or quantile in page.quantiles
        ),
    )
