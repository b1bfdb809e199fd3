"""How the reader process goes before others: as well as the host lets it.

Imported by the reader process, so it needs nothing that takes memory.
"""

import ctypes
import os
import resource
from struct import Struct

SLICE_NS = 100_000
"""The time slice asked for where there is no real-time priority: the shortest that Linux gives."""

BUSY_LIMIT_US = 500_000
"""Under real-time priority: a reader that never waits for so long is ended by the kernel."""

REALTIME, SHORT_SLICE, ORDINARY = "realtime", "short_slice", "ordinary"
"""How a reader is scheduled, the best first."""

_SCHED_FIFO = 1
_SCHED_ATTR = Struct("=IIQiIQQQ")
_SYSCALLS = {"x86_64": (314, 315), "ppc64le": (355, 356), "s390x": (345, 346)}
"""sched_setattr and sched_getattr; the others share one table."""
_OTHER_SYSCALLS = (274, 275)


def take_priority(libc: ctypes.CDLL, best: str) -> str:
    """Have this process scheduled as well as the host lets it, at best as asked; return how."""
    if best == REALTIME:
        try:
            os.sched_setscheduler(0, _SCHED_FIFO, os.sched_param(1))
            resource.setrlimit(resource.RLIMIT_RTTIME, (BUSY_LIMIT_US, BUSY_LIMIT_US))
        except OSError:
            best = SHORT_SLICE
        else:
            return REALTIME
    if best == SHORT_SLICE and has_short_slice(libc):
        return SHORT_SLICE
    return ORDINARY


def has_short_slice(libc: ctypes.CDLL) -> bool:
    """Ask for a short time slice, and tell whether it was given; Linux 6.12 and newer do."""
    put, get = _SYSCALLS.get(os.uname().machine, _OTHER_SYSCALLS)
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    asked = _SCHED_ATTR.pack(_SCHED_ATTR.size, 0, 0, nice, 0, SLICE_NS, 0, 0)
    told = ctypes.create_string_buffer(_SCHED_ATTR.size)
    if libc.syscall(put, 0, asked, 0) or libc.syscall(get, 0, told, _SCHED_ATTR.size, 0):
        return False
    return bool(_SCHED_ATTR.unpack(told.raw)[5] == SLICE_NS)
