"""Requests of the real probe in a process of their own, whose memory is watched meanwhile."""

import asyncio
import json
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psutil

from pacewatch.words.endpoint import Endpoint
from pacewatch.words.fleet import Region
from pacewatch.words.slot import Load, Purpose, Workload
from pacewatch.words.timing import WorkerName
from pacewatch.words.wire import Task

EVERY_S = 0.03
"""How often the memory is looked at, seconds."""
TOGETHER = 8
"""Jobs that run side by side, each in a thread of its own, as a worker's do."""

_CHILD = (
    "import sys; sys.path[:0] = {paths!r}; from support.probed import run_jobs; run_jobs(sys.stdin)"
)


@dataclass(frozen=True, kw_only=True)
class Job:
    """One run of the probe."""

    name: str
    endpoint: Endpoint
    region: Region
    requests: int = 1
    output_tokens: int = 40
    alone: bool = False
    """True: nothing else is probed meanwhile, since it is much work."""

    @property
    def workload(self) -> Workload:
        """What is asked for."""
        return Workload(name="short", input_tokens=100, output_tokens=self.output_tokens)


@dataclass(frozen=True, kw_only=True)
class Told:
    """What the probe made of it."""

    outcomes: tuple[str, ...]
    faults: tuple[str | None, ...]
    tokens: int
    took_s: float


@dataclass(kw_only=True)
class Watched:
    """All that was told, and what memory it took."""

    told: dict[str, Told]
    peak_bytes: int = 0
    """The most of the process and its children together: each page by the share they have of it."""
    peak_in: str = ""
    """What was being probed then."""


def watch_jobs(jobs: Iterable[Job], *, timeout_s: float) -> Watched:
    """Run the jobs in a fresh process: the light ones side by side, then the others."""
    command = [sys.executable, "-c", _CHILD.format(paths=sys.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin and child.stdout
        watched = Watched(told={})
        over = threading.Event()
        watching = threading.Thread(target=_watch, args=(child.pid, watched, over))
        late = threading.Timer(timeout_s, child.kill)
        watching.start()
        late.start()
        try:
            pickle.dump(list(jobs), child.stdin)
            child.stdin.close()
            for line in child.stdout:
                name, told = json.loads(line)
                watched.told[name] = Told(
                    **{k: tuple(v) if isinstance(v, list) else v for k, v in told.items()}
                )
        finally:
            late.cancel()
            over.set()
            watching.join()
            child.kill()
    assert child.returncode == 0 or watched.told, "the probing process failed"
    return watched


def _watch(pid: int, watched: Watched, over: threading.Event) -> None:
    while not over.wait(EVERY_S):
        try:
            root = psutil.Process(pid)
            size = sum(p.memory_full_info().pss for p in (root, *root.children(recursive=True)))
        except psutil.Error:
            continue
        if size > watched.peak_bytes:
            watched.peak_bytes = size
            watched.peak_in = f"after {len(watched.told)} jobs"


def run_jobs(source: Any) -> None:
    """Run the jobs that the source holds, in this process, and print what came of each."""
    import probe.tasks  # noqa: F401 - what a worker has loaded beside the probe
    from probe.reading import Reading
    from probe.tokens import warm_up

    jobs: list[Job] = pickle.load(source.buffer)  # noqa: S301 - from our own parent
    warm_up()
    reading = Reading()
    try:
        with ThreadPoolExecutor(TOGETHER) as pool:
            light = {pool.submit(_told, job, reading): job for job in jobs if not job.alone}
            for done in as_completed(light):
                _print(light[done], done.result())
        for job in jobs:
            if job.alone:
                _print(job, _told(job, reading))
    finally:
        reading.close()


def _print(job: Job, told: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps([job.name, told]) + "\n")
    sys.stdout.flush()


def _told(job: Job, reading: Any) -> dict[str, Any]:
    from probe.run import make_run

    now, began = datetime.now(UTC), time.monotonic()
    run = asyncio.run(
        make_run(
            task=Task(
                run_id=uuid4(),
                endpoint=job.endpoint.id,
                workload=job.workload.name,
                load=Load.SINGLE if job.requests == 1 else Load.PARALLEL,
                slot_at=now,
                purpose=Purpose.MANUAL,
                valid_until=now,
            ),
            endpoint=job.endpoint,
            workload=job.workload,
            region=job.region,
            key=None,
            requests=job.requests,
            simulated=job.region.simulator_url is not None,
            worker=WorkerName(id="w", version="0", catalog="c"),
            execution=uuid4(),
            beside=0,
            reading=reading,
        )
    )
    return {
        "outcomes": [str(timing.outcome) for timing in run.timings],
        "faults": [timing.fault and timing.fault.type for timing in run.timings],
        "tokens": sum(sum(timing.chunks.tokens) for timing in run.timings),
        "took_s": round(time.monotonic() - began, 3),
    }
