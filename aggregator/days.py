"""Daily statistics of each series, made when the UTC day is over and anew when a run came late.

They stay when the runs themselves are no longer kept.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from psycopg.rows import class_row

from aggregator.db import Connection, Pool, queries, translated
from aggregator.stats import EXACT_UP_TO, ranks_text
from pacewatch.words.retention import Retention

_AT_ONCE = 4
"""Days that one upkeep makes, so that the other things it does need not wait long."""


def mark_due(connection: Connection, days: Iterable[date]) -> None:
    """Note in the caller's transaction that runs came for days that are over."""
    connection.execute(queries("days")["mark_days_due"], {"days": sorted(set(days))})


def roll_up(pool: Pool, retention: Retention, now: datetime) -> int:
    """Make the statistics of days that are due; return how many they were.

    Each day is a transaction of its own. A day whose runs are no longer all kept keeps what it has,
    whatever comes for it.
    """
    with translated(), pool.connection() as connection:
        connection.execute(
            queries("days")["mark_past_days_due"], {"today": now.astimezone(UTC).date()}
        )
    done = 0
    oldest = (now - retention.timings).astimezone(UTC).date() + timedelta(days=1)
    while done < _AT_ONCE and _roll_up_one(pool, oldest):
        done += 1
    return done


def _roll_up_one(pool: Pool, oldest: date) -> bool:
    with translated(), pool.connection() as connection:
        row = connection.execute(queries("days")["take_day_due"]).fetchone()
        if row is None:
            return False
        if row["day"] < oldest:
            return True
        begin = datetime.combine(row["day"], time(), UTC)
        connection.execute(
            queries("days")["roll_up_day"],
            {
                "day": row["day"],
                "from": begin,
                "until": begin + timedelta(days=1),
                "low_ranks": ranks_text(),
                "exact_up_to": EXACT_UP_TO,
            },
        )
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A series' statistics of one UTC day; each median with its interval, None of too few runs."""

    day: date
    definition: int
    """The highest version of the definitions that its runs were measured by."""
    definition_low: int | None
    """The lowest; None: not noted."""
    runs: int
    requests: int
    good: int
    cost_usd: float
    ttft_s: list[float | None] | None
    ttft_runs: int
    ttft_low: float | None
    ttft_high: float | None
    answer_s: list[float | None] | None
    answer_runs: int
    answer_low: float | None
    answer_high: float | None
    output_tokens_per_s: list[float | None] | None
    speed_runs: int
    speed_low: float | None
    speed_high: float | None
    end_to_end_s: list[float | None] | None
    end_to_end_runs: int
    end_to_end_low: float | None
    end_to_end_high: float | None
    stall_s: list[float | None] | None
    stall_runs: int
    stall_low: float | None
    stall_high: float | None

    @property
    def definitions(self) -> tuple[int, ...]:
        """Return the lowest and the highest version, one where they are the same."""
        low = self.definition if self.definition_low is None else self.definition_low
        return tuple(dict.fromkeys((low, self.definition)))


def read_days(connection: Connection, series: int, since: date, until: date) -> list[Day]:
    """Return the days of a series that have runs, both ends included, in order."""
    with connection.cursor(row_factory=class_row(Day)) as cursor:
        return cursor.execute(
            queries("days")["select_days"], {"series": series, "since": since, "until": until}
        ).fetchall()
