"""Finished runs on the disk, until the aggregator has committed them.

A run is here before anybody is told of it, and leaves when the aggregator said stored, held,
duplicate or aside. A refused one goes to a table of its own with the reason.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pacewatch.words.slot import to_rfc3339
from pacewatch.words.timing import Run
from pacewatch.words.wire import MAX_BATCH_BYTES, MAX_RUNS
from probe.disk import Disk
from probe.journal import json_of, pack, unpack

FRESH_TO_OLD = 3
"""Fresh runs sent for each old one."""

MAX_BYTES = 512 * 1024 * 1024
"""Packed records on the disk above which no run is started."""

MIN_FREE_BYTES = 64 * 1024 * 1024
"""Room on the file system below which no run is started."""

KEPT_REFUSED = 1_000
"""Refused runs that are kept, the newest."""

LISTED = 10_000
"""Runs of the outbox that a heartbeat names at most, the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A run in the outbox, without its record."""

    place: int
    unpacked_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A run in the outbox."""

    place: int
    run_id: UUID
    execution: UUID
    record: bytes
    """JSON, unpacked."""


class Outbox:
    """The tables of finished and of refused runs."""

    def __init__(
        self, disk: Disk, *, max_bytes: int = MAX_BYTES, min_free_bytes: int = MIN_FREE_BYTES
    ) -> None:
        """Keep the outbox on that disk, within those bounds."""
        self._disk = disk
        self._max_bytes = max_bytes
        self._min_free_bytes = min_free_bytes

    def keep(self, run: Run) -> None:
        """Put a finished run on the disk; raises StoreError where the disk fails."""
        record = json_of(run)
        self.keep_packed(run.run_id, run.execution, pack(record), len(record))

    def keep_packed(
        self, run_id: UUID, execution: UUID, packed: bytes, unpacked_bytes: int
    ) -> None:
        """Put a packed record on the disk; an execution that is there stays as it is."""
        with self._disk.write() as connection:
            connection.execute(
                "insert into outbox (execution, run_id, unpacked_bytes, packed_bytes, record)"
                " values (?, ?, ?, ?, ?) on conflict do nothing",
                (execution.bytes, run_id.bytes, unpacked_bytes, len(packed), packed),
            )

    def batch(self) -> list[Kept]:
        """Return what is sent next: fresh and old runs 3 to 1, within the bounds of a push."""
        query = f"select place, unpacked_bytes from outbox order by place {{}} limit {MAX_RUNS}"
        fresh = [_waiting(row) for row in self._disk.read(query.format("desc"))]
        old = [_waiting(row) for row in self._disk.read(query.format("asc"))]
        chosen = choose(fresh, old)
        marks = ", ".join("?" * len(chosen))
        rows = self._disk.read(
            f"select place, run_id, execution, record from outbox where place in ({marks})"
            " order by place",
            *chosen,
        )
        return [
            Kept(
                place=place,
                run_id=UUID(bytes=run_id),
                execution=UUID(bytes=execution),
                record=unpack(packed),
            )
            for place, run_id, execution, packed in rows
        ]

    def drop(self, kept: Iterable[Kept]) -> None:
        """Let go of runs that the aggregator has taken."""
        with self._disk.write() as connection:
            connection.executemany(
                "delete from outbox where place = ?", [(one.place,) for one in kept]
            )

    def refuse(self, kept: Kept, reason: str, now: datetime) -> None:
        """Set a run aside that the aggregator refused, with its reason."""
        with self._disk.write() as connection:
            connection.execute(
                "insert into refused (execution, run_id, refused_at, reason, record)"
                " select execution, run_id, ?, ?, record from outbox where place = ?",
                (to_rfc3339(now), reason, kept.place),
            )
            connection.execute("delete from outbox where place = ?", (kept.place,))
            connection.execute(
                "delete from refused where place <= (select max(place) from refused) - ?",
                (KEPT_REFUSED,),
            )

    def refused(self) -> list[tuple[UUID, str]]:
        """Return run and reason of what was refused, the oldest first."""
        rows = self._disk.read("select run_id, reason from refused order by place")
        return [(UUID(bytes=run_id), reason) for run_id, reason in rows]

    def runs(self) -> int:
        """Return how many runs wait here."""
        count: int = self._disk.read("select count(*) from outbox")[0][0]
        return count

    def run_ids(self) -> list[UUID]:
        """Return the runs that wait here, the newest LISTED of them."""
        rows = self._disk.read(
            "select run_id from outbox where place > (select max(place) from outbox) - ?", LISTED
        )
        return [UUID(bytes=row[0]) for row in rows]

    def is_full(self) -> bool:
        """Tell whether no new run may be started; raises StoreError where the disk fails."""
        held = self._disk.read("select coalesce(sum(packed_bytes), 0) from outbox")[0][0]
        return held > self._max_bytes or self._disk.free_bytes() < self._min_free_bytes


def choose(
    fresh: Sequence[Waiting],
    old: Sequence[Waiting],
    *,
    max_runs: int = MAX_RUNS,
    max_bytes: int = MAX_BATCH_BYTES,
) -> list[int]:
    """Return the places of the runs to send: three from the newest, one from the oldest, and so on.

    `fresh` has the newest first, `old` the oldest first; they may name the same runs. The first
    one is sent whatever its size: if it is too large, the aggregator's answer says so.
    """
    chosen: dict[int, None] = {}
    queues = ([*reversed(fresh)], [*reversed(old)])
    room = max_bytes - len(b'{"runs":[]}')
    turn = 0
    while len(chosen) < max_runs and any(queues):
        queue = queues[turn % (FRESH_TO_OLD + 1) == FRESH_TO_OLD]
        turn += 1
        while queue and queue[-1].place in chosen:
            queue.pop()
        if not queue:
            continue
        room -= queue[-1].unpacked_bytes + 1
        if room < 0 and chosen:
            break
        chosen[queue.pop().place] = None
    return list(chosen)


def body_of(kept: Sequence[Kept]) -> bytes:
    """Return the body of the push that tells these runs, unpacked."""
    return b'{"runs":[' + b",".join(one.record for one in kept) + b"]}"


def _waiting(row: Sequence[int]) -> Waiting:
    return Waiting(place=row[0], unpacked_bytes=row[1])
