"""The logs of the stack's processes: one file each, bounded.

A process writes at the file's end whatever its length, so a full file is copied aside and emptied
in place; the few lines written between the two are lost.
"""

import os
import shutil
from pathlib import Path
from typing import BinaryIO

LONGEST_BYTES = 4 * 1024 * 1024
"""A file longer than this is set aside; one older file is kept."""

_TAIL_BYTES = 8_192


def open_log(file: Path) -> BinaryIO:
    """Return the log, open for writing at its end; only its owner may read it."""
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    return os.fdopen(descriptor, "ab", buffering=0)


def bound(folder: Path, *, longest_bytes: int = LONGEST_BYTES) -> None:
    """Set every log of the folder aside that has grown too long; where the disk has no room for
    that, empty it all the same.
    """
    for file in folder.glob("*.log"):
        if file.stat().st_size > longest_bytes:
            older = file.with_suffix(".log.1")
            try:
                older.touch(mode=0o600)
                shutil.copyfile(file, older)
            except OSError:
                older.unlink(missing_ok=True)
            os.truncate(file, 0)


def last_line(file: Path) -> str:
    """Return the last line that says something, cut to 300 characters; "" where there is none."""
    try:
        with file.open("rb") as log:
            log.seek(max(0, file.stat().st_size - _TAIL_BYTES))
            lines = log.read().decode(errors="replace").split("\n")
    except OSError:
        return ""
    said = [line.strip() for line in lines if any(map(str.isalnum, line))]
    return said[-1][:300] if said else ""
