"""Probe workers as processes, on a real broker, before an aggregator and a simulator of the test's
choosing.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from celery import Celery

from pacewatch.config import load_fleet
from pacewatch.words.endpoint import Endpoint
from pacewatch.words.slot import to_rfc3339
from pacewatch.words.wire import TASK_NAME, probe_queue
from support.broker import Broker

REGION = "eu-west"
FAST = "groq/gpt-oss-120b"
"""An endpoint whose answer of 300 tokens takes under a second."""

TOKEN = "region-token"

_PATCHED = """
import importlib, json, os, sys
from datetime import timedelta
from pathlib import Path
from pacewatch.config import config_path, load_fleet
from probe.clock import wall_now
from probe.settings import read_settings
from probe.worker import serve
ahead_s, numbers = json.loads(sys.argv[1])
for place, number in numbers.items():
    module, _, name = place.rpartition(".")
    setattr(importlib.import_module(module), name, number)
settings = read_settings(os.environ, state=Path(os.environ["PACEWATCH_STATE"]))
fleet = load_fleet(config_path(os.environ), os.environ)
ahead = timedelta(seconds=ahead_s)
sys.exit(serve(os.environ, settings, fleet, wall=lambda: wall_now() + ahead))
"""
"""The command `worker`, with a clock that is ahead and with patience that a test can await."""


def write_config(folder: Path, simulator_url: str = "http://127.0.0.1:9") -> Path:
    """The file of a simulated fleet of one region."""
    file = folder / "pacewatch.toml"
    file.write_text(f'[simulator]\n{REGION} = "{simulator_url}"\n')
    return file


def simulated_endpoints() -> tuple[Endpoint, ...]:
    """What a simulator for such a fleet serves."""
    with _short_config() as file:
        return load_fleet(file, {}).endpoints


@contextmanager
def _short_config() -> Iterator[Path]:
    from support.servers import short_folder

    with short_folder() as folder:
        yield write_config(folder)


class WorkerProcess:
    """A worker that a test starts, kills and starts again on the same state folder."""

    def __init__(
        self,
        folder: Path,
        *,
        broker: Broker,
        aggregator_url: str,
        token: str = TOKEN,
        region: str = REGION,
        config: Path | None = None,
        ahead_s: float = 0.0,
        numbers: dict[str, float] | None = None,
    ) -> None:
        self.folder = folder
        self.log = folder / "worker.log"
        self._patched = [ahead_s, numbers or {}]
        self.environment = {
            "PATH": os.environ["PATH"],
            "TZ": "America/New_York",  # whatever takes the time of the place for UTC shows
            "PACEWATCH_CONFIG": str(config or write_config(folder)),
            "PACEWATCH_STATE": str(folder / "state"),
            "PACEWATCH_BROKER_URL": broker.url,
            "PACEWATCH_AGGREGATOR_URL": aggregator_url,
            "PACEWATCH_REGION": region,
            "PACEWATCH_REGION_TOKEN": token,
        }
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *, wait: bool = True) -> "WorkerProcess":
        before = len(self.events("worker.ready"))
        words = ["-m", "pacewatch", "worker"]
        if any(self._patched):
            words = ["-c", _PATCHED, json.dumps(self._patched)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, *words], env=self.environment, stderr=log, stdout=log
            )
        if wait:
            self.wait_for(lambda: len(self.events("worker.ready")) > before)
        return self

    def kill(self) -> None:
        """End it as the kernel does when memory is short."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(20)

    def stop(self) -> int:
        """End it as a supervisor does; returns its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def lines(self) -> list[dict[str, Any]]:
        """The log so far; what is no JSON fails the test."""
        text = self.log.read_text() if self.log.exists() else ""
        return [json.loads(line) for line in text.splitlines()]

    def events(self, name: str) -> list[dict[str, Any]]:
        return [line for line in self.lines() if line["event"] == name]

    def wait_for(self, holds: Callable[[], object], timeout_s: float = 40) -> None:
        end = time.monotonic() + timeout_s
        while not holds():
            assert self.process is not None
            assert self.process.poll() is None, f"the worker ended: {self.log.read_text()}"
            assert time.monotonic() < end, f"waited in vain: {self.log.read_text()}"
            time.sleep(0.02)


@contextmanager
def worker_process(folder: Path, **fields: Any) -> Iterator[WorkerProcess]:
    """A worker that is gone afterwards, whatever the test did to it; not started yet."""
    worker = WorkerProcess(folder, **fields)
    try:
        yield worker
    finally:
        worker.kill()


def task_for(endpoint: str = FAST, *, run_id: UUID | None = None, **fields: Any) -> dict[str, Any]:
    """The payload of a task that is valid for a minute."""
    now = datetime.now(UTC).replace(microsecond=0)
    return {
        "v": 1,
        "run": str(run_id or uuid4()),
        "endpoint": endpoint,
        "workload": "short",
        "load": "single",
        "slot_at": to_rfc3339(now),
        "purpose": "scheduled",
        "valid_until": to_rfc3339(now + timedelta(minutes=1)),
    } | fields


def send(broker: Broker, *payloads: object, name: str = TASK_NAME, **options: Any) -> None:
    """Send tasks to the region's queue, as Celery sends them."""
    app = Celery(broker=broker.url, set_as_current=False)
    app.conf.task_ignore_result = True
    with app.connection_for_write() as connection:
        for payload in payloads:
            app.send_task(
                name,
                args=[payload],
                queue=probe_queue(REGION),
                connection=connection,
                **options,
            )
