"""Raw requests as text, a line each, from any length of time: only some of them are in memory.

A UTC day is read in a transaction of its own, so that no snapshot is held for as long as somebody
takes to download a year.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Any

from psycopg.rows import dict_row
from pydantic_core import to_json

from aggregator.board import Filter
from aggregator.db import Pool, queries, translated
from aggregator.partitions import days_there
from pacewatch.words.slot import to_rfc3339

_AT_ONCE = 2_000

COLUMNS = (
    *("run", "n", "slot_at", "received_at", "purpose", "endpoint", "provider", "model"),
    *("precision", "region", "workload", "load", "simulated", "worker", "worker_version"),
    *("endpoint_hash", "definition", "outcome", "fault_status", "fault_type", "flags"),
    *("left_out", "tokens", "ttft_s", "answer_s", "output_tokens_per_s", "end_to_end_s"),
    *("stall_s", "system_tokens_per_s", "run_cost_usd"),
)
"""What is told of each request, in order."""


class Form(StrEnum):
    """How the lines are written."""

    CSV = "csv"
    JSONL = "jsonl"


MEDIA_TYPES = {Form.CSV: "text/csv; charset=utf-8", Form.JSONL: "application/jsonl"}


def export(
    pool: Pool, asked: Filter, *, since: datetime, until: datetime, form: Form
) -> Iterator[bytes]:
    """Give the requests of runs whose slots lie in [since, until), in the order of the slots, as
    text in pieces; raises StoreError.
    """
    write = {Form.CSV: csv_lines, Form.JSONL: json_lines}[form]
    head = ",".join(COLUMNS).encode() + b"\r\n" if form is Form.CSV else b""
    with translated(), pool.connection() as connection:
        days = days_there(connection, "run")
    for begin, end in within(days, since, until):
        for rows in _read(pool, asked, begin, end):
            yield head + write(map(_told, rows))  # not before: by now the store has answered
            head = b""
    if head:
        yield head


def within(
    days: Iterable[date], since: datetime, until: datetime
) -> Iterator[tuple[datetime, datetime]]:
    """Give what of a time lies on each of these UTC days. Pure."""
    for day in sorted(days):
        midnight = datetime.combine(day, time(), UTC)
        begin, end = max(midnight, since), min(midnight + timedelta(days=1), until)
        if begin < end:
            yield begin, end


def _read(
    pool: Pool, asked: Filter, since: datetime, until: datetime
) -> Iterator[list[dict[str, Any]]]:
    values = {**asked.values(), "since": since, "until": until}
    with (
        translated(),
        pool.connection() as connection,
        connection.transaction(),
        connection.cursor("export", row_factory=dict_row) as cursor,
    ):
        cursor.execute(queries("export")["select_export"], values, binary=True)
        while rows := cursor.fetchmany(_AT_ONCE):
            yield rows


def _told(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "run": str(row["run"]),
        "slot_at": to_rfc3339(row["slot_at"]),
        "received_at": to_rfc3339(row["received_at"]),
    }


def csv_lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return rows as CSV: unknown is empty, lists are words with spaces between. Pure."""
    text = io.StringIO()
    writer = csv.writer(text)
    for row in rows:
        writer.writerow([_field(row[name]) for name in COLUMNS])
    return text.getvalue().encode()


def _field(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(value) if isinstance(value, list) else value


def json_lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return rows as JSON, a line each. Pure."""
    lines = ({name: row[name] for name in COLUMNS} for row in rows)
    return b"".join(to_json(line, inf_nan_mode="null") + b"\n" for line in lines)
