"""How the C library keeps what is freed: by itself it keeps the most that was ever in use.

Imported by the reader process too, so it needs nothing that takes memory.
"""

import ctypes

LARGE_BYTES = 1024 * 1024
"""What is at least so large is given back to the system as soon as it is freed; reads of a socket
are smaller.
"""

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8


def give_back() -> None:
    """Have freed memory given back, where the C library can be told; before threads are begun.

    A stream without an end takes megabytes for a second. Glibc would take the size of such a piece
    for an ordinary one from then on, and keep as many of them as it has arenas, one a thread.
    """
    tell = getattr(ctypes.CDLL(None), "mallopt", None)
    if tell is not None:
        for name, value in (
            (_ARENA_MAX, 2),
            (_MMAP_THRESHOLD, LARGE_BYTES),
            (_TRIM_THRESHOLD, LARGE_BYTES),
        ):
            tell(name, value)
