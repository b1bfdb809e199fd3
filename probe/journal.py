"""What this worker has started: no run is started twice, and none that was started is forgotten.

A run is written down before its first byte goes out, together with what is to be reported should
the worker die meanwhile: the same execution, all its requests `internal`.
"""

import json
import zlib
from dataclasses import replace
from uuid import UUID

from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import to_rfc3339
from pacewatch.words.timing import Run, Timing
from pacewatch.words.wire import encode_run
from probe.disk import Disk

KEPT = 200_000
"""Finished runs that are remembered; a slot's validity ends long before they are forgotten."""


class Journal:
    """The table of started runs."""

    def __init__(self, disk: Disk) -> None:
        """Keep the journal on that disk."""
        self._disk = disk

    def knows(self, run_id: UUID) -> bool:
        """Tell whether the run was started here before."""
        return bool(self._disk.read("select 1 from journal where run_id = ?", run_id.bytes))

    def start(self, planned: Run, requests: int) -> None:
        """Write down that the run begins; raises StoreError where it was started here before or
        the disk fails.

        `planned` has no timings; it is what is reported, with that many requests `internal`,
        should it never be finished.
        """
        lost = pack(lost_record(planned, requests))
        with self._disk.write() as connection:
            connection.execute(
                "insert into journal (run_id, started_at, execution, lost) values (?, ?, ?, ?)",
                (
                    planned.run_id.bytes,
                    to_rfc3339(planned.started_at),
                    planned.execution.bytes,
                    lost,
                ),
            )
            connection.execute(
                "delete from journal where lost is null"
                " and place <= (select max(place) from journal) - ?",
                (KEPT,),
            )

    def finish(self, run_id: UUID) -> None:
        """Write down that the run's record is kept; part of the outbox's commit."""
        with self._disk.write() as connection:
            connection.execute("update journal set lost = null where run_id = ?", (run_id.bytes,))

    def runs(self) -> int:
        """Return how many runs are remembered."""
        return int(self._disk.read("select count(*) from journal")[0][0])

    def unfinished(self) -> list[tuple[UUID, UUID, bytes]]:
        """Return run, execution and packed record of what was started and not finished."""
        return [
            (UUID(bytes=run_id), UUID(bytes=execution), lost)
            for run_id, execution, lost in self._disk.read(
                "select run_id, execution, lost from journal where lost is not null order by place"
            )
        ]


def lost_record(planned: Run, requests: int) -> bytes:
    """Return the JSON of the run as it is reported where the worker died while it ran."""
    timings = tuple(Timing(n=n, outcome=Outcome.INTERNAL) for n in range(requests))
    return json_of(replace(planned, timings=timings))


def json_of(run: Run) -> bytes:
    """Return the run record as it is posted."""
    return json.dumps(encode_run(run), separators=(",", ":"), allow_nan=False).encode()


def pack(record: bytes) -> bytes:
    """Return the record as it lies on the disk."""
    return zlib.compress(record, 1)


def unpack(packed: bytes) -> bytes:
    """Return the record as it is posted."""
    return zlib.decompress(packed)
