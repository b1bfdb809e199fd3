"""What a batch adds to the counters: gathered while it is taken in, written at its end.

Counters only ever rise. Rows are written in the order of their keys, so that two batches never wait
for each other in a circle.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from psycopg.types.json import Json

from aggregator.db import Connection, queries
from aggregator.measured import Planned, good_of, tried_of
from pacewatch.words.slot import to_rfc3339
from pacewatch.words.timing import Run


@dataclass(slots=True, kw_only=True)
class PlaceTally:
    """What is added for an endpoint in a region."""

    recovered: int = 0
    duplicate: int = 0
    cost_usd: float = 0.0


@dataclass(slots=True, kw_only=True)
class SeriesTally:
    """What is added for a series."""

    tried: int = 0
    succeeded: int = 0
    success_at: datetime | None = None
    latest: dict[str, Any] | None = None
    """The row of its greatest slot_at among the batch's."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """What one batch adds."""

    places: dict[tuple[str, str], PlaceTally] = field(default_factory=dict)
    outcomes: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    missed: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    series: dict[int, SeriesTally] = field(default_factory=dict)

    def place(self, planned: Planned) -> PlaceTally:
        """Return what is added for the slot's endpoint in its region."""
        return self.places.setdefault((planned.endpoint, planned.region), PlaceTally())

    def count_requests(self, run: Run, planned: Planned) -> None:
        """Count the requests by outcome, and what they cost."""
        self.place(planned).cost_usd += run.cost_usd or 0.0
        for timing in run.timings:
            key = (planned.endpoint, planned.region, str(timing.outcome), str(planned.purpose))
            self.outcomes[key] += 1

    def count_duplicate(self, run: Run, planned: Planned) -> None:
        """Count an execution that another one had beaten, and what it cost."""
        place = self.place(planned)
        place.duplicate += 1
        place.cost_usd += run.cost_usd or 0.0

    def count_missed(self, planned: Planned, reason: str) -> None:
        """Count a slot that became missed."""
        self.place(planned)
        self.missed[planned.endpoint, planned.region, reason] += 1

    def count_series(self, run: Run, row: dict[str, Any], slot_at: datetime) -> None:
        """Count a run that rolls: tried, succeeded, the latest."""
        series = self.series.setdefault(row["series_id"], SeriesTally())
        good = good_of(run)
        series.tried += tried_of(run)
        series.succeeded += good
        if good and (series.success_at is None or series.success_at < slot_at):
            series.success_at = slot_at
        if series.latest is None or _moment(series.latest) < _moment(row):
            series.latest = row

    def write_series(self, connection: Connection) -> None:
        """Add to the series' counters and advance their latest runs; the caller has the locks."""
        if not self.series:
            return
        counts = [
            {
                "series_id": series_id,
                "tried": series.tried,
                "succeeded": series.succeeded,
                "success_at": series.success_at and to_rfc3339(series.success_at),
            }
            for series_id, series in self.series.items()
        ]
        latest = [series.latest for series in self.series.values() if series.latest]
        connection.execute(queries("rolling")["count_series"], {"rows": Json(counts)})
        connection.execute(queries("rolling")["advance_latest"], {"rows": Json(latest)})

    def write_places(self, connection: Connection, *, simulated: bool) -> None:
        """Add to the counters per endpoint and region."""
        places = [
            {
                "endpoint": endpoint,
                "region": region,
                "recovered": place.recovered,
                "duplicate": place.duplicate,
                "cost_usd": place.cost_usd,
            }
            for (endpoint, region), place in self.places.items()
        ]
        for name, rows in (
            ("count_places", places),
            ("count_outcomes", _rows(self.outcomes, "requests", "outcome", "purpose")),
            ("count_missed", _rows(self.missed, "runs", "reason")),
        ):
            if rows:
                connection.execute(
                    queries("ingest")[name], {"rows": Json(rows), "simulated": simulated}
                )


def _moment(row: dict[str, Any]) -> tuple[str, str]:
    return row["slot_at"], row["run_id"]


def _rows(counted: Counter[Any], number: str, *words: str) -> list[dict[str, Any]]:
    names = ("endpoint", "region", *words)
    return [{**dict(zip(names, key, strict=True)), number: count} for key, count in counted.items()]
