"""No process outlives the one that started it, even where that one is killed."""

import ctypes
import os
import sys
from collections.abc import Callable
from signal import Signals

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def dies_with_us(number: Signals = Signals.SIGKILL) -> Callable[[], None] | None:
    """Return what a child does before it becomes its program: ask the kernel for that signal when
    this process dies. None where the kernel cannot.

    For processes of one thread only: the function runs between fork and exec.
    """
    if _LIBC is None:
        return None
    prctl, parent = _LIBC.prctl, os.getpid()

    def ask_kernel() -> None:
        prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return ask_kernel
