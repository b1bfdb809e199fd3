"""Runs of a real worker whose memory is watched meanwhile: its file names what it may probe, its
tasks come from a real broker, and what it made of them is what it pushes.
"""

import json
import threading
from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil

from pacewatch.words.endpoint import Limits, Protocol
from pacewatch.words.slot import to_rfc3339
from support.broker import Broker
from support.inlet import Inlet, served_inlet
from support.workers import REGION, WorkerProcess, send, task_for, worker_process

EVERY_S = 0.03
"""How often the memory is looked at, seconds."""
VALID = timedelta(minutes=20)


@dataclass(frozen=True, kw_only=True)
class Job:
    """One run of the probe."""

    name: str
    """Its provider's name too: what one provider tells of rate limits stops no other job."""
    base_url: str
    protocol: Protocol = Protocol.OPENAI_CHAT
    limits: Limits
    requests: int = 1
    output_tokens: int = 40
    alone: bool = False
    """True: nothing else is probed meanwhile, since it is much work."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """What the worker made of it."""

    outcomes: tuple[str, ...]
    faults: tuple[str | None, ...]
    tokens: int


@dataclass(kw_only=True)
class Watched:
    """All that was told, and what memory it took."""

    told: dict[str, Told] = field(default_factory=dict)
    peak_bytes: int = 0
    """The most of the worker and its children together: each page by the share they have of it."""
    peak_in: str = ""
    """What was being probed then."""


def watch_jobs(
    jobs: Iterable[Job], folder: Path, *, broker: Broker, ca_file: str, timeout_s: float
) -> Watched:
    """Have a fresh worker run the jobs: the light ones as it comes to them, then the others one by
    one.
    """
    jobs = list(jobs)
    config = folder / "pacewatch.toml"
    config.write_text(_config(jobs, ca_file))
    light = [job for job in jobs if not job.alone]
    with (
        served_inlet() as inlet,
        worker_process(folder, broker=broker, aggregator_url=inlet.url, config=config) as worker,
    ):
        worker.start()
        watched, names = Watched(), dict[str, str]()
        with _watching(worker, watched):
            for together in (light, *([job] for job in jobs if job.alone)):
                tasks = [_task(job) for job in together]
                names |= {task["run"]: job.name for task, job in zip(tasks, together, strict=True)}
                send(broker, *tasks)
                _wait_for(inlet, len(names), timeout_s)
                watched.told = {names[one["run"]]: _told(one) for one in inlet.stored.values()}
        assert worker.stop() == 0
    return watched


def _wait_for(inlet: Inlet, runs: int, timeout_s: float) -> None:
    inlet.wait_until(lambda served: len(served.stored) >= runs, timeout_s)


def _config(jobs: Iterable[Job], ca_file: str) -> str:
    """A file of endpoints of one's own, in one region."""
    sizes = sorted({job.output_tokens for job in jobs})
    parts = [
        f"workloads = {json.dumps([f'out-{size}' for size in sizes])}",
        f"[regions.{REGION}]\nca_file = {json.dumps(ca_file)}",
        *(f"[workload.out-{size}]\ninput_tokens = 100\noutput_tokens = {size}" for size in sizes),
        *(
            f"[[endpoint]]\nid = {json.dumps(f'{job.name}/m')}\nmodel = {json.dumps(job.name)}\n"
            f"base_url = {json.dumps(job.base_url)}\nprotocol = {json.dumps(job.protocol)}\n"
            f"limits = {{ connect_s = {job.limits.connect_s}, "
            f"first_token_s = {job.limits.first_token_s}, stall_s = {job.limits.stall_s}, "
            f"total_s = {job.limits.total_s} }}"
            for job in jobs
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _task(job: Job) -> dict[str, Any]:
    return task_for(
        f"{job.name}/m",
        run_id=uuid4(),
        workload=f"out-{job.output_tokens}",
        load="single" if job.requests == 1 else "parallel",
        valid_until=to_rfc3339(datetime.now(UTC).replace(microsecond=0) + VALID),
    )


def _told(record: dict[str, Any]) -> Told:
    requests = record["requests"]
    return Told(
        outcomes=tuple(one["outcome"] for one in requests) or (f"declined {record['declined']}",),
        faults=tuple(one["error"] and one["error"]["type"] for one in requests),
        tokens=sum(sum(one["chunks"]["tokens"]) for one in requests),
    )


@contextmanager
def _watching(worker: WorkerProcess, watched: Watched) -> Any:
    """Look at the memory of the worker and its children, again and again."""
    assert worker.process is not None
    root, over = psutil.Process(worker.process.pid), threading.Event()

    def watch() -> None:
        while not over.wait(EVERY_S):
            try:
                size = sum(p.memory_full_info().pss for p in (root, *root.children(recursive=True)))
            except psutil.Error:
                continue
            if size > watched.peak_bytes:
                watched.peak_bytes = size
                watched.peak_in = f"after {len(watched.told)} jobs"

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()
