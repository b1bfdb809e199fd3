"""The central worker: takes ticks from queue `central`, does them, and sends what they give."""

import logging
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from types import FrameType
from typing import Any

from celery import Celery
from celery.apps.worker import Worker
from celery.exceptions import SecurityWarning
from celery.worker import state

from aggregator.db import Pool
from aggregator.dispatch import Tick, tick
from aggregator.fleet_file import FleetFile
from aggregator.judge import Judged, judge_due
from aggregator.notify.teller import Teller
from aggregator.tasks import QUEUE, be_quiet, broker_errors
from aggregator.ticks import DISPATCH, JUDGE, NOTIFY, UPKEEP
from aggregator.upkeep import Kept, keep_up
from pacewatch import log
from pacewatch.words.errors import PacewatchError
from pacewatch.words.slot import Slot
from pacewatch.words.wire import TASK_NAME, encode_task, probe_queue

logger = logging.getLogger(__name__)

THREADS = 4
"""So that neither a long upkeep, nor much to judge, nor a slow service keeps a slot waiting."""

TURN_S = 1.0
"""How often the worker's loop looks for a signal to stop and at the broker, seconds."""


def add_tasks(app: Celery, pool: Pool, file: FleetFile) -> None:
    """Register the central tasks."""

    @app.task(name=DISPATCH)  # type: ignore[untyped-decorator]  # celery ships no types
    def dispatch() -> None:
        now = datetime.now(UTC)
        _guarded(DISPATCH, lambda: dispatch_once(app, pool, file, now))

    @app.task(name=UPKEEP)  # type: ignore[untyped-decorator]  # celery ships no types
    def upkeep() -> None:
        now = datetime.now(UTC)
        _guarded(UPKEEP, lambda: keep_up_once(pool, file, now))

    judging = threading.Lock()  # one at a time here, so that many leave threads to the dispatcher

    @app.task(name=JUDGE)  # type: ignore[untyped-decorator]  # celery ships no types
    def judge() -> None:
        now = datetime.now(UTC)
        if judging.acquire(blocking=False):
            try:
                _guarded(JUDGE, lambda: judge_once(pool, file, now))
            finally:
                judging.release()

    teller = Teller(pool, file.environment)

    @app.task(name=NOTIFY)  # type: ignore[untyped-decorator]  # celery ships no types
    def notify() -> None:
        now = datetime.now(UTC)
        _guarded(NOTIFY, lambda: teller.tell(file.current(now).fleet))


def _guarded(task: str, work: Callable[[], object]) -> None:
    """Do a task's work; what goes wrong is one line of the log, and the next tick tries anew."""
    try:
        work()
    except PacewatchError as error:
        log.event(logger, "tick.failed", level=logging.ERROR, task=task, why=str(error))
    except Exception:
        logger.exception("tick.failed", extra={"facts": {"task": task}})


def dispatch_once(app: Celery, pool: Pool, file: FleetFile, now: datetime) -> Tick | None:
    """Do one tick of the dispatcher and hand what it sends to the broker."""
    done = tick(pool, file.current(now), now)
    if done is None:
        return None
    unsent = send(app, [*done.sent, *done.resent])
    if done.sent or done.resent or done.missed:
        log.event(
            logger,
            "dispatch.ticked",
            sent=len(done.sent),
            resent=len(done.resent),
            missed=dict(done.missed),
            unsent=unsent,
        )
    return done


def keep_up_once(pool: Pool, file: FleetFile, now: datetime) -> Kept:
    """Do one upkeep of the store."""
    kept = keep_up(pool, file.current(now).fleet, now)
    if kept.made or kept.dropped or kept.taken_up or kept.rolled_up:
        log.event(
            logger,
            "store.kept_up",
            made=kept.made,
            dropped=kept.dropped,
            refreshed=kept.refreshed,
            taken_up=kept.taken_up,
            rolled_up=kept.rolled_up,
        )
    return kept


def judge_once(pool: Pool, file: FleetFile, now: datetime) -> Judged:
    """Judge what has come in and what is due."""
    judged = judge_due(pool, file.current(now), now)
    if judged.turned:
        log.event(
            logger,
            "judge.turned",
            endpoints=judged.endpoints,
            runs=judged.runs,
            turned=list(judged.turned),
        )
    return judged


def send(app: Celery, slots: Iterable[Slot]) -> int:
    """Send each slot's task to its region; return how many could not be sent.

    Where the broker does not answer, the rest is left to the re-send.
    """
    left = list(slots)
    if not left:
        return 0
    try:
        with app.producer_pool.acquire(block=True, timeout=10) as producer:
            while left:
                slot = left[0]
                app.send_task(
                    TASK_NAME,
                    args=[encode_task(slot)],
                    queue=probe_queue(slot.region),
                    task_id=str(slot.run_id),
                    producer=producer,
                )
                left.pop(0)
    except broker_errors(app) as error:
        log.event(logger, "dispatch.unsent", level=logging.ERROR, slots=len(left), why=str(error))
    return len(left)


class CentralWorker(Worker):
    """A Celery worker that ends after the tick in hand on SIGTERM and SIGINT alike, and says
    nothing to the terminal.
    """

    def register_with_event_loop(self, hub: Any) -> None:
        """Have the loop turn at least once a second, after each connection anew."""
        super().register_with_event_loop(hub)
        self.consumer.task_consumer.channel.listen()
        hub.call_repeatedly(TURN_S, self.turn)

    def turn(self) -> None:
        """Raise where the broker was asked and has been silent, so that it is connected to anew."""
        self.consumer.task_consumer.channel.check()

    def install_platform_tweaks(self, worker: Any) -> None:
        """Install our signal handlers in place of Celery's."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _stop)


def _stop(_number: int, _frame: FrameType | None) -> None:
    state.should_stop = os.EX_OK


def run_central(app: Celery) -> int:
    """Do ticks until SIGTERM or SIGINT; return the exit code."""
    be_quiet()
    warnings.simplefilter("ignore", SecurityWarning)  # as root it warns of pickle, which is refused
    worker = CentralWorker(
        app=app,
        hostname=f"central-{os.getpid()}@pacewatch",
        queues=[QUEUE],
        pool="threads",
        concurrency=THREADS,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        quiet=True,
    )
    log.event(logger, "central.ready", worker=worker.hostname)
    worker.start()
    return int(worker.exitcode or 0)
