"""What a client is measured against: servers that log their own sends, a proxy, and who is busy
beside it.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from probe.self_signed import self_signed

HERE = Path(__file__).parent
HOST = "127.0.0.1"
WAYS = ("plain", "TLS", "proxy")
"""How the server is reached; through the proxy over TLS too."""

_READY_S = 10.0
_BUSY = "x = 1\nwhile True: x = x * 1103515245 + 12345 & 0x7FFFFFFF"


class CannotBuildError(Exception):
    """What the servers are built with is missing."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """The servers, running."""

    ports: dict[str, int]
    logs: tuple[Path, ...]
    ca_file: Path
    client_core: int
    folder: Path

    def words(self, way: str) -> list[str]:
        """Return the words of a client's command line that say where to ask."""
        if way == "plain":
            return ["--url", f"http://{HOST}:{self.ports['plain']}"]
        words = ["--url", f"https://{HOST}:{self.ports['TLS']}", "--ca", str(self.ca_file)]
        if way == "proxy":
            words += ["--proxy", f"http://{HOST}:{self.ports['proxy']}"]
        return words


@contextmanager
def stage() -> Iterator[Stage]:
    """Build and start the servers on one core; clients are to be on another.

    Raises CannotBuildError.
    """
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise CannotBuildError("one processor is too few: the server and the client need one each")
    with tempfile.TemporaryDirectory(prefix="pacewatch-clock-") as made, ExitStack() as running:
        folder = Path(made)
        build(folder)
        pair = self_signed(HOST, datetime.now(UTC), lives=timedelta(days=1))
        certificate, key = folder / "certificate.pem", folder / "key.pem"
        certificate.write_text(pair.certificate)
        key.write_text(pair.key)
        ports = {way: free_port() for way in WAYS}
        logs = (folder / "plain.jsonl", folder / "tls.jsonl")
        tls = ["--cert", str(certificate), "--key", str(key)]
        for words in (
            ["truthd", "--port", str(ports["plain"]), "--log", str(logs[0])],
            ["truthd", "--port", str(ports["TLS"]), "--log", str(logs[1]), *tls],
            ["tunnel", "--port", str(ports["proxy"])],
        ):
            program = [str(folder / words[0]), *words[1:], "--rt"]
            running.enter_context(started(program, core=cores[0]))
        for port in ports.values():
            wait_for(port)
        yield Stage(
            ports=ports, logs=logs, ca_file=certificate, client_core=cores[1], folder=folder
        )


def build(folder: Path) -> None:
    """Build both programs; raises CannotBuildError."""
    if shutil.which("gcc") is None:
        raise CannotBuildError("gcc is missing: install it and the headers of OpenSSL (libssl-dev)")
    for name, words in (("truthd", ["-DTLS", "-lm", "-lssl", "-lcrypto"]), ("tunnel", [])):
        source, flags = HERE / f"{name}.c", [word for word in words if word.startswith("-D")]
        libraries = [word for word in words if word not in flags]
        command = ["gcc", "-O2", *flags, "-o", str(folder / name), str(source), *libraries]
        built = subprocess.run(command, capture_output=True, text=True, check=False)
        if "openssl/" in built.stderr or "-lssl" in built.stderr:
            raise CannotBuildError("the headers of OpenSSL are missing: install libssl-dev")
        if built.returncode:
            raise CannotBuildError(f"gcc cannot build {source.name}: {built.stderr.strip()[-300:]}")


def free_port() -> int:
    """Return a port of the loopback that nobody has."""
    with socket.socket() as sock:
        sock.bind((HOST, 0))
        return int(sock.getsockname()[1])


@contextmanager
def started(program: list[str], *, core: int) -> Iterator[int]:
    """Run a program on a core for as long as the block lasts; gives its process."""
    process = subprocess.Popen(program, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        os.sched_setaffinity(process.pid, {core})
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def busy(core: int) -> AbstractContextManager[int]:
    """Keep a core busy with another process for as long as the block lasts."""
    return started([sys.executable, "-I", "-S", "-c", _BUSY], core=core)


def wait_for(port: int) -> None:
    """Wait until somebody listens there; raises TimeoutError."""
    end = time.monotonic() + _READY_S
    while True:
        try:
            socket.create_connection((HOST, port), timeout=1).close()
        except OSError:
            if time.monotonic() > end:
                raise TimeoutError(f"nobody listens on port {port}") from None
            time.sleep(0.05)
        else:
            return
