"""A process that is stopped again and again, as a busy host does it, and goes on in the end."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

STOPPED_S = 0.5
FREE_S = 0.03
"""Shorter than the time to the metronome's first token, so that this one comes while it stands."""


@contextmanager
def stopping(pid: int) -> Iterator[None]:
    """Stop the process for half a second and let it go for a moment, until the block ends."""
    over = threading.Event()

    def stop() -> None:
        while not over.is_set():
            os.kill(pid, signal.SIGSTOP)
            over.wait(STOPPED_S)
            os.kill(pid, signal.SIGCONT)
            over.wait(FREE_S)

    thread = threading.Thread(target=stop)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def reader_of(pid: int) -> int:
    """Return the process that reads for a worker."""
    [reader] = [
        child.pid for child in psutil.Process(pid).children() if "probe.reader" in child.cmdline()
    ]
    return reader
