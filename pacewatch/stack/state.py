"""The state folder of `pacewatch up`: where it is, what kind it is of, and who runs on it.

A folder is stamped real or simulated at its first use and never changes its kind. One `up` runs on
a folder at a time; the kernel lets go of the lock when that process dies, however it dies.
"""

import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from pacewatch.words.errors import SettingsError, StackError

LAYOUT = 1
"""Version of what stands where in the folder; another one is refused."""

_LONGEST_SOCKET_PATH = 100
"""The kernel's own limit is 104 bytes on one system and 108 on another."""
_PLAIN_PATH = re.compile(r"[A-Za-z0-9/._+-]+")

DATABASE_URL, DEMO_FILE = "database-url", "demo.toml"
ADMIN_TOKEN = "admin-token"  # noqa: S105 - a file's name
"""Holds the token by which a person of this machine asks for runs."""

_STORE = "PACEWATCH_DATABASE_URL"
_STAMP = "state.json"
_LOCK = "lock"
_ACCEPTED = "accepted.json"
_KIND = {True: "simulated", False: "real"}


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A state folder that this process holds."""

    folder: Path
    simulated: bool
    lock: TextIO

    @property
    def logs(self) -> Path:
        """Return the folder of the processes' logs."""
        return self.folder / "logs"

    def announce(self, board_url: str) -> None:
        """Tell a second `up` where this one's board is."""
        self.lock.seek(0)
        self.lock.truncate()
        json.dump({"pid": os.getpid(), "board": board_url}, self.lock)
        self.lock.flush()

    def accepted_usd_per_day(self) -> float | None:
        """Return the daily ceiling that a person accepted here, US$; None where nobody did."""
        found = _read_json(self.folder / _ACCEPTED).get("usd_per_day")
        return float(found) if isinstance(found, int | float) else None

    def accept_usd_per_day(self, usd_per_day: float) -> None:
        """Remember that a person accepted this daily ceiling, US$."""
        write_private(self.folder / _ACCEPTED, json.dumps({"usd_per_day": usd_per_day}))


def state_folder(environment: Mapping[str, str], *, simulated: bool, uid: int) -> Path:
    """Return the state folder that the environment asks for; raises SettingsError where no home
    is known.
    """
    if wanted := environment.get("PACEWATCH_STATE"):
        return Path(wanted).absolute()
    name = "pacewatch-demo" if simulated else "pacewatch"
    if uid == 0:
        return Path("/var/lib") / name
    if base := environment.get("XDG_STATE_HOME"):
        return Path(base).absolute() / name
    if home := environment.get("HOME"):
        return Path(home).absolute() / ".local" / "state" / name
    raise SettingsError("HOME is not set, so PACEWATCH_STATE must name the state folder")


def running_board(environment: Mapping[str, str], *, uid: int) -> str | None:
    """Return the address of the board of the `up` that this user has running, the real one's before
    the demo's; None where none runs.
    """
    folder = running_folder(environment, uid=uid)
    told = {} if folder is None else _read_json(folder / _LOCK)
    return str(told["board"]) if "board" in told else None


def running_folder(environment: Mapping[str, str], *, uid: int) -> Path | None:
    """Return the state folder of that `up`; None where none runs."""
    for simulated in (False, True):
        try:
            folder = state_folder(environment, simulated=simulated, uid=uid)
        except SettingsError:  # no folder is known, so no `up` of this user is
            return None
        holder = _read_json(folder / _LOCK)
        if "board" in holder and Path(f"/proc/{holder.get('pid')}").exists():
            return folder  # a killed one has left its own
    return None


def store_environment(environment: Mapping[str, str], *, uid: int) -> Mapping[str, str]:
    """Return the environment with the store, and in the demo the file, of the `up` that this user
    has running, where it names no store itself.
    """
    folder = running_folder(environment, uid=uid)
    if folder is None or environment.keys() & {_STORE, f"{_STORE}_FILE"}:
        return environment
    found = {**environment, f"{_STORE}_FILE": str(folder / DATABASE_URL)}
    demo = folder / DEMO_FILE
    return found | ({"PACEWATCH_CONFIG": str(demo)} if demo.exists() else {})


