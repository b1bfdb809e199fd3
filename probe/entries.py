"""What goes over a channel between a worker and its reader process, both ways.

Imported by the reader process too, so it needs nothing that takes memory.
"""

from struct import Struct

ENTRY = Struct("=BxHIIqqq")
"""One entry of what a channel brings: kind, packets or errno, socket, bytes that follow, and three
moments: the kernel's stamp on the wall clock (0: none), when the socket had been looked at
before, when this read returned; the latter two on the monotonic clock, ns.
"""

DATA, END, CLOCKS, CAUGHT_UP = range(4)
"""Kinds of entries. CLOCKS has the wall clock's moment in place of the kernel's, and the monotonic
clock's at the same moment as the last; CAUGHT_UP answers CATCH_UP.
"""

ASK = Struct("=BxxxIQ")
"""What a channel is asked: kind, socket, a number."""

WATCH, FORGET, GRANT, CATCH_UP = range(4)
"""Kinds of what is asked. WATCH comes with the socket itself and how much it may bring before more
is granted; GRANT adds to that; CATCH_UP has all read that is there, and tells when it is told.
"""

ENTRY_COST_BYTES = 256
"""What one read counts for beside its bytes: memory at the other end."""

Entry = tuple[int, int, int, int, int, int, int]


def take_entries(came: bytearray) -> list[tuple[Entry, bytes]]:
    """Take out of the buffer what is there whole: entries, each with the bytes that follow it."""
    at, size, taken = 0, ENTRY.size, []
    while len(came) - at >= size:
        entry: Entry = ENTRY.unpack_from(came, at)
        end = at + size + entry[3]
        if end > len(came):
            break
        taken.append((entry, bytes(came[at + size : end])))
        at = end
    del came[:at]
    return taken
