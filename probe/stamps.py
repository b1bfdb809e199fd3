"""When bytes came: reads of a socket with their stamps, and the kernel's stamp put on our clock."""

from dataclasses import dataclass

TOLERANCE_NS = 20_000
"""How far a stamp may lie outside its bounds: two clocks are not read at quite the same moment."""

ON_ITS_WAY_NS = 100_000_000
"""How long a packet may take from its stamp to its socket."""


@dataclass(slots=True, kw_only=True)
class Portion:
    """What one read of a socket brought."""

    data: bytes
    """Empty: the other side's end."""
    stamp_ns: int
    """When it came, monotonic clock."""
    is_kernel: bool = False
    """True where the kernel told when; else it is when the read returned."""
    packets: int = 1
    """Of which it was made; waiting packets are merged and keep the last one's stamp."""
    events: int = 0
    """Events of the protocol that it completed, counted while it is read on."""

    @property
    def is_blurred(self) -> bool:
        """Tell whether one of its events may have come earlier than its stamp says."""
        return self.packets > 1 and self.events > 1


def offset_ns(wall_ns: int, monotonic_ns: int) -> int:
    """Return the wall clock less the monotonic one, from both at the same moment."""
    return wall_ns - monotonic_ns


def arrived_ns(kernel_ns: int, offset_ns: int, *, after_ns: int, until_ns: int) -> int | None:
    """Return the kernel's stamp on the monotonic clock, never outside its bounds.

    None where there is none (0), or where it does not lie between them: then the wall clock was set
    in between. A packet may have come well before the socket was found empty: it is stamped when it
    reaches the host, and a busy kernel hands it to the socket later.
    """
    at_ns = kernel_ns - offset_ns
    if not kernel_ns or not after_ns - TOLERANCE_NS <= at_ns <= until_ns + TOLERANCE_NS:
        return None
    return min(max(at_ns, after_ns), until_ns)
