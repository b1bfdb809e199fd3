"""One tick of telling: what is due is noted, and what was noted is sent."""

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from aggregator.db import Pool
from aggregator.notify.book import book
from aggregator.notify.courier import Courier
from aggregator.notify.send import Means, Sent, send_due
from pacewatch.words.fleet import Fleet


def utc_now() -> datetime:
    """Return the moment."""
    return datetime.now(UTC)


class Teller:
    """Tells in one thread of a process at a time, so that a service that hangs holds up one."""

    def __init__(
        self,
        pool: Pool,
        environment: Mapping[str, str],
        *,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Keep the store, and where the channels' addresses are."""
        self._pool = pool
        self._environment = environment
        self._clock = clock
        self._busy = threading.Lock()

    def tell(self, fleet: Fleet) -> Sent | None:
        """Tell what is due; None where another thread is at it. Raises StoreError."""
        if not self._busy.acquire(blocking=False):
            return None
        try:
            book(self._pool, fleet, self._clock())
            with Courier() as courier:
                means = Means(
                    fleet=fleet,
                    environment=self._environment,
                    courier=courier,
                    clock=self._clock,
                )
                return send_due(self._pool, means)
        finally:
            self._busy.release()
