"""Stored runs as evidence, streamed in the order of their slots, a day at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from aggregator.db import Connection, queries
from aggregator.detect.evidence import Evidence
from aggregator.voting import ended_of, evidence_of
from pacewatch.words.fleet import Fleet

AT_ONCE = 1_000
"""Runs that are held at once."""

_PIECE = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a stored run says of its endpoint."""

    endpoint: str
    evidence: Evidence
    received_at: datetime


def read_history(
    connection: Connection, fleet: Fleet, endpoints: list[str], since: datetime, until: datetime
) -> Iterator[Told]:
    """Yield what the runs of these endpoints say whose slots lie in the span.

    Raises StoreError.
    """
    regions = sorted(fleet.regions)
    first = connection.execute(queries("history")["find_first"], {"since": since}).fetchone()
    if first is None or first["slot_at"] is None:
        return
    start = first["slot_at"]
    while start < until:
        end = min(start + _PIECE, until)
        values = {"since": start, "until": end, "endpoints": endpoints, "regions": regions}
        with connection.transaction(), connection.cursor(name="history") as cursor:
            cursor.itersize = AT_ONCE
            cursor.execute(queries("history")["select_history"], values)
            for row in cursor:
                if row["ended"] is None:
                    continue
                evidence = evidence_of(row, ended_of(connection, row))
                if evidence is not None:
                    yield Told(
                        endpoint=row["endpoint"],
                        evidence=evidence,
                        received_at=row["received_at"],
                    )
        start = end
