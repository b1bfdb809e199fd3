"""Real servers for the tests: Postgres and a broker, from an engine where there is one, else
embedded.
"""

import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import psycopg

from pacewatch.stack import postgres


@contextmanager
def short_folder() -> Iterator[Path]:
    """A folder with a short path that every user may enter, as sockets and Postgres need."""
    folder = Path(tempfile.mkdtemp(prefix="pw-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class PostgresServer:
    """A served Postgres that a test may end without warning and start again."""

    def __init__(self, folder: Path) -> None:
        self._ready = postgres.prepare(folder / "pg")
        self._log = folder / "log"
        self._process: subprocess.Popen[bytes] | None = None
        self.url = self._ready.url

    def start(self) -> None:
        ready = self._ready
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                ready.command,
                user=ready.uid,
                group=ready.gid,
                extra_groups=None if ready.uid is None else (),
                stderr=log,
                stdout=log,
                cwd=ready.data,
            )
        wait_for_postgres(self.url)

    def cut_off(self) -> None:
        """Kill it with all its children, as a host that loses its power does."""
        assert self._process is not None
        family = psutil.Process(self._process.pid).children(recursive=True)
        self._process.kill()
        for child in family:
            with suppress(psutil.NoSuchProcess):
                child.kill()
        self._process.wait(20)
        psutil.wait_procs(family, timeout=20)
        self._process = None

    def kill(self) -> None:
        """End it at once, as a crash would: nothing is written, every connection breaks."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(20)
            self._process = None


@contextmanager
def embedded_postgres() -> Iterator[str]:
    """A served Postgres; gives its URL."""
    with short_folder() as folder:
        server = PostgresServer(folder)
        try:
            server.start()
            yield server.url
        finally:
            server.kill()


def wait_for_postgres(url: str, timeout_s: float = 20) -> None:
    """Return when the server answers; raises the last error after the timeout."""
    end = time.monotonic() + timeout_s
    while True:
        try:
            psycopg.connect(url, connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


@contextmanager
def fresh_database(url: str, *, like: str = "template1") -> Iterator[str]:
    """A new database on the server of `url`, empty or like another one, that nobody uses; gives its
    URL; dropped afterwards.
    """
    name, like = f"t{time.time_ns()}", like.rpartition("/")[2]
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"create database {name} template {like}")
    base, _, _ = url.rpartition("/")
    try:
        yield f"{base}/{name}"
    finally:
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute(f"drop database {name} with (force)")
