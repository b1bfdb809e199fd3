"""Carries one task out: declines it in a record, or makes the run and keeps it.

The order is what makes nothing lost and nothing done twice: the room of the host, then one commit
that writes the run into the journal and sets its cost aside, then the run, then one commit that
keeps its record, closes its journal row, settles its cost and notes what is left of rate limits.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import UUID, uuid4

from pacewatch.log import event
from pacewatch.words.endpoint import Auth, Endpoint, endpoint_hash, why_not_probed
from pacewatch.words.errors import BudgetSpent, StoreError
from pacewatch.words.flag import Flag
from pacewatch.words.fleet import Fleet, Region
from pacewatch.words.outcome import Decline
from pacewatch.words.slot import Workload
from pacewatch.words.spending import demand_of
from pacewatch.words.timing import Run, WorkerName
from pacewatch.words.wire import Task
from probe.budget import Budget
from probe.clock import Clock
from probe.cost import spent_on
from probe.disk import Disk
from probe.hand import Hand
from probe.headroom import Account, Headroom
from probe.journal import Journal, unpack
from probe.keys import Key, key_name, key_of
from probe.outbox import Outbox
from probe.reading import Reading
from probe.room import room

logger = logging.getLogger(__name__)

ROOM_PAUSE_S = 0.1
"""How often a waiting run looks whether its host has room, seconds."""

DISK_PAUSE_S = 5.0
"""How often a finished run is tried to be kept on a disk that fails, seconds."""

UNKNOWN_HASH = "0" * 16
"""The endpoint hash of a declined run whose endpoint or workload is not known here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """All that carrying a task out needs, set up when the worker starts."""

    fleet: Fleet
    region: Region
    name: WorkerName
    environment: Mapping[str, str] = field(repr=False)
    """Where keys are looked for."""
    disk: Disk
    journal: Journal
    outbox: Outbox
    budget: Budget
    headroom: Headroom
    hand: Hand
    clock: Clock
    room: Path
    """Folder of the host's locks."""
    is_paused: Callable[[], bool]
    """Tells whether the centre lets this region rest."""
    doubt: Callable[[], Flag | None]
    """Tells what this worker's own timings are flagged with; None: they are exact."""
    kept: Callable[[], None]
    """Called when a run was kept."""
    reading: Reading
    """The process that empties the sockets of all runs."""
    stop: threading.Event
    """Set when the worker ends: what has not started does not start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A task that may be run, looked up in this worker's own catalog."""

    task: Task
    endpoint: Endpoint
    workload: Workload
    key: Key | None
    account: Account
    """Whose rate limits it eats of."""
    requests: int


def carry(bench: Bench, task: Task) -> bool:
    """Carry the task out, once; return False where the worker ends and it has not begun.

    Raises StoreError where the disk or the host's locks fail.
    """
    with bench.hand.alone(task.run_id) as alone:
        if not alone or bench.journal.knows(task.run_id):
            event(logger, "run.known", run=task.run_id)
            return True
        if bench.stop.is_set():
            return False
        job = prepare(bench, task)
        if isinstance(job, Job):
            return _in_the_room(bench, job)
        decline(bench, task, job)
        return True


def _in_the_room(bench: Bench, job: Job) -> bool:
    with room(bench.room, job.task.load, _waiting(bench, job.task)) as is_free:
        if bench.stop.is_set():
            return False
        if not is_free or bench.clock.centre_now() > job.task.valid_until:
            decline(bench, job.task, Decline.LATE)
        else:
            _run(bench, job)
        return True


def prepare(bench: Bench, task: Task) -> Job | Decline:
    """Return the job that the task asks for, or why it is not done."""
    if bench.clock.centre_now() > task.valid_until:
        return Decline.LATE
    if bench.is_paused():
        return Decline.PAUSED
    endpoint = bench.fleet.catalog.get(task.endpoint)
    if endpoint is None:
        return Decline.UNKNOWN_ENDPOINT
    workload = bench.fleet.workloads.get(task.workload)
    if workload is None or why_not_probed(endpoint):
        return Decline.CATALOG
    key = None
    if not bench.fleet.simulated and endpoint.auth is not Auth.NONE:
        key = key_of(endpoint, bench.environment)
        if key is None:
            return Decline.NO_KEY
    return Job(
        task=task,
        endpoint=endpoint,
        workload=workload,
        key=key,
        account=Account(
            provider=endpoint.provider,
            key_name="" if key is None else key_name(endpoint, bench.environment) or "",
        ),
        requests=bench.fleet.schedule.requests(task.load),
    )


def decline(bench: Bench, task: Task, why: Decline) -> None:
    """Keep a record that the run was not made, and why; a full disk is told by the heartbeat."""
    event(logger, "run.declined", run=task.run_id, endpoint=task.endpoint, reason=str(why))
    try:
        if why is not Decline.OUTBOX_FULL:
            bench.outbox.keep(replace(planned_run(bench, task), declined=why))
            bench.kept()
            return
    except StoreError as error:
        event(logger, "run.disk_failed", run=task.run_id, reason=str(error))
    bench.hand.note_full(task.run_id)


