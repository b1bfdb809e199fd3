"""What somebody must set right about endpoints, as people are told of it."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from aggregator.db import Connection, queries
from pacewatch.words import verdict
from pacewatch.words.text import age_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """Something to set right that no good run has contradicted since."""

    endpoint: str
    kind: str
    region: str
    """Where it was met last."""
    since: datetime
    last_at: datetime
    runs: int
    """That met it."""


def read_advice(
    connection: Connection, endpoints: Collection[str] | None = None
) -> tuple[Advice, ...]:
    """Return what stands to be set right, of some endpoints or of all that are probed."""
    asked = {"endpoints": None if endpoints is None else sorted(endpoints)}
    with connection.cursor(row_factory=class_row(Advice)) as cursor:
        return tuple(cursor.execute(queries("views")["select_advice"], asked))


def advice_text(one: Advice, now: datetime) -> str:
    """Return what is to be set right, where and since when."""
    meaning = verdict.ADVICE_MEANINGS[verdict.Advice(one.kind)]
    return f"{meaning}, in {one.region}, for {age_text(one.since, now)}"
