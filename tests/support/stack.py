"""A real `pacewatch up` as a process, what it started, and what its board and store hold."""

import http.client
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

import psutil
import psycopg
from psycopg.rows import tuple_row

PATIENCE_S = 120.0
"""How long anything may take on a busy machine."""
PORTS = range(10_000, 15_000)
"""Below those that the kernel gives away, and those that `up` chooses for its own servers."""


def until(claim: Callable[[], object], *, patience_s: float = PATIENCE_S) -> Any:
    """Return what the claim gives once it is true; fails after the patience."""
    end = time.monotonic() + patience_s
    while not (found := claim()):
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.1)
    return found


def free_port() -> int:
    """A port of loopback that nobody listens on, and that the kernel gives to nobody who asks for
    any: what is started on it later still finds it free.
    """
    return next(port for port in map(secrets.choice, repeat(PORTS)) if _is_free(port))


def _is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def command_of(process: psutil.Process) -> list[str]:
    """The process's words; none where it is gone."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@dataclass(frozen=True, kw_only=True)
class Up:
    """A running `pacewatch up`."""

    process: subprocess.Popen[bytes]
    state: Path
    url: str
    said: Path
    """What it has printed."""

    def get(self, path: str) -> dict[str, Any]:
        """The JSON of a 200; empty for anything else."""
        try:
            return json.loads(self.text(path) or "{}")
        except ValueError:
            return {}

    def text(self, path: str) -> str:
        """The body of a 200; empty for anything else."""
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=10)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.read().decode() if answer.status == 200 else ""
        except (OSError, http.client.HTTPException):
            return ""
        finally:
            connection.close()

    def endpoints(self) -> list[dict[str, Any]]:
        """The endpoints of the board."""
        return [e for model in self.get("/api/board").get("models", ()) for e in model["endpoints"]]

    def measured(self) -> list[str]:
        """The endpoints of the board with a good run."""
        return [
            endpoint["endpoint"]
            for endpoint in self.endpoints()
            if any(series["pooled"]["good"] for series in endpoint["series"])
        ]

    def part(self, *words: str) -> psutil.Process | None:
        """The process of ours that was started with these words; None where it is not running."""
        return self._child(lambda command: set(words) <= set(command))

    def server(self, name: str) -> psutil.Process | None:
        """The server whose program's name begins so; None where it is not running."""
        return self._child(lambda command: Path(command[0]).name.startswith(name))

    def _child(self, is_meant: Callable[[list[str]], bool]) -> psutil.Process | None:
        for child in psutil.Process(self.process.pid).children():
            command = command_of(child)  # a dead one that nobody has waited for has none
            if command and is_meant(command):
                return child
        return None

    def family(self) -> list[psutil.Process]:
        """All that it has started, and what these have."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query over the store; none where it does not answer."""
        folder = self.state / "postgres"
        password, port = ((folder / name).read_text() for name in ("password", "port"))
        url = f"postgresql://pacewatch:{password}@127.0.0.1:{port}/pacewatch"
        try:
            with psycopg.connect(url, row_factory=tuple_row) as session:
                return session.execute(query).fetchall()
        except psycopg.OperationalError:
            return []

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Ask it to stop; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)


def environment(state: Path, **more: str) -> dict[str, str]:
    """What an `up` of the tests may know."""
    known = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**known, "PACEWATCH_STATE": str(state), **more}


def up_command(*words: str, program: Sequence[str] = ("-m", "pacewatch")) -> tuple[str, ...]:
    """The command of an `up` with these words."""
    return (sys.executable, "-P", *program, "up", *words)


@contextmanager
def running_up(
    folder: Path, *words: str, program: Sequence[str] = ("-m", "pacewatch"), **more: str
) -> Iterator[Up]:
    """An `up` on the state folder below `folder`, called from there; whatever is left is killed."""
    port = free_port()
    said = folder / "said"
    with said.open("ab") as out:
        process = subprocess.Popen(
            up_command("--listen", f"127.0.0.1:{port}", *words, program=program),
            env=environment(folder / "state", **more),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
    try:
        yield Up(process=process, state=folder / "state", url=f"http://127.0.0.1:{port}", said=said)
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def run_up(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """An `up` that is expected to end by itself."""
    return subprocess.run(
        up_command(*words),
        env=environment(folder / "state", **more),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
