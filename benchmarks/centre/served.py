"""A real aggregator over the store, in a process of its own, and what it takes to ask it."""

import gzip
import http.client
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from aggregator import db
from aggregator.rows import one_moment
from centre.recorder import Recorder
from centre.store import Store
from pacewatch.stack.ports import kept_port

_COMMAND = Path(sys.executable).with_name("pacewatch")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back."""

    status: int
    size: int
    """Bytes on the wire."""
    body: bytes
    took_s: float


@dataclass(frozen=True, kw_only=True)
class Aggregator:
    """The process, and where it listens."""

    pid: int
    port: int

    def ask(self, path: str, *, method: str = "GET", body: bytes = b"", **headers: str) -> Answer:
        """Ask for a path; return the whole answer, unpacked."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        started = time.perf_counter()
        try:
            connection.request(method, path, body or None, told)
            found = connection.getresponse()
            packed = found.read()
        finally:
            connection.close()
        took_s = time.perf_counter() - started
        is_packed = found.headers.get("content-encoding") == "gzip"
        text = gzip.decompress(packed) if is_packed else packed
        return Answer(status=found.status, size=len(packed), body=text, took_s=took_s)

    def forget_peak(self) -> None:
        """Start to look for the greatest memory anew."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def peak_mb(self) -> float:
        """Return the most memory that it held since, MB."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))

    def cpu_s(self) -> float:
        """Return the processor time that it has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(store: Store, folder: Path) -> Iterator[Aggregator]:
    """Serve the store; ends with the context."""
    port = kept_port(folder / "port")
    config = folder / "pacewatch.toml"
    regions = (f"[regions.region-{n:02}]\n" for n in range(1, store.size.regions + 1))
    config.write_text("".join(regions))
    process = subprocess.Popen(
        (str(_COMMAND), "aggregator"),
        env={
            "PATH": os.environ["PATH"],
            "PACEWATCH_CONFIG": str(config),
            "PACEWATCH_DATABASE_URL": store.url,
            "PACEWATCH_LISTEN": f"127.0.0.1:{port}",
        },
        stdout=subprocess.DEVNULL,
        stderr=(folder / "log").open("wb"),
    )
    made = Aggregator(pid=process.pid, port=port)
    try:
        _wait(made, process)
        yield made
    finally:
        process.terminate()
        process.wait(60)


def _wait(made: Aggregator, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < end:
        try:
            if made.ask("/readyz").status == 200:
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the aggregator does not answer")


def bare(store: Store, read: Callable[[db.Connection], object]) -> Callable[[], float]:
    """Return what times psycopg alone with the queries that a reading makes, rows and all, in one
    snapshot.
    """
    with one_moment(store.pool) as connection:
        recorder = Recorder(connection)
        read(recorder)  # type: ignore[arg-type]
    kept = psycopg.connect(store.url)

    def once() -> float:
        kept.execute("set transaction isolation level repeatable read, read only")
        started = time.perf_counter()
        for query, values in recorder.done:
            kept.execute(query, values).fetchall()
        took_s = time.perf_counter() - started
        kept.rollback()
        return took_s

    return once