@contextmanager
def hold(folder: Path, *, simulated: bool) -> Iterator[State]:
    """Make the folder where there is none, stamp it, and hold it while the block runs.

    Raises SettingsError where it is of another kind or layout or holds other things, StackError
    where another `up` holds it or it cannot be written.
    """
    try:
        if folder.exists():
            _check_stamp(folder, simulated=simulated)  # a stranger's folder is left as it is
        _make_state_folder(folder)
        lock = (folder / _LOCK).open("a+")
    except OSError as error:
        raise StackError(
            f"{error.filename or folder}: {error.strerror} (allowed: a state folder that this "
            "user may write; PACEWATCH_STATE names it)"
        ) from error
    with lock:
        _lock(folder, lock)
        _check_stamp(folder, simulated=simulated)
        stamp = folder / _STAMP
        if not stamp.exists():
            write_private(stamp, json.dumps({"kind": _KIND[simulated], "layout": LAYOUT}))
        (folder / _LOCK).chmod(0o600)
        state = State(folder=folder, simulated=simulated, lock=lock)
        make_folder(state.logs, 0o700)
        try:
            yield state
        finally:
            lock.truncate(0)


def _make_state_folder(folder: Path) -> None:
    if os.geteuid() == 0:
        make_folder(folder, 0o711)  # root's Postgres runs as another user, who passes through
    else:
        make_folder(folder, 0o700, parents_mode=0o700)


def make_folder(folder: Path, mode: int, *, parents_mode: int = 0o755) -> None:
    """Make a folder with exactly that mode, and its missing parents with theirs."""
    missing = []
    for parent in folder.parents:
        if parent.exists():
            break
        missing.append(parent)
    for parent in reversed(missing):
        parent.mkdir(exist_ok=True)
        parent.chmod(parents_mode)
    folder.mkdir(exist_ok=True)
    folder.chmod(mode)


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner may read, whole or not at all."""
    new = file.with_name(f".{file.name}.new")
    new.unlink(missing_ok=True)
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:  # noqa: PTH123 - the mode is set when it is made
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    new.replace(file)


def is_fit_for_socket(path: Path) -> bool:
    """Tell whether the path may be a Unix socket's, here and in every URL and setting."""
    text = str(path)
    return len(text) <= _LONGEST_SOCKET_PATH and _PLAIN_PATH.fullmatch(text) is not None


def _lock(folder: Path, lock: TextIO) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = _read_json(folder / _LOCK)
        pid = f" (process {holder['pid']})" if "pid" in holder else ""
        board = f"; its board is at {holder['board']}" if "board" in holder else ""
        raise StackError(
            f"{folder}: another pacewatch up{pid} runs on this state folder{board}"
        ) from error


def _check_stamp(folder: Path, *, simulated: bool) -> None:
    stamp = folder / _STAMP
    if not stamp.exists():
        strangers = sorted(entry.name for entry in folder.iterdir() if entry.name != _LOCK)
        if strangers and not all(name.startswith(".state.json") for name in strangers):
            raise SettingsError(
                f"{folder}: holds {strangers[0]} and no stamp of Pacewatch "
                "(allowed: a new or empty folder; PACEWATCH_STATE names it)"
            )
        return
    found = _read_stamp(stamp)
    if found.get("layout") != LAYOUT:
        raise SettingsError(
            f"{folder}: the state folder is of layout {found.get('layout')}, this version's is "
            f"{LAYOUT} (allowed: the version that made it, or a new folder; PACEWATCH_STATE names "
            "it)"
        )
    if found.get("kind") != _KIND[simulated]:
        raise SettingsError(
            f"{folder}: the state folder holds {found.get('kind')} measurements, and "
            f"{_KIND[simulated]} ones never meet them (allowed: a folder of their own; "
            "PACEWATCH_STATE names it)"
        )


def _read_stamp(stamp: Path) -> dict[str, Any]:
    try:
        found = json.loads(stamp.read_text(encoding="utf-8"))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise SettingsError(
            f"{stamp}: is damaged, so the folder's kind is not known "
            "(allowed: the file as it was, or a new folder; PACEWATCH_STATE names it)"
        )
    return found


def _read_json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
