"""The worker's wall clock, and how far it is from the centre's.

A worker's clock may be wrong by hours. Whether a task is still valid is judged by it all the same,
set right by the offset that the centre's answers teach; the offset is kept on the disk. Durations
are never differences of these clocks.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from probe.disk import Disk

_NOTE = "clock_offset_s"

WORTH_KEEPING_S = 0.1
"""An offset nearer than this to the one on the disk is not written, seconds."""

Wall = Callable[[], datetime]


def wall_now() -> datetime:
    """Return this host's wall time, aware, UTC."""
    return datetime.now(UTC)


class Clock:
    """A wall clock and its offset: the worker's time less the centre's."""

    def __init__(self, disk: Disk, wall: Wall = wall_now) -> None:
        """Take the offset that was learnt last, where there is one."""
        self._disk = disk
        self.wall = wall
        kept = disk.note(_NOTE)
        self._kept_s: float | None = None if kept is None else float(kept)
        self.offset_s = self._kept_s

    def learn(self, asked_at: datetime, answered_at: datetime, centre_at: datetime) -> float:
        """Take the offset from one answer: our clock before and after it, and the centre's time in
        it; return the offset in seconds.
        """
        learnt_s = self.offset_s = offset_s(asked_at, answered_at, centre_at)
        if self._kept_s is None or abs(learnt_s - self._kept_s) > WORTH_KEEPING_S:
            self._disk.keep_note(_NOTE, repr(learnt_s))
            self._kept_s = learnt_s
        return learnt_s

    def centre_now(self) -> datetime:
        """Return the centre's time, as far as it is known: without an offset, our own."""
        return self.wall() - timedelta(seconds=self.offset_s or 0.0)


def offset_s(asked_at: datetime, answered_at: datetime, centre_at: datetime) -> float:
    """Return the worker's clock less the centre's, seconds, taking both ways as equally long."""
    middle = asked_at + (answered_at - asked_at) / 2
    return (middle - centre_at).total_seconds()
