"""How long the centre keeps what it has, and how much room there is for it. Values only."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What `[store]` of the file says."""

    timelines_days: int = 14
    """Of the raw times of every chunk."""
    timings_days: int = 400
    """Of runs, their requests with all figures, and slots."""
    rollups_days: int | None = None
    """Of the daily statistics of each series; None: for ever."""
    size_gb: float | None = None
    """How large the database may get; None: nobody said."""

    @property
    def timelines(self) -> timedelta:
        """Return how long timelines are kept."""
        return timedelta(days=self.timelines_days)

    @property
    def timings(self) -> timedelta:
        """Return how long runs, requests and slots are kept."""
        return timedelta(days=self.timings_days)


DEFAULT_RETENTION = Retention()
"""Of a file that says nothing."""
