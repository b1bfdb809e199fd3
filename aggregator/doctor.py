"""How large the store is, what its settings come to in a year, and whether it is well."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from aggregator import rolling
from aggregator.db import Connection, Pool, queries, translated
from aggregator.partitions import TABLES, days_ahead, partition_name
from aggregator.plan import Plan, make_plan
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import Load
from pacewatch.words.text import age_text, plural

YEAR_DAYS = 365
NEARLY_FULL = 0.9
KEPT_UP_WITHIN = timedelta(minutes=10)
"""Without a finished upkeep for longer, nobody keeps the store up."""

BYTES = {"run": 330, "timing": 250, "slot": 235, "day_stat": 410}
"""What a row takes with its indexes, where the store has too few rows to tell."""
TOKEN_BYTES = 3.3
"""What a token takes of a timeline."""

_ROWS_TO_TELL = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSize:
    """A table with its partitions and indexes."""

    name: str
    rows: int
    """About."""
    bytes: int
    in_a_year_bytes: int
    """After a year of this plan and these settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """The store at one moment."""

    bytes: int
    upkeep_at: datetime | None
    """The latest upkeep, whether all of it was done or not."""
    kept_up_at: datetime | None
    """The latest one that was finished."""
    series: int
    aside: int
    """Records that are not known here yet."""
    tables: tuple[TableSize, ...]
    """The largest first."""
    lacks: tuple[str, ...]
    """Partitions that should stand ready."""

    @property
    def catalogs_bytes(self) -> int:
        """Return what Postgres' own catalogs take of it, now as in a year."""
        return max(0, self.bytes - sum(table.bytes for table in self.tables))

    @property
    def in_a_year_bytes(self) -> int:
        """Return how large it will be after a year."""
        return self.catalogs_bytes + sum(table.in_a_year_bytes for table in self.tables)


def read_condition(connection: Connection, fleet: Fleet, now: datetime) -> Condition:
    """Return the store's condition; raises StoreError."""
    named = queries("doctor")
    with translated():
        row = connection.execute(named["select_condition"]).fetchone() or {}
        sizes = connection.execute(named["select_sizes"]).fetchall()
        lacks = [
            name
            for table in TABLES
            for name in (partition_name(table, day) for day in days_ahead(now)[:2])
            if not _is_there(connection, name)
        ]
    expected = expected_bytes(fleet, make_plan(fleet), row.get("series", 0), _row_bytes(sizes))
    tables = tuple(
        TableSize(
            name=size["name"],
            rows=size["rows"],
            bytes=size["bytes"],
            in_a_year_bytes=expected.get(size["name"], int(size["bytes"])),
        )
        for size in sizes
    )
    return Condition(
        bytes=row.get("bytes", 0),
        upkeep_at=row.get("upkeep_at"),
        kept_up_at=row.get("kept_up_at"),
        series=row.get("series", 0),
        aside=row.get("aside", 0),
        tables=tables,
        lacks=tuple(lacks),
    )


def _is_there(connection: Connection, name: str) -> bool:
    row = connection.execute("select to_regclass(%s) is not null as there", (name,)).fetchone()
    return bool(row and row["there"])


def _row_bytes(sizes: list[dict[str, Any]]) -> Mapping[str, float]:
    """Return what a row of each table takes, of those that have rows enough to tell."""
    return {
        str(size["name"]): size["bytes"] / size["rows"]
        for size in sizes
        if size["rows"] >= _ROWS_TO_TELL
    }


def expected_bytes(
    fleet: Fleet, plan: Plan, series: int, row_bytes: Mapping[str, float]
) -> dict[str, int]:
    """Return how large the tables that grow will be after a year, by name. Pure."""
    kept, rows = fleet.retention, plan.rows.values()
    each = len(fleet.regions) * len(fleet.schedule.workloads) * 86_400 / fleet.schedule.day_s
    runs = each * sum(row.single.mean + row.parallel.mean for row in rows)
    runs += sum(row.sentinels_per_day for row in rows)
    requests = sum(row.requests_per_day for row in rows)
    tokens = sum(row.output_tokens_per_day for row in rows)
    timings_days = min(YEAR_DAYS, kept.timings_days)
    timelines_days = min(YEAR_DAYS, kept.timelines_days)
    rollups_days = min(YEAR_DAYS, kept.rollups_days or YEAR_DAYS)
    planned = len(plan.rows) * len(fleet.regions) * len(fleet.schedule.workloads) * len(Load)
    size = {**BYTES, **row_bytes}
    timeline = runs * row_bytes["timeline"] if "timeline" in row_bytes else tokens * TOKEN_BYTES
    return {
        "run": round(runs * timings_days * size["run"]),
        "timing": round(requests * timings_days * size["timing"]),
        "slot": round(runs * timings_days * size["slot"]),
        "timeline": round(timeline * timelines_days),
        "day_stat": round(max(planned, series) * rollups_days * size["day_stat"]),
    }


def problems_of(condition: Condition, fleet: Fleet, now: datetime) -> tuple[str, ...]:
    """Return what is wrong with the store, a sentence each; none: all is well. Pure."""
    found = []
    if condition.lacks:
        found.append(f"partition {condition.lacks[0]} is missing: no central worker makes it")
    if _is_long_ago(condition.kept_up_at, now):
        kept = condition.kept_up_at
        since = "yet" if kept is None else f"for {age_text(kept, now)}"
        found.append(
            f"upkeep: no central worker has kept the store up {since}"
            if _is_long_ago(condition.upkeep_at, now)
            else f"upkeep: not finished {since}; the central workers' logs say which part fails"
        )
    if condition.aside:
        records = plural(condition.aside, "record")
        found.append(
            f"{records} put aside: of a version or a catalog that is not known here, or damaged"
        )
    if (size_gb := fleet.retention.size_gb) is not None:
        room = size_gb * 1e9
        if condition.bytes > NEARLY_FULL * room:
            found.append(f"the database takes {condition.bytes / room:.0%} of store.size_gb")
        elif condition.in_a_year_bytes > NEARLY_FULL * room:
            share = condition.in_a_year_bytes / room
            found.append(f"in a year the database will take {share:.0%} of store.size_gb")
    return tuple(found)


def _is_long_ago(moment: datetime | None, now: datetime) -> bool:
    return moment is None or now - moment > KEPT_UP_WITHIN


def recount(pool: Pool, fleet: Fleet, now: datetime) -> rolling.Refreshed:
    """Recompute every statistic from the raw rows; return how many there are and which were wrong.

    Windows that merely aged are refreshed before: they are not wrong, but due.
    """
    window = timedelta(seconds=fleet.schedule.window_s)
    rolling.refresh_aged(pool, now=now, window=window)
    return rolling.refresh_all(pool, now=now, window=window)
