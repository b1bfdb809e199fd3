"""The process of a probe worker: sets its parts up, runs them, and ends them in order."""

import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

import httpx2

from pacewatch import __version__
from pacewatch.log import event, set_up
from pacewatch.words.errors import SettingsError
from pacewatch.words.fleet import Fleet, catalog_hash
from pacewatch.words.timing import WorkerName
from pacewatch.words.wire import Task
from probe.budget import Budget, caps_of, provider_caps
from probe.calibrating import Calibrating
from probe.carry import Bench, carry, recover
from probe.centre import open_client
from probe.clock import Clock, Wall, wall_now
from probe.disk import Disk
from probe.hand import Hand
from probe.headroom import Headroom
from probe.heartbeat import Heartbeat
from probe.journal import Journal
from probe.keys import key_of
from probe.memory import give_back
from probe.outbox import Outbox
from probe.push import Pusher
from probe.reading import Reading
from probe.room import room_folder
from probe.settings import Settings
from probe.sign import load_for
from probe.tasks import RegionApp, ask_to_stop, close_app, make_app, make_controller

logger = logging.getLogger(__name__)

GRACE_S = 20.0
"""How long runs may go on after the worker was asked to end, seconds; what is not finished then is
reported as `internal` at the next start.
"""

STUCK_S = 120.0
"""A loop that has not turned for this long is given up, and with it the process, seconds."""

_WATCH_S = 5.0
_FAULT = 70
"""Exit code of a process that gave itself up; its supervisor starts it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A worker whose parts are set up."""

    bench: Bench
    heartbeat: Heartbeat
    pusher: Pusher
    calibrating: Calibrating
    app: RegionApp


def serve(
    environment: Mapping[str, str], settings: Settings, fleet: Fleet, *, wall: Wall = wall_now
) -> int:
    """Run the worker until it is told to end; return the process's exit code.

    Takes the process over: its log, its signals, its faults in threads. Raises SettingsError for a
    region that the fleet does not have, StoreError where another worker holds the folder.
    """
    if settings.region not in fleet.regions:
        known = ", ".join(sorted(fleet.regions))
        raise SettingsError(
            f'PACEWATCH_REGION: "{settings.region}" is no region of this fleet (known: {known}; '
            "pacewatch.toml here, or the file PACEWATCH_CONFIG names, has its regions)"
        )
    give_back()
    set_up(f"worker.{settings.region}")
    logging.getLogger("celery").setLevel(logging.WARNING)
    threading.excepthook = _give_up
    ca_file = fleet.regions[settings.region].ca_file
    with (
        Disk(settings.folder, simulated=fleet.simulated) as disk,
        open_client(settings, ca_file) as client,
    ):
        worker = set_up_worker(environment, settings, fleet, disk, client, wall)
        with _signals(worker.bench.stop):
            return _run(worker)


def set_up_worker(  # noqa: PLR0913 - what a worker is made of
    environment: Mapping[str, str],
    settings: Settings,
    fleet: Fleet,
    disk: Disk,
    client: httpx2.Client,
    wall: Wall,
) -> Worker:
    """Return the worker with its parts joined; what its last life left unfinished is in the
    outbox.
    """
    region = fleet.regions[settings.region]
    clock, hand = Clock(disk, wall), Hand()
    journal, outbox = Journal(disk), Outbox(disk)
    budget = Budget(disk, caps=caps_of(fleet), providers=provider_caps(fleet))
    headroom = Headroom(disk)
    name = WorkerName(
        id=disk.worker_id(socket.gethostname()), version=__version__, catalog=catalog_hash(fleet)
    )
    pusher = Pusher(outbox, client, clock)
    reading = Reading()
    locks = room_folder(settings.folder, simulated=fleet.simulated)
    calibrating = Calibrating(
        reading=reading,
        folder=settings.folder,
        locks=locks,
        simulated=fleet.simulated,
        wall=wall,
    )
    heartbeat = Heartbeat(
        name=name,
        region=region.name,
        every_s=fleet.schedule.heartbeat_s,
        client=client,
        clock=clock,
        hand=hand,
        journal=journal,
        outbox=outbox,
        budget=budget,
        headroom=headroom,
        calibration=calibrating.told,
        suspected=calibrating.ask,
    )
    bench = Bench(
        fleet=fleet,
        region=region,
        name=name,
        environment=environment,
        disk=disk,
        journal=journal,
        outbox=outbox,
        budget=budget,
        headroom=headroom,
        hand=hand,
        clock=clock,
        room=locks,
        is_paused=lambda: heartbeat.is_paused,
        doubt=lambda: calibrating.doubt,
        kept=pusher.wake,
        reading=reading,
        stop=threading.Event(),
    )
    recover(bench)
    if not fleet.simulated:
        for endpoint in fleet.endpoints:
            load_for(endpoint, key_of(endpoint, environment))
    app = make_app(settings, ca_file=region.ca_file)
    app.receive = lambda task: hand.receive(task.run_id)
    close_app(app, lambda task: _carry(bench, task))
    return Worker(bench=bench, heartbeat=heartbeat, pusher=pusher, calibrating=calibrating, app=app)


def _carry(bench: Bench, task: Task) -> bool:
    try:
        return carry(bench, task)
    finally:
        bench.hand.let_go(task.run_id)


def _run(worker: Worker) -> int:
    threads = [
        threading.Thread(target=worker.pusher.run, name="push"),
        threading.Thread(target=worker.heartbeat.run, name="heartbeat"),
        threading.Thread(target=worker.calibrating.run, name="calibration"),
    ]
    for thread in threads:
        thread.start()
    stop, code = worker.bench.stop, 0
    while worker.bench.clock.offset_s is None and not stop.is_set():
        worker.heartbeat.answered.wait(0.2)  # until the centre's time is known no task is taken
    if not stop.is_set():
        event(logger, "worker.ready", worker=worker.bench.name.id, room=str(worker.bench.room))
        threading.Thread(target=_watch, args=(worker.app, stop), daemon=True).start()
        controller = make_controller(worker.app, worker.bench.name.id)
        controller.start()
        code = controller.exitcode or 0
    stop.set()
    worker.pusher.stop()
    worker.heartbeat.stop()
    worker.calibrating.stop()
    for thread in threads:
        thread.join()
    worker.bench.reading.close()
    event(logger, "worker.ended", outbox_runs=worker.bench.outbox.runs())
    return int(code)


@contextmanager
def _signals(stop: threading.Event) -> Iterator[None]:
    """End the worker at SIGTERM or SIGINT, within GRACE_S; a second signal ends it at once."""

    def end(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            os._exit(1)
        stop.set()
        ask_to_stop()
        timer = threading.Timer(GRACE_S, _end_of_grace)
        timer.daemon = True
        timer.start()

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_of_grace() -> None:
    event(logger, "worker.cut_short", level=logging.WARNING, grace_s=GRACE_S)
    os._exit(0)


def _watch(app: RegionApp, stop: threading.Event) -> None:
    """End the process where its loop hangs: a live process that takes no task helps nobody."""
    while not stop.wait(_WATCH_S):
        if not app.is_connecting and time.monotonic() - app.ticked_at > STUCK_S:
            event(logger, "worker.stuck", level=logging.CRITICAL, stuck_s=STUCK_S)
            os._exit(_FAULT)


def _give_up(fault: threading.ExceptHookArgs) -> None:
    """End the process where a thread of it ended: half a worker is worse than none."""
    trace = (fault.exc_type, fault.exc_value, fault.exc_traceback)
    logger.critical("worker.fault", exc_info=trace if fault.exc_value else None)  # type: ignore[arg-type]
    os._exit(_FAULT)
