"""What the rows of series do not tell of themselves: who fails now, who hides its reasoning, what
requests get together."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from aggregator.cells import Around
from aggregator.db import Connection, queries
from aggregator.rows import LastRun, SeriesRow, TogetherRow, read_rows
from aggregator.standing import failing_series, suspects
from pacewatch.words.slot import Load


def read_around(
    connection: Connection, rows: Sequence[SeriesRow], now: datetime, window: timedelta
) -> Around:
    """Return what is around these series at the connection's one moment; raises StoreError."""
    last = read_rows(
        connection, LastRun, "select_last_runs", series=suspects(rows), after=now - window
    )
    measured = [row for row in rows if row.latest_at is not None]
    latest = [row.latest_at for row in rows if row.latest_at is not None]
    hidden = connection.execute(
        queries("read")["select_hidden_series"],
        {
            "series": [row.series_id for row in measured],
            "runs": [row.latest_run_id for row in measured],
            "latest": latest,
            "earliest": min(latest, default=now),
        },
    ).fetchall()
    parallel = [row.series_id for row in rows if row.load == Load.PARALLEL]
    together = read_rows(
        connection, TogetherRow, "select_together", series=parallel, since=now - window
    )
    return Around(
        now=now,
        window=window,
        failing=failing_series(last),
        answer_only=frozenset(row["series_id"] for row in hidden),
        together={row.series_id: row for row in together},
    )
