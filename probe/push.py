"""Empties the outbox into the aggregator: batch after batch, waiting longer each time it fails.

A run leaves the outbox only on the aggregator's word about that run. An answer without such a word
(429, 5xx, a broken connection, a refused token) costs nothing but time; an answer that the batch
is too large or cannot be read halves it, until a single run is so answered: that one is refused.
"""

import gzip
import json
import logging
import random
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import Any

import httpx2

from pacewatch.log import event
from pacewatch.words.errors import PacewatchError, StoreError
from probe.centre import SLOW_RETRY_S, Voice, why_refused
from probe.clock import Clock
from probe.outbox import Kept, Outbox, body_of

logger = logging.getLogger(__name__)

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
LONGEST_RETRY_AFTER_S = 3_600.0
GATHER_S = 0.1
"""After a run was kept this long is waited for others to go with it, seconds."""

_IDLE_S = 60.0
_TAKEN = frozenset({"stored", "held", "duplicate", "aside"})
_COMPRESSION = 5


class Answer(Enum):
    """What an HTTP status says about a whole batch."""

    TOLD = auto()
    """The body tells of each run."""
    HALVE = auto()
    WAIT = auto()
    DENIED = auto()
    """The token is refused: waiting alone does not mend it."""


class NotNow(PacewatchError):  # noqa: N818 - a state of affairs, not a mistake
    """The aggregator took nothing; the runs stay, and are pushed again later."""

    def __init__(self, sentence: str, at_least_s: float = 0.0) -> None:
        """Keep the reason, and the shortest pause before the next try in seconds."""
        super().__init__(sentence)
        self.at_least_s = at_least_s


def answer_of(status: int) -> Answer:
    """Return what the status says about the batch."""
    if status == httpx2.codes.OK:
        return Answer.TOLD
    if status in {
        httpx2.codes.CONTENT_TOO_LARGE,
        httpx2.codes.UNPROCESSABLE_CONTENT,
    }:
        return Answer.HALVE
    if status in {httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN}:
        return Answer.DENIED
    return Answer.WAIT


def pause_s(failures: int, at_least_s: float, chance: float) -> float:
    """Return how long to wait after that many failures in a row, seconds.

    It doubles from FIRST_PAUSE_S to LONGEST_PAUSE_S, is shortened by up to a half by `chance` in
    0..1, so that a fleet does not come back all at once, and is never under `at_least_s`.
    """
    grown = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(failures - 1, 20))
    return max(at_least_s, grown * (1.0 - chance / 2.0))


def retry_after_s(told: str | None, now: datetime) -> float:
    """Return the seconds that a Retry-After header asks for, at most LONGEST_RETRY_AFTER_S; 0 for
    none.
    """
    if told is None:
        return 0.0
    try:
        wanted = float(told)
    except ValueError:
        try:
            wanted = (parsedate_to_datetime(told) - now).total_seconds()
        except (ValueError, TypeError):
            return 0.0
    return min(max(wanted, 0.0), LONGEST_RETRY_AFTER_S) if wanted == wanted else 0.0


def read_results(answer: object) -> dict[str, tuple[str, str]]:
    """Return status and reason by execution, as the aggregator told them."""
    results = answer.get("results") if isinstance(answer, dict) else None
    return {
        str(result["execution"]): (str(result["status"]), str(result.get("reason") or "")[:500])
        for result in (results if isinstance(results, list) else [])
        if isinstance(result, Mapping) and {"execution", "status"} <= result.keys()
    }


class Pusher:
    """The thread that empties the outbox."""

    def __init__(self, outbox: Outbox, client: httpx2.Client, clock: Clock) -> None:
        """Push from that outbox through that client."""
        self._outbox = outbox
        self._client = client
        self._clock = clock
        self._voice = Voice(logger, "push")
        self._wake = threading.Event()
        self._stop = threading.Event()

    def wake(self) -> None:
        """Say that a run was kept."""
        self._wake.set()

    def stop(self) -> None:
        """Say that the worker ends: what waits is tried once more, then `run` returns."""
        self._stop.set()
        self._wake.set()

    def run(self) -> None:
        """Push until `stop`."""
        failures = 0
        while True:
            last = self._stop.is_set()
            try:
                emptied = self.push_once()
                failures = 0
            except (NotNow, StoreError) as error:
                failures += 1
                emptied = True
                self._voice.trouble(str(error))
                at_least_s = error.at_least_s if isinstance(error, NotNow) else 0.0
                self._stop.wait(pause_s(failures, at_least_s, random.random()))  # noqa: S311 - jitter
            if last and emptied:
                return
            if emptied and not failures:
                self._wake.wait(_IDLE_S)
                self._wake.clear()
                self._stop.wait(GATHER_S)

    def push_once(self) -> bool:
        """Push one batch; return whether there was none left to push.

        Raises NotNow where the aggregator took nothing, StoreError where the disk failed.
        """
        batch = self._outbox.batch()
        if batch:
            self._push(batch)
            self._voice.fine()
        return not batch

    def _push(self, batch: Sequence[Kept]) -> None:
        answered = self._post(batch)
        what = answer_of(answered.status_code)
        if what is Answer.TOLD:
            self._settle(batch, _json(answered))
        elif what is Answer.HALVE and len(batch) > 1:
            middle = len(batch) // 2
            self._push(batch[:middle])
            self._push(batch[middle:])
        elif what is Answer.HALVE:
            self._refuse(batch[0], _detail(answered))
        else:
            slow_s = SLOW_RETRY_S if what is Answer.DENIED else 0.0
            asked_s = retry_after_s(answered.headers.get("retry-after"), self._clock.centre_now())
            raise NotNow(why_refused(answered.status_code), max(slow_s, asked_s))

    def _post(self, batch: Sequence[Kept]) -> httpx2.Response:
        packed = gzip.compress(body_of(batch), _COMPRESSION)
        headers = {"content-type": "application/json", "content-encoding": "gzip"}
        try:
            return self._client.post("/v1/runs", content=packed, headers=headers)
        except httpx2.HTTPError as error:
            said = str(error) or type(error).__name__
            raise NotNow(f"the aggregator cannot be reached: {said}") from error

    def _settle(self, batch: Sequence[Kept], answer: object) -> None:
        results = read_results(answer)
        told = [(kept, results.get(str(kept.execution), ("", ""))) for kept in batch]
        taken = [kept for kept, (status, _) in told if status in _TAKEN]
        refused = [(kept, reason) for kept, (status, reason) in told if status == "refused"]
        self._outbox.drop(taken)
        for kept, reason in refused:
            self._refuse(kept, reason)
        if not taken and not refused:
            raise NotNow("the aggregator's answer tells of none of the runs that were pushed")
        event(logger, "push.taken", runs=len(taken), refused=len(refused))

    def _refuse(self, kept: Kept, reason: str) -> None:
        self._outbox.refuse(kept, reason, self._clock.centre_now())
        event(logger, "push.refused", level=logging.WARNING, run=kept.run_id, reason=reason)


def _json(answered: httpx2.Response) -> object:
    try:
        return answered.json()
    except (ValueError, RecursionError) as error:
        raise NotNow("the aggregator's answer is not JSON") from error


def _detail(answered: httpx2.Response) -> str:
    try:
        told: Any = json.loads(answered.content)
    except (ValueError, RecursionError):
        told = None
    detail = told.get("detail") if isinstance(told, dict) else None
    return f"answered {answered.status_code}" + (f": {str(detail)[:400]}" if detail else "")
