"""The host's room: a parallel run is alone on its host, and single ones run beside one another.

Three files are locked with flock, which the kernel lets go of when a process dies:

    queue   one parallel run at a time may wait or run
    gate    a single run passes it on its way in; a waiting parallel run shuts it
    room    shared by single runs, held alone by a parallel one

A single run holds the gate open until it is in the room, so those that waited for a parallel run
to end go in before the next parallel run can shut the gate; and a shut gate lets no new single run
in before the parallel one. Neither starves.
"""

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pacewatch.words.errors import StoreError
from pacewatch.words.slot import Load

HOST_FOLDERS = (Path("/run/lock"), Path(tempfile.gettempdir()))
"""Where the locks of a whole host lie: the first of these that may be written."""


def room_folder(own: Path, *, simulated: bool) -> Path:
    """Return the folder of the locks: the worker's own in a simulated fleet, where each region
    counts as a host; else the first of the host's in which they can be made.
    """
    for folder in () if simulated else HOST_FOLDERS:
        try:
            for name in ("queue", "gate", "room"):
                os.close(_open(folder / f"pacewatch-{name}.lock"))
        except StoreError:
            continue
        return folder
    return own


@contextmanager
def room(folder: Path, load: Load, wait: Callable[[], bool]) -> Iterator[bool]:
    """Give True once the host has room for a run of that load, and keep it until the block ends.

    `wait` is asked while there is none: it pauses a moment and returns whether to go on waiting;
    once it does not, the block gets False. Raises StoreError where the locks cannot be made.
    """
    with ExitStack() as held:
        yield _enter(folder, load, wait, held)


def _enter(folder: Path, load: Load, wait: Callable[[], bool], held: ExitStack) -> bool:
    if load is Load.SINGLE:
        with _locked(folder, "gate", fcntl.LOCK_SH, wait) as passed:
            return passed and held.enter_context(_locked(folder, "room", fcntl.LOCK_SH, wait))
    if not held.enter_context(_locked(folder, "queue", fcntl.LOCK_EX, wait)):
        return False
    with _locked(folder, "gate", fcntl.LOCK_EX, wait) as shut:
        return shut and held.enter_context(_locked(folder, "room", fcntl.LOCK_EX, wait))


@contextmanager
def _locked(folder: Path, name: str, how: int, wait: Callable[[], bool]) -> Iterator[bool]:
    descriptor = _open(folder / f"pacewatch-{name}.lock")
    try:
        yield _lock(descriptor, how, wait)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, how: int, wait: Callable[[], bool]) -> bool:
    while True:
        try:
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            if not wait():
                return False
        else:
            return True


def _open(file: Path) -> int:
    """Return a descriptor of the lock file; another user's is as good, since only it is locked."""
    try:
        try:
            made = os.open(file, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        except FileExistsError:
            return os.open(file, os.O_RDONLY | os.O_NOFOLLOW)
        os.fchmod(made, 0o644)  # whatever the umask: other users' workers must find room too
        return made
    except OSError as error:
        raise StoreError(
            f"{file}: {error.strerror}, so runs cannot wait for one another"
        ) from error
