"""The region's Celery app and its only task, closed: whoever controls the broker can ask for known
probes and nothing else.

Celery's own way of taking a message trusts the broker: a message may name callbacks, a chain, a
time to run at, a compressed body, and a line in the queue that is not JSON ends the worker. Here
a message is read by `probe.message` before Celery sees it, and a request is made anew from the one
argument that was understood. What is refused is one sentence in the log.
"""

import logging
import ssl
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from celery import Celery
from celery.worker import state
from celery.worker.consumer import Consumer
from celery.worker.request import Request
from kombu import Exchange, Queue
from kombu.exceptions import OperationalError as BrokerError
from kombu.transport import redis as kombu_redis

from pacewatch.log import event
from pacewatch.queue import ClosedChannel
from pacewatch.words.errors import WireError
from pacewatch.words.wire import TASK_NAME, Task, decode_task, probe_queue
from probe.centre import Voice
from probe.message import read_message
from probe.settings import Settings

logger = logging.getLogger(__name__)

STREAMS = 8
"""Tasks that are carried out at once: threads of the pool."""

ANSWER_S = 15.0
"""A broker that leaves a command without an answer for this long is given up, seconds."""

LONGEST_RETRY_S = 5.0
"""Pause between two tries to reach the broker, once it has grown, seconds."""

TICK_S = 1.0
"""How often the worker's loop looks at itself, seconds."""


class TaskChannel(ClosedChannel):
    """A region's queue; what was taken and not begun is given back by name, or sent again."""

    def refuse(self, reason: str) -> None:
        """Log it."""
        refuse(reason)


class ClosedTransport(kombu_redis.Transport):
    """Delivers messages that hold a task that can be read, and no others."""

    Channel = TaskChannel

    def _deliver(self, message: object, queue: str) -> None:
        try:
            read_message(message)
        except WireError as error:
            refuse(str(error))
        else:
            super()._deliver(message, queue)


class ClosedConsumer(Consumer):
    """Makes requests of messages without taking anything from them but the task."""

    def create_task_handler(self, *_: Any) -> Callable[[Any], None]:
        """Return what takes a message that the transport has let through."""
        return self.take

    def take(self, message: Any) -> None:
        """Hand the message's task to the pool; it is acknowledged when a thread begins with it."""
        raw = message.payload[0][0]
        task = decode_task(raw)
        request = Request(
            message,
            on_ack=message.ack_log_error,
            hostname=self.hostname,
            app=self.app,
            task=self.app.tasks[TASK_NAME],
            headers={"id": str(task.run_id), "task": TASK_NAME},
            body=((raw,), {}, {}),
            decoded=True,
            connection_errors=self.connection_errors,
        )
        self.app.receive(task)
        state.task_reserved(request)
        self.on_task_request(request)

    def on_decode_error(self, message: Any, exc: Exception) -> None:
        """Refuse what Celery itself could not read."""
        refuse(f"the message cannot be read ({type(exc).__name__})")
        message.ack()

    def ensure_connected(self, conn: Any) -> Any:
        """Connect, trying for ever; meanwhile the loop is known not to turn."""
        self.app.is_connecting = True
        try:
            connected = conn.ensure_connection(
                self.on_connection_refused,
                interval_start=0.5,
                interval_step=0.5,
                interval_max=LONGEST_RETRY_S,
                callback=state.maybe_shutdown,
            )
        finally:
            self.app.ticked_at = time.monotonic()
            self.app.is_connecting = False
        self.app.voice.fine()
        return connected

    def on_connection_refused(self, exc: Exception, interval_s: float) -> None:
        """Say once that the broker cannot be reached."""
        self.app.voice.trouble(f"the broker cannot be reached: {str(exc)[:200]}")

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Say that the broker is lost; the caller connects anew."""
        self.app.voice.trouble(f"the broker was lost: {str(exc)[:200]}")
        self.connection.collect()

    def register_with_event_loop(self, hub: Any) -> None:
        """Have the loop look at itself regularly, after each connection anew."""
        super().register_with_event_loop(hub)
        self.task_consumer.channel.listen()
        hub.call_repeatedly(TICK_S, self.tick)

    def tick(self) -> None:
        """Note that the loop turns; raise where the broker was asked and has been silent."""
        self.app.ticked_at = time.monotonic()
        if self.task_consumer is not None:
            self.task_consumer.channel.check()


class RegionApp(Celery):
    """The region's app: reads through the closed transport, and knows whom to tell of tasks."""

    def __init__(self, *words: Any, **named: Any) -> None:
        """Make an app that tells nobody yet."""
        super().__init__(*words, **named)
        self.receive: Callable[[Task], None] = _ignore
        self.voice = Voice(logger, "broker")
        self.is_connecting = True
        self.ticked_at = time.monotonic()

    def connection_for_read(self, url: str | None = None, **named: Any) -> Any:
        """Return a connection to the broker that lets nothing in but tasks."""
        connection = super().connection_for_read(url, **named)
        connection.transport_cls = ClosedTransport
        return connection

    def give_back(self, raw: object) -> None:
        """Put a task back into the region's queue that this worker will not begin.

        Where the broker does not answer it is lost here, and the centre sends it again.
        """
        try:
            with self.connection_for_write() as connection:
                self.send_task(TASK_NAME, args=[raw], connection=connection, retry=False)
        except BrokerError as error:
            event(logger, "task.lost", level=logging.WARNING, reason=str(error)[:200])


