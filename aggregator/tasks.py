"""The central Celery app, and beat, which sends it its ticks.

The app is closed like the workers': JSON only, no results, no remote control, no events, no task
but its own, and of a message only the tick's name is taken. Ticks are never lost work: each does
whatever is to be done by then, so beat adds none where some are waiting already, and one that comes
too soon after another returns at once.
"""

import logging
import os
import signal
import ssl
from datetime import UTC, datetime
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

from celery import Celery
from celery.beat import ScheduleEntry, Scheduler, Service
from celery.signals import setup_logging
from kombu import Queue
from kombu.exceptions import OperationalError

from aggregator.ticks import DISPATCH, JUDGE, NOTIFY, UPKEEP, ClosedTransport
from pacewatch import log
from pacewatch.words.fleet import Schedule

logger = logging.getLogger(__name__)

QUEUE = "central"

MOST_WAITING = 6
"""Ticks that may wait in the queue; beat adds none to more."""

_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
_PUBLISH_RETRY = {"max_retries": 2, "interval_start": 0.2, "interval_step": 0.4, "interval_max": 1}
_CHATTY = ("celery.worker.strategy", "celery.app.trace", "celery.beat", "celery.apps.worker")


class CentralApp(Celery):
    """The app, which reads through the closed transport."""

    def connection_for_read(self, url: str | None = None, **named: Any) -> Any:
        """Return a connection to the broker that lets nothing in but ticks."""
        connection = super().connection_for_read(url, **named)
        connection.transport_cls = ClosedTransport
        return connection


def make_app(broker_url: str) -> CentralApp:
    """Return the closed app: it can send, and knows no task yet; nothing is connected."""
    app = CentralApp("pacewatch.central", set_as_current=False, fixups=())
    app.conf.update(
        broker_url=broker_url,
        broker_use_ssl=_tls(broker_url),
        accept_content=["json"],
        task_serializer="json",
        result_serializer="json",
        event_serializer="json",
        result_backend=None,
        task_ignore_result=True,
        task_default_queue=QUEUE,
        task_queues=[Queue(QUEUE)],
        task_publish_retry_policy=_PUBLISH_RETRY,
        task_send_sent_event=False,
        worker_send_task_events=False,
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_prefetch_multiplier=1,
        worker_cancel_long_running_tasks_on_connection_loss=True,  # none is acknowledged late
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_connection_timeout=5,
        broker_transport_options={
            "ack_emulation": False,  # the broker keeps nothing that a later tick would not do
            "priority_steps": [0],
            "socket_connect_timeout": 5,
            "socket_keepalive": True,
            "socket_timeout": 30,
        },
        enable_utc=True,
        timezone="UTC",
    )
    app.finalize()
    for name in list(app.tasks):
        app.tasks.unregister(name)
    return app


def _tls(broker_url: str) -> dict[str, Any] | None:
    if urlsplit(broker_url).scheme != "rediss":
        return None
    return {"ssl_cert_reqs": ssl.CERT_REQUIRED, "ssl_check_hostname": True}


def broker_errors(app: Celery) -> tuple[type[Exception], ...]:
    """Return what is raised where the broker does not answer."""
    connection = app.connection_for_write()
    return (OperationalError, *connection.connection_errors, *connection.channel_errors)


def beat_entries(schedule: Schedule) -> dict[str, dict[str, Any]]:
    """Return what beat sends, and how often; the first of each at once."""
    often = dict.fromkeys((DISPATCH, JUDGE, NOTIFY), schedule.tick_s)
    every_s = {**often, UPKEEP: schedule.upkeep_s}
    return {
        tick: {"task": tick, "schedule": s, "last_run_at": _LONG_AGO} for tick, s in every_s.items()
    }


class BoundedScheduler(Scheduler):
    """Beat's schedule in memory; it sends nothing while ticks wait, and outlives the broker."""

    producer = None
    """Each send takes a connection of the pool, which is made anew where the broker is."""

    def apply_entry(self, entry: ScheduleEntry, producer: None = None) -> None:
        """Send one tick, unless enough are waiting; a broker that is away costs this tick only."""
        try:
            with self.app.producer_pool.acquire(block=True, timeout=10) as pooled:
                if count_waiting(self.app, pooled) < MOST_WAITING:
                    self.app.send_task(entry.task, producer=pooled)
        except broker_errors(self.app) as error:
            log.event(logger, "beat.unsent", level=logging.WARNING, task=entry.task, why=str(error))


def count_waiting(app: Celery, producer: Any) -> int:
    """Return how many ticks wait in the queue."""
    return int(app.amqp.queues[QUEUE].bind(producer.channel).queue_declare().message_count)


def run_beat(app: Celery, schedule: Schedule) -> int:
    """Send ticks until SIGTERM or SIGINT; return the exit code."""
    be_quiet()
    app.conf.beat_schedule = beat_entries(schedule)
    service = Service(app, max_interval=60, scheduler_cls=BoundedScheduler)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    log.event(logger, "beat.ready", tick_s=schedule.tick_s)
    service.start()
    return os.EX_OK


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(os.EX_OK)


def be_quiet() -> None:
    """Keep Celery from setting up a log of its own, and from a line a tick."""
    setup_logging.connect(_keep_our_log, weak=False)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)


def _keep_our_log(**_: object) -> None:
    """Stand where Celery asks who sets up logging."""
