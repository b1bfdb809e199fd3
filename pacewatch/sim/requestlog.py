"""What the simulator was asked and what it sent, as JSON lines: the truth to hold a probe to.

A request's line is written when the request is here, before anything is answered, so that even a
killed simulator has told of all it got. The line of its end stands in a file of its own.
"""

import json
import os
from pathlib import Path
from typing import Any

MAX_LOG_BYTES = 20 * 1024 * 1024
"""A file of this size is put aside as `.1`, in place of the one before."""


class LineLog:
    """One bounded file of JSON lines; each line is with the system when `write` returns."""

    def __init__(self, path: Path, *, max_bytes: int = MAX_LOG_BYTES) -> None:
        """Open the file at its end; raises OSError."""
        self._path = path
        self._max_bytes = max_bytes
        self._open()

    def write(self, line: dict[str, Any]) -> None:
        """Append a line; raises OSError."""
        text = json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        if self._size + len(text) > self._max_bytes and self._size:
            os.close(self._fd)
            self._path.replace(self._path.with_name(self._path.name + ".1"))
            self._open()
        os.write(self._fd, text)
        self._size += len(text)

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def _open(self) -> None:
        self._fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._size = os.fstat(self._fd).st_size