def make_app(settings: Settings, *, ca_file: str | None = None) -> RegionApp:
    """Return the region's Celery app, without its task; nothing is connected."""
    app = RegionApp("pacewatch.probe", set_as_current=False, fixups=(), autofinalize=False)
    queue = probe_queue(settings.region)
    app.conf.update(
        broker_url=settings.broker_url,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            "ack_emulation": False,  # what a worker took and lost is sent again by the centre
            "priority_steps": [0],
            "socket_keepalive": True,
            "socket_connect_timeout": ANSWER_S,
            "socket_timeout": ANSWER_S,
        },
        broker_use_ssl=_tls(settings.broker_url, ca_file),
        task_serializer="json",
        accept_content=["json"],
        task_queues=[Queue(queue, Exchange(queue, type="direct"), routing_key=queue)],
        task_default_queue=queue,
        task_create_missing_queues=False,
        task_acks_late=False,
        task_ignore_result=True,
        result_backend=None,
        worker_prefetch_multiplier=1,
        worker_concurrency=STREAMS,
        worker_pool="threads",
        worker_consumer=ClosedConsumer,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_enable_prefetch_count_reduction=False,
        worker_cancel_long_running_tasks_on_connection_loss=True,  # none is acknowledged late
        worker_detect_quorum_queues=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        enable_utc=True,
        timezone="UTC",
    )
    return app


def close_app(app: RegionApp, carry: Callable[[Task], bool]) -> None:
    """Give the app its one task, which `carry` does in a thread of the pool, and take every other
    task from it.

    `carry` returns False where the worker ends and the task has not begun: it is given back.
    """

    def probe(raw: object) -> None:
        try:
            if not carry(decode_task(raw)):
                app.give_back(raw)
        except Exception:
            logger.exception("run.fault")

    app.task(name=TASK_NAME, ignore_result=True, shared=False)(probe)
    app.finalize()
    for name in [name for name in app.tasks if name != TASK_NAME]:
        app.tasks.unregister(name)


def make_controller(app: RegionApp, host: str) -> Any:
    """Return Celery's worker, without gossip, mingle and heartbeats; `start` runs it."""
    app.set_default()  # the pool's threads look their task up in the process's default app
    return app.WorkController(
        hostname=f"pacewatch@{host}",
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )


def ask_to_stop() -> None:
    """Let the worker's loop end at its next turn: nothing more is taken, what runs is finished."""
    state.should_stop = 0


def refuse(reason: str) -> None:
    """Log that something in the queue was refused."""
    event(logger, "task.refused", level=logging.WARNING, reason=reason)


def _tls(broker_url: str, ca_file: str | None) -> dict[str, Any] | None:
    if urlsplit(broker_url).scheme != "rediss":
        return None
    trusted = {} if ca_file is None else {"ssl_ca_certs": ca_file}
    return {"ssl_cert_reqs": ssl.CERT_REQUIRED, "ssl_check_hostname": True} | trusted


def _ignore(task: Task) -> None:
    """Tell nobody of a task."""
