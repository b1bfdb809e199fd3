"""One batch of records -> one transaction: runs, counters and the statistics that they change.

Every step may be repeated: what was taken in once is held.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from aggregator import rolling
from aggregator.admission import Pushed, Result, read_pushed
from aggregator.db import Connection, Pool, queries, translated
from aggregator.intake import Intake
from aggregator.partitions import make_days
from pacewatch.words.fleet import Schedule


def accept(
    pool: Pool,
    records: Sequence[object],
    *,
    region: str,
    now: datetime,
    window_s: int = Schedule().window_s,
) -> list[Result]:
    """Take a region's records in, all in one transaction; return the answers in their order.

    Raises StoreError where Postgres does not do its part; then nothing was taken in.
    """
    batch = [read_pushed(raw, region) for raw in records]
    with translated(), pool.connection() as connection:
        return take_in(connection, batch, now=now, window=timedelta(seconds=window_s))


def take_in(
    connection: Connection, batch: Sequence[Pushed], *, now: datetime, window: timedelta
) -> list[Result]:
    """Take read records in, in one transaction; makes the partitions of their days before it.

    The connection must not be in a transaction.
    """
    _make_days(connection, batch)
    with connection.transaction():
        intake = Intake(connection, now)
        results = intake.take(batch)
        with connection.pipeline():  # what has no answer to wait for
            intake.finish()
            if intake.rolled:
                rolling.refresh(connection, intake.rolled, now=now, window=window)
            intake.tally.write_places(connection, simulated=intake.simulated)
        intake.answered.write(connection, now=now, window=window)
    return results


def _make_days(connection: Connection, batch: Sequence[Pushed]) -> None:
    runs = [pushed.run_id for pushed in batch if pushed.run is not None]
    with connection.transaction():
        missing = connection.execute(
            queries("ingest")["find_days_without_partition"], {"runs": runs}
        ).fetchall()
    if missing:
        make_days(connection, [row["day"] for row in missing])
