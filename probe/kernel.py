"""What the kernel tells the reader process: when packets came, how many, and what sockets it is
handed.

Imported by the reader process, so it needs nothing that takes memory.
"""

from _socket import AF_INET, CMSG_LEN, SCM_RIGHTS, SOCK_DGRAM, SOL_SOCKET, socket
from struct import Struct, error

SO_TIMESTAMPNS = 35
"""As in the headers of Linux on every machine but sparc and parisc."""

STAMP = Struct("@ll")
"""A moment as the kernel tells it: seconds and ns of the wall clock."""

_TCP, _TCP_INFO, _TCP_INFO_BYTES, _SEGMENTS_AT = 6, 11, 160, 152
"""Where Linux's struct tcp_info holds tcpi_data_segs_in."""

_U32 = Struct("=I")
_FD = Struct("=i")


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


def receive(sock: socket, size: int) -> tuple[bytes, socket | None]:
    """Return what one message says, and the socket that came with it."""
    asked, ancillary, _, _ = sock.recvmsg(size, CMSG_LEN(_FD.size))
    for level, kind, told in ancillary:
        if (level, kind) == (SOL_SOCKET, SCM_RIGHTS):
            return asked, socket(-1, -1, -1, _FD.unpack(told)[0])
    return asked, None
