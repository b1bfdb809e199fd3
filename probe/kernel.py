"""What the kernel tells the reader process of a socket: when its packets came, and how many.

Imported by the reader process, so it needs nothing that takes memory.
"""

from _socket import AF_INET, SOCK_DGRAM, SOL_SOCKET, socket
from struct import Struct, error

SO_TIMESTAMPNS = 35
"""As in the headers of Linux on every machine but sparc and parisc."""

STAMP = Struct("@ll")
"""A moment as the kernel tells it: seconds and ns of the wall clock."""

_TCP, _TCP_INFO, _TCP_INFO_BYTES, _SEGMENTS_AT = 6, 11, 160, 152
"""Where Linux's struct tcp_info holds tcpi_data_segs_in."""

_U32 = Struct("=I")


def keep_stamping() -> socket:
    """Return a socket for which the kernel stamps, so that it does so for as long as this lives:
    where it has to begin, the first packets are stamped only as they are read.
    """
    kept = socket(AF_INET, SOCK_DGRAM)
    kept.setsockopt(SOL_SOCKET, SO_TIMESTAMPNS, 1)
    return kept


def stamp_in(ancillary: list[tuple[int, int, bytes]]) -> int:
    """Return the kernel's stamp on the wall clock, ns; 0 where there is none."""
    if not ancillary:
        return 0
    seconds, ns = STAMP.unpack(ancillary[0][2])
    return int(seconds * 1_000_000_000 + ns)


def segments_in(sock: socket) -> int:
    """Return how many packets with data the connection has brought; 0 where that is not told."""
    try:
        told = sock.getsockopt(_TCP, _TCP_INFO, _TCP_INFO_BYTES)
        return int(_U32.unpack_from(told, _SEGMENTS_AT)[0])
    except (OSError, error):
        return 0
