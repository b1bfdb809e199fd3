"""Embedded Postgres: a data folder made once, and the command that serves it.

It listens on a Unix socket and on loopback, and asks for a password on both.
"""

import os
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from urllib.parse import quote

from pacewatch.stack.orphan import dies_with_us
from pacewatch.stack.part import Stop
from pacewatch.stack.ports import kept_port
from pacewatch.stack.servant import PACKAGE, Servant, reachable_binaries, servant
from pacewatch.stack.state import is_fit_for_socket, make_folder, write_private
from pacewatch.words.errors import StackError

SUPERUSER = "pacewatch"
DATABASE = "pacewatch"

STOPS = (
    Stop(signal=signal.SIGINT, patience_s=15.0),  # fast: sessions end, data is written
    Stop(signal=signal.SIGQUIT, patience_s=5.0),  # immediate: the next start recovers
)
ORPHAN_SIGNAL = signal.SIGQUIT

_ANSWER_S = 1.0
_FAULTS = ("FATAL:", "PANIC:", "error:")
_ORPHAN_GONE_S = 10.0

_SETTINGS = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{sockets}'
unix_socket_permissions = 0700
max_connections = 60
shared_buffers = 64MB
dynamic_shared_memory_type = posix
max_wal_size = 512MB
wal_level = minimal
max_wal_senders = 0
max_logical_replication_workers = 0
io_method = sync
log_destination = stderr
log_min_messages = warning
log_checkpoints = off
timezone = 'UTC'
log_timezone = 'UTC'
jit = off
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Postgres:
    """A data folder that is ready to be served."""

    data: Path
    binaries: Path
    sockets: Path | None
    """Folder of the Unix socket; None where its path cannot be one."""
    port: int
    password: str
    uid: int | None
    """The user id the server runs as; None: our own."""
    gid: int | None

    @property
    def url(self) -> str:
        """Return the connection URL: over the Unix socket where there is one."""
        host = "127.0.0.1" if self.sockets is None else quote(str(self.sockets), safe="")
        return f"postgresql://{SUPERUSER}:{self.password}@{host}:{self.port}/{DATABASE}"

    @property
    def command(self) -> tuple[str, ...]:
        """Return the command that serves the folder in the foreground."""
        return (str(self.binaries / "bin" / "postgres"), "-D", str(self.data))

    def answers(self) -> bool:
        """Tell whether it takes sessions: asked for one, it asks for the password."""
        words = b"".join(
            word.encode() + b"\0" for word in ("user", SUPERUSER, "database", DATABASE, "")
        )
        try:
            with self._link() as link:
                link.sendall(struct.pack("!ii", 8 + len(words), 3 << 16) + words)
                return link.recv(1_024)[:1] == b"R"  # all of it, or the server logs a reset
        except OSError:
            return False

    def clear_way(self) -> None:
        """Make room for a start: end a server that a killed supervisor left, and keep a stale mark
        from stopping this one where its process id is somebody else's by now.

        Raises StackError where the left-over server does not end.
        """
        mark = self.data / "postmaster.pid"
        pid = _marked_pid(mark)
        if pid is None or not Path(f"/proc/{pid}").exists():
            return  # a dead one's mark Postgres sees through by itself
        end = time.monotonic() + _ORPHAN_GONE_S
        while self._is_served_by(pid):
            if time.monotonic() > end:
                raise StackError(f"{self.data}: process {pid} still serves it and does not end")
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGQUIT)
            time.sleep(0.1)
        if mark.exists():
            # the mark stays, since it also names the memory that old sessions may still hold;
            # the id of the server's parent is never taken for a server
            _, _, rest = mark.read_text().partition("\n")
            mark.write_text(f"{os.getpid()}\n{rest}")

    def _link(self) -> socket.socket:
        family = socket.AF_INET if self.sockets is None else socket.AF_UNIX
        link = socket.socket(family)
        link.settimeout(_ANSWER_S)
        try:
            if self.sockets is None:
                link.connect(("127.0.0.1", self.port))
            else:
                link.connect(str(self.sockets / f".s.PGSQL.{self.port}"))
        except OSError:
            link.close()
            raise
        return link

    def _is_served_by(self, pid: int) -> bool:
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return os.fsencode(self.data) in words