def recover(bench: Bench) -> int:
    """Keep what was started and not finished when this worker ended last, as all-`internal`; return
    how many runs.
    """
    lost = bench.journal.unfinished()
    for run_id, execution, record in lost:
        _keep_lost(bench, run_id, execution, record)
    return len(lost)


def _run(bench: Bench, job: Job) -> None:
    planned = planned_run(bench, job.task)
    why = _start(bench, job, planned)
    if why is not None:
        decline(bench, job.task, why)
        return
    finished = False
    try:
        from probe.flags import flagged  # the heavy half: loaded when it is first needed
        from probe.run import make_run

        with bench.hand.streams(job.requests) as beside:
            run = asyncio.run(
                make_run(
                    task=job.task,
                    endpoint=job.endpoint,
                    workload=job.workload,
                    region=bench.region,
                    key=job.key,
                    requests=job.requests,
                    simulated=bench.fleet.simulated,
                    worker=bench.name,
                    execution=planned.execution,
                    beside=beside,
                    reading=bench.reading,
                    wall=bench.clock.wall,
                )
            )
        if doubt := bench.doubt():
            run = flagged(run, doubt)
        _keep(bench, job, run)
        finished = True
    finally:
        if not finished:
            report_lost(bench, job.task.run_id)
    _tell(run)


def _start(bench: Bench, job: Job, planned: Run) -> Decline | None:
    """Write the run down as started; return why it may not be."""
    asked = demand_of(job.endpoint, job.workload, job.requests)
    now = bench.clock.centre_now()
    try:
        if bench.outbox.is_full():
            return Decline.OUTBOX_FULL
        if bench.headroom.is_short(job.account, now):
            return Decline.HEADROOM
        with bench.disk.write():
            bench.budget.set_aside(planned.execution, job.endpoint.provider, asked, now)
            bench.journal.start(planned, job.requests)
    except BudgetSpent as error:
        event(logger, "run.budget_spent", run=planned.run_id, reason=str(error))
        return Decline.BUDGET
    except StoreError as error:
        event(logger, "run.disk_failed", run=planned.run_id, reason=str(error))
        return Decline.OUTBOX_FULL
    return None


def _keep(bench: Bench, job: Job, run: Run) -> None:
    """Keep the finished run; a disk that fails is tried again until the worker ends."""
    came_to, ended_at = spent_on(run, job.workload), bench.clock.centre_now()
    while True:
        try:
            with bench.disk.write():
                bench.outbox.keep(run)
                bench.journal.finish(run.run_id)
                bench.budget.settle(run.execution, came_to)
                bench.headroom.note(job.account, job.endpoint.provider_model, run.timings, ended_at)
        except StoreError as error:
            event(logger, "run.not_kept", run=run.run_id, reason=str(error))
            if bench.stop.wait(DISK_PAUSE_S):
                raise
        else:
            bench.kept()
            return


def report_lost(bench: Bench, run_id: UUID) -> None:
    """Keep one run that was started and will not be finished, as all-`internal`."""
    for lost_id, execution, record in bench.journal.unfinished():
        if lost_id == run_id:
            _keep_lost(bench, lost_id, execution, record)


def _keep_lost(bench: Bench, run_id: UUID, execution: UUID, packed: bytes) -> None:
    with bench.disk.write():
        bench.outbox.keep_packed(run_id, execution, packed, len(unpack(packed)))
        bench.journal.finish(run_id)
    event(logger, "run.lost", level=logging.WARNING, run=run_id, execution=execution)
    bench.kept()


def _waiting(bench: Bench, task: Task) -> Callable[[], bool]:
    def wait() -> bool:
        stopping = bench.stop.wait(ROOM_PAUSE_S)
        return not stopping and bench.clock.centre_now() <= task.valid_until

    return wait


def planned_run(bench: Bench, task: Task) -> Run:
    """Return the run as far as it is known before its first byte goes out, a new execution."""
    endpoint = bench.fleet.catalog.get(task.endpoint)
    workload = bench.fleet.workloads.get(task.workload)
    return Run(
        run_id=task.run_id,
        execution=uuid4(),
        region=bench.region.name,
        worker=bench.name,
        endpoint=task.endpoint,
        endpoint_hash=(
            endpoint_hash(endpoint, workload) if endpoint and workload else UNKNOWN_HASH
        ),
        workload=task.workload,
        load=task.load,
        simulated=bench.fleet.simulated,
        started_at=bench.clock.wall(),
    )


def _tell(run: Run) -> None:
    outcomes = sorted({str(timing.outcome) for timing in run.timings})
    event(
        logger,
        "run.kept",
        run=run.run_id,
        endpoint=run.endpoint,
        load=str(run.load),
        outcomes=outcomes,
        beside=run.beside,
    )
