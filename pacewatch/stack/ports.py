"""Ports of loopback that stay the same between starts."""

import secrets
import socket
import time
from pathlib import Path

from pacewatch.stack.state import write_private

_PORTS = range(15_000, 28_000)
"""Below the ports that the kernel gives to outgoing connections."""


def kept_port(file: Path) -> int:
    """Return the port that the file remembers, where it is free, else another free one of loopback,
    which it remembers from now on.
    """
    wanted = _remembered(file)
    candidates = [wanted] if wanted else []
    candidates += [secrets.choice(_PORTS) for _ in range(20)] + [0]
    found = next(port for port in map(_free, candidates) if port is not None)
    if found != wanted:
        write_private(file, str(found))
    return found


def why_no_listening(host: str, port: int, *, patience_s: float = 0.0) -> str | None:
    """Return in words why nobody can listen there; None where somebody can.

    Asks again until the patience is over: who listened may be ending.
    """
    end = time.monotonic() + patience_s
    while (reason := _why_refused(host, port)) and time.monotonic() < end:
        time.sleep(0.1)
    return reason


def _why_refused(host: str, port: int) -> str | None:
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
    except OSError as error:
        return error.strerror or str(error)
    return None


def _remembered(file: Path) -> int:
    """Return the port that the file remembers; 0 where it remembers none that can be."""
    try:
        port = int(file.read_text())
    except (FileNotFoundError, ValueError):
        return 0
    return port if 0 < port < 65_536 else 0


def _free(port: int) -> int | None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return None
        found: int = probe.getsockname()[1]
        return found
