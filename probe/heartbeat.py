"""Tells the centre that the worker lives and what it has in hand, and learns the centre's time.

The centre sends a run again only where no fresh heartbeat lists it, so a heartbeat names every run
received, running, or in the outbox.
"""

import logging
import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID

import httpx2

from pacewatch.log import event
from pacewatch.words.errors import StoreError
from pacewatch.words.slot import to_rfc3339
from pacewatch.words.timing import WorkerName
from probe.budget import Budget
from probe.centre import Voice, read_now, why_refused
from probe.clock import Clock
from probe.hand import Hand
from probe.headroom import Headroom
from probe.journal import Journal
from probe.outbox import Outbox

logger = logging.getLogger(__name__)

FIRST_RETRY_S = 1.0
"""The first pause before the next heartbeat while none was ever answered, seconds."""

MOST_RATE_LIMITS = 200
"""Rate limits that one heartbeat tells of."""


class Heartbeat:
    """The thread that tells the centre of the worker."""

    def __init__(  # noqa: PLR0913 - a heartbeat tells of all of these
        self,
        *,
        name: WorkerName,
        region: str,
        every_s: float,
        client: httpx2.Client,
        clock: Clock,
        hand: Hand,
        journal: Journal,
        outbox: Outbox,
        budget: Budget,
        headroom: Headroom,
        calibration: Callable[[], dict[str, float | str | None] | None],
        suspected: Callable[[], None],
    ) -> None:
        """Tell of that worker, every so many seconds; `suspected` hears of each suspicion that
        ordered probes from the region.
        """
        self._name = name
        self._region = region
        self._every_s = every_s
        self._client = client
        self._clock = clock
        self._hand = hand
        self._journal = journal
        self._outbox = outbox
        self._budget = budget
        self._headroom = headroom
        self._calibration = calibration
        self._suspected = suspected
        self._suspected_at: str | None = None
        self._voice = Voice(logger, "heartbeat")
        self._catalog = name.catalog
        self._stop = threading.Event()
        self.answered = threading.Event()
        """Set once a heartbeat of this process was answered."""
        self.is_paused = False
        """The centre's word that this region rests."""

    def stop(self) -> None:
        """Let `run` return."""
        self._stop.set()

    def run(self) -> None:
        """Beat until `stop`; until the first answer sooner, in pauses that double."""
        first_s = FIRST_RETRY_S
        while not self._stop.is_set():
            try:
                self.beat()
            except (httpx2.HTTPError, StoreError) as error:
                self._voice.trouble(f"no heartbeat: {str(error) or type(error).__name__}")
            waits_s = self._every_s
            if not self.answered.is_set():
                waits_s, first_s = min(first_s, waits_s), first_s * 2
            self._stop.wait(waits_s)

    def beat(self) -> None:
        """Send one heartbeat and take its answer; raises HTTPError where there is none, StoreError
        where the disk failed.
        """
        full = self._hand.full()
        asked_at = self._clock.wall()
        answered = self._client.post("/v1/workers", json=self._told(full))
        answered_at = self._clock.wall()
        if answered.status_code != httpx2.codes.OK:
            self._voice.trouble(f"no heartbeat: {why_refused(answered.status_code)}")
            return
        try:
            answer: Any = answered.json()
        except ValueError:
            answer = None
        centre_at = read_now(answer)
        if centre_at is None:
            self._voice.trouble("no heartbeat: the aggregator's answer does not tell its time")
            return
        self._clock.learn(asked_at, answered_at, centre_at)
        self._hand.told_full(full)
        self._take(answer)
        self._voice.fine()
        self.answered.set()

    def _told(self, full: list[UUID]) -> dict[str, Any]:
        now = self._clock.centre_now()
        in_hand = {*self._hand.run_ids(), *self._outbox.run_ids()}
        return {
            "worker": self._name.id,
            "region": self._region,
            "version": self._name.version,
            "catalog": self._name.catalog,
            "in_hand": [str(run_id) for run_id in in_hand],
            "outbox_full": [str(run_id) for run_id in full],
            "journal_runs": self._journal.runs(),
            "outbox_runs": self._outbox.runs(),
            "budget_left_usd": self._budget.left_usd(now),
            "rate_limits": [
                {
                    "provider": left.account.provider,
                    "key": left.account.key_name,
                    "unit": left.unit,
                    "left_ratio": left.ratio,
                }
                for left in self._headroom.left(now)[:MOST_RATE_LIMITS]
            ],
            "clock": to_rfc3339(self._clock.wall()),
            "calibration": self._calibration(),
        }

    def _take(self, answer: dict[str, Any]) -> None:
        paused = answer.get("paused") is True
        if paused != self.is_paused:
            self.is_paused = paused
            event(logger, "heartbeat.paused" if paused else "heartbeat.resumed")
        suspected_at = answer.get("suspected_at")
        if isinstance(suspected_at, str) and suspected_at != self._suspected_at:
            self._suspected_at = suspected_at
            self._suspected()
        catalog = answer.get("catalog")
        if isinstance(catalog, str) and catalog != self._catalog:
            self._catalog = catalog
            if catalog != self._name.catalog:
                event(
                    logger,
                    "heartbeat.catalog_differs",
                    level=logging.WARNING,
                    ours=self._name.catalog,
                    centre=catalog[:32],
                )