def prepare(folder: Path) -> Postgres:
    """Make the data folder below `folder` where there is none, and return what serves it.

    Raises StackError where initdb fails, the data is of another Postgres, or the server's user
    cannot reach the folder.
    """
    user = servant()
    make_folder(folder, 0o700 if user is None else 0o711)
    if user is not None:
        user.require_reach(folder)
    binaries = reachable_binaries(folder, user)
    data, sockets = folder / "data", folder / "socket"
    for made in (data, sockets):
        make_folder(made, 0o700)
        if user is not None:
            user.own(made)
    postgres = Postgres(
        data=data,
        binaries=binaries,
        sockets=sockets if is_fit_for_socket(sockets / ".s.PGSQL.00000") else None,
        port=kept_port(folder / "port"),
        password=_password(folder),
        uid=None if user is None else user.uid,
        gid=None if user is None else user.gid,
    )
    done = folder / "made"
    if not done.exists():
        _make_data(postgres, user)
        write_private(done, version(PACKAGE))
    _require_same_major(data)
    _write_settings(postgres, user)
    return postgres


def _password(folder: Path) -> str:
    file = folder / "password"
    if not file.exists():
        write_private(file, secrets.token_urlsafe(24))
    return file.read_text()


def _make_data(postgres: Postgres, user: Servant | None) -> None:
    """Run initdb; whatever an interrupted one left is removed first."""
    password = postgres.data.with_name("initial-password")
    for entry in postgres.data.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    write_private(password, postgres.password)
    if user is not None:
        user.own(password)
    try:
        run_once(
            postgres,
            "initdb",
            *("-D", str(postgres.data), "-U", SUPERUSER, "--pwfile", str(password)),
            *("-A", "scram-sha-256", "-E", "UTF8", "--no-locale"),
        )
        run_once(
            postgres,
            "postgres",
            *("--single", "-D", str(postgres.data), "postgres"),
            feed=f"create database {DATABASE} owner {SUPERUSER}\n",
        )
    finally:
        password.unlink()


def run_once(postgres: Postgres, program: str, *words: str, feed: str = "") -> None:
    """Run one of Postgres' own programs to its end; raises StackError with why it failed."""
    done = subprocess.run(
        (str(postgres.binaries / "bin" / program), *words),
        input=feed,
        capture_output=True,
        text=True,
        check=False,
        user=postgres.uid,
        group=postgres.gid,
        extra_groups=None if postgres.uid is None else (),
        cwd=postgres.data,
        env=server_environment(),
        start_new_session=True,  # a Ctrl-C is not meant for it
        preexec_fn=dies_with_us(),
    )
    if done.returncode:
        said = reason_of(done.stderr.strip() or done.stdout.strip() or "nothing")
        raise StackError(f"{postgres.data}: {program} failed: {said}")


def reason_of(said: str) -> str:
    """Return the line of a program's words that says why it failed: the first error, else the last
    line, since initdb goes on to tell how it tidies up.
    """
    lines = said.splitlines()
    faults = [line for line in lines if any(word in line for word in _FAULTS)]
    return (faults or lines[-1:])[0][:300]


def server_environment() -> dict[str, str]:
    """Return all that Postgres' own programs need to know of the environment."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def _marked_pid(mark: Path) -> int | None:
    try:
        return int(mark.read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None


def _require_same_major(data: Path) -> None:
    made = (data / "PG_VERSION").read_text().strip()
    ours = version(PACKAGE).split(".", 1)[0]
    if made != ours:
        raise StackError(
            f"{data}: the data is of Postgres {made} and this is Postgres {ours} "
            "(allowed: the version that made it, or a dump taken with it and a new state folder)"
        )


def _write_settings(postgres: Postgres, user: Servant | None) -> None:
    """Write the settings of this start; the file is ours, written anew each time."""
    file = postgres.data / "pacewatch.conf"
    sockets = "" if postgres.sockets is None else str(postgres.sockets)
    write_private(file, _SETTINGS.format(port=postgres.port, sockets=sockets))
    if user is not None:
        user.own(file)
    main = postgres.data / "postgresql.conf"
    line = "include 'pacewatch.conf'\n"
    if line not in main.read_text():
        with main.open("a") as out:
            out.write(line)
