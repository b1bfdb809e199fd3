"""What this process has in hand right now: runs received and not yet done, and streams open.

Memory only: what a worker that died had received is not in hand any more, and the centre sends it
again; what it had started stands in the journal.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

LISTED_FULL = 1_000
"""Runs declined for a full disk that are remembered for the next heartbeat, the newest."""


class Hand:
    """The runs received and running, and what could not even be declined on disk."""

    def __init__(self) -> None:
        """Begin with empty hands."""
        self._mutex = threading.Lock()
        self._received: Counter[UUID] = Counter()
        self._running: set[UUID] = set()
        self._streams = 0
        self._full: dict[UUID, None] = {}

    def receive(self, run_id: UUID) -> None:
        """Note that a task for the run has come; `let_go` ends it."""
        with self._mutex:
            self._received[run_id] += 1

    def let_go(self, run_id: UUID) -> None:
        """Note that one task for the run is done with."""
        with self._mutex:
            self._received[run_id] -= 1
            if self._received[run_id] <= 0:
                del self._received[run_id]

    def run_ids(self) -> list[UUID]:
        """Return the runs in hand."""
        with self._mutex:
            return list(self._received)

    @contextmanager
    def alone(self, run_id: UUID) -> Iterator[bool]:
        """Give True where no other task of this worker is at the same run, else False."""
        with self._mutex:
            first = run_id not in self._running
            self._running.add(run_id)
        try:
            yield first
        finally:
            if first:
                with self._mutex:
                    self._running.discard(run_id)

    @contextmanager
    def streams(self, count: int) -> Iterator[int]:
        """Give how many streams are open besides, and count these until the block ends."""
        with self._mutex:
            beside = self._streams
            self._streams += count
        try:
            yield beside
        finally:
            with self._mutex:
                self._streams -= count

    def note_full(self, run_id: UUID) -> None:
        """Remember a run that was declined because the disk is full, for the next heartbeat."""
        with self._mutex:
            self._full[run_id] = None
            while len(self._full) > LISTED_FULL:
                del self._full[next(iter(self._full))]

    def full(self) -> list[UUID]:
        """Return the runs declined because the disk is full that no heartbeat has told yet."""
        with self._mutex:
            return list(self._full)

    def told_full(self, run_ids: list[UUID]) -> None:
        """Forget those: a heartbeat has told them."""
        with self._mutex:
            for run_id in run_ids:
                self._full.pop(run_id, None)
