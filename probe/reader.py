"""The reader process: empties sockets, and notes when.

Who empties a socket decides how exact its stamps are: packets that wait are merged, and keep only
the last one's stamp. So this process does nothing else. It takes sockets over channels, one channel
a run, and hands on what they bring in batches; what that means is found out at the other end.
It imports no more than it needs, which keeps it at a few megabytes.
"""

import ctypes
import errno
import gc
import select
import sys
from _socket import CMSG_SPACE, socket
from time import clock_gettime_ns, monotonic_ns

from probe.entries import (
    ASK,
    CATCH_UP,
    CAUGHT_UP,
    CLOCKS,
    DATA,
    END,
    ENTRY,
    ENTRY_COST_BYTES,
    FORGET,
    GRANT,
    WATCH,
)
from probe.kernel import STAMP, keep_stamping, receive, segments_in, stamp_in
from probe.memory import give_back
from probe.priority import take_priority

FLUSH_NS = 5_000_000
"""How long a read may wait for others to be handed on with it."""

NEVER_NS = 1 << 63
"""Later than any moment."""

FLUSH_BYTES = 128 * 1024
"""How much may wait to be handed on."""

READ_BYTES = 64 * 1024
"""Of one read of a socket."""

_ANCILLARY_BYTES = CMSG_SPACE(STAMP.size)
_PR_SET_PDEATHSIG, _SIGKILL = 1, 9
_READABLE, _WRITABLE = select.EPOLLIN, select.EPOLLOUT


class Watched:
    """One socket that is being emptied."""

    __slots__ = ("channel", "is_open", "left", "looked_ns", "number", "segments", "sock")

    def __init__(self, channel: "Channel", number: int, sock: socket, left: int) -> None:
        """Begin with what it may bring."""
        self.channel = channel
        self.number = number
        self.sock = sock
        self.left = left
        self.looked_ns = monotonic_ns()
        self.segments = segments_in(sock)
        self.is_open = False


class Channel:
    """One run's way in and out."""

    __slots__ = ("due_ns", "is_blocked", "pending", "sock", "watched")

    def __init__(self, sock: socket) -> None:
        """Begin with nothing to hand on."""
        self.sock = sock
        self.pending = bytearray()
        self.due_ns = NEVER_NS
        """When what it has must be handed on."""
        self.is_blocked = False
        self.watched: dict[int, Watched] = {}


class Reader:
    """All channels and their sockets, and the one loop over them."""

    def __init__(self, control: socket) -> None:
        """Take channels from the control socket."""
        self._control = control
        self._poll = select.epoll()
        self._poll.register(control.fileno(), _READABLE)
        self._channels: dict[int, Channel] = {}
        self._watched: dict[int, Watched] = {}
        self._into = memoryview(bytearray(READ_BYTES))
        self._now_ns = monotonic_ns()
        self._due_ns = NEVER_NS
        """When something has to be handed on."""

    def run(self) -> None:
        """Go on until the control socket ends."""
        while True:
            ready = self._poll.poll(self._patience_s())
            self._now_ns = monotonic_ns()
            for descriptor, events in ready:
                watched = self._watched.get(descriptor)
                if watched is not None:
                    self._read(watched)
                elif descriptor in self._channels:
                    self._turn(self._channels[descriptor], events)
                elif descriptor == self._control.fileno() and not self._take_channel():
                    return
            if self._now_ns >= self._due_ns:
                self._flush_what_is_due()

    def _patience_s(self) -> float:
        if self._due_ns == NEVER_NS:
            return -1.0
        return max(0.0, (self._due_ns - self._now_ns) / 1e9)

    def _flush_what_is_due(self) -> None:
        self._due_ns = NEVER_NS
        for channel in list(self._channels.values()):
            if self._now_ns >= channel.due_ns:
                self._flush(channel)
            self._due_ns = min(self._due_ns, channel.due_ns)

    # Channels

    def _take_channel(self) -> bool:
        """Take one channel; tells whether there may be more."""
        asked, sock = receive(self._control, 1)
        if sock is None:
            return bool(asked)  # descriptors are short: its other end sees that it was not taken
        sock.setblocking(False)  # noqa: FBT003 - the socket's own form
        channel = Channel(sock)
        self._channels[sock.fileno()] = channel
        self._poll.register(sock.fileno(), _READABLE)
        add_clocks(channel.pending)
        self._flush(channel)
        return True

    def _turn(self, channel: Channel, events: int) -> None:
        if events & _WRITABLE:
            self._flush(channel)
        if not events & ~_WRITABLE:
            return
        try:
            asked, sock = receive(channel.sock, ASK.size)
            if asked:
                self._do(channel, asked, sock)
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self._drop(channel)

    def _do(self, channel: Channel, asked: bytes, sock: socket | None) -> None:
        kind, number, count = ASK.unpack(asked)
        watched = channel.watched.get(number)
        if kind == WATCH:
            if sock is None:  # descriptors are short
                self._drop(channel)
                return
            watched = channel.watched[number] = Watched(channel, number, sock, count)
            self._watched[sock.fileno()] = watched
            self._open(watched)
        elif kind == FORGET and watched is not None:
            self._forget(watched)
        elif kind == GRANT and watched is not None:
            watched.left += count
            if watched.left > 0:
                self._open(watched)
        elif kind == CATCH_UP:
            for one in list(channel.watched.values()):
                while one.is_open and self._read(one):
                    pass
            channel.pending += ENTRY.pack(CAUGHT_UP, 0, number, 0, 0, 0, 0)
            self._flush(channel)

    def _flush(self, channel: Channel) -> None:
        """Hand on what the other end takes now; the rest when it takes more."""
        try:
            while channel.pending:
                del channel.pending[: channel.sock.send(channel.pending)]
        except BlockingIOError:
            pass
        except OSError:
            channel.pending.clear()  # nobody is there; reading tells
        channel.due_ns = NEVER_NS
        if channel.is_blocked != bool(channel.pending):
            channel.is_blocked = not channel.is_blocked
            wanted = _READABLE | _WRITABLE if channel.is_blocked else _READABLE
            self._poll.modify(channel.sock.fileno(), wanted)

    def _drop(self, channel: Channel) -> None:
        for watched in list(channel.watched.values()):
            self._forget(watched)
        descriptor = channel.sock.fileno()
        self._poll.unregister(descriptor)
        del self._channels[descriptor]
        channel.sock.close()

    # Sockets

    def _open(self, watched: Watched) -> None:
        if not watched.is_open:
            watched.is_open = True
            self._poll.register(watched.sock.fileno(), _READABLE)

    def _shut(self, watched: Watched) -> None:
        if watched.is_open:
            watched.is_open = False
            self._poll.unregister(watched.sock.fileno())

    def _forget(self, watched: Watched) -> None:
        self._shut(watched)  # the other end holds the same socket, so closing ours is not enough
        del self._watched[watched.sock.fileno()], watched.channel.watched[watched.number]
        watched.sock.close()

    def _read(self, watched: Watched) -> bool:
        """Read once; tells whether there may be more."""
        before_ns, sock, fault = self._now_ns, watched.sock, 0
        try:
            size, ancillary, _, _ = sock.recvmsg_into((self._into,), _ANCILLARY_BYTES)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError as failed:
            size, ancillary, fault = 0, [], failed.errno or errno.EIO
        self._now_ns = now_ns = monotonic_ns()
        channel = watched.channel
        if channel.due_ns == NEVER_NS:
            channel.due_ns = now_ns + FLUSH_NS
            add_clocks(channel.pending)
        if not size:
            channel.pending += ENTRY.pack(END, fault, watched.number, 0, 0, 0, now_ns)
            channel.due_ns = now_ns  # nothing more comes of it
            self._shut(watched)
        else:
            segments, stamp_ns = segments_in(sock), stamp_in(ancillary)
            packets = min(max(segments - watched.segments, 0), 0xFFFF)
            channel.pending += ENTRY.pack(
                DATA, packets, watched.number, size, stamp_ns, watched.looked_ns, now_ns
            )
            channel.pending += self._into[:size]
            watched.looked_ns, watched.segments = before_ns, segments
            if len(channel.pending) > FLUSH_BYTES:
                channel.due_ns = now_ns
        if channel.due_ns < self._due_ns:
            self._due_ns = channel.due_ns
        watched.left -= size + ENTRY_COST_BYTES
        if watched.left <= 0:
            self._shut(watched)
        return watched.left > 0


def add_clocks(pending: bytearray) -> None:
    """Add an entry with both clocks at the same moment: the tightest of three readings."""
    best_ns, entry = 1 << 62, b""
    for _ in range(3):
        before_ns = monotonic_ns()
        wall_ns = clock_gettime_ns(0)
        after_ns = monotonic_ns()
        if after_ns - before_ns < best_ns:
            best_ns, middle_ns = after_ns - before_ns, (before_ns + after_ns) // 2
            entry = ENTRY.pack(CLOCKS, 0, 0, 0, wall_ns, 0, middle_ns)
    pending += entry


def main() -> None:
    """Read for the process at the other end of the control socket, until it is gone."""
    gc.disable()
    give_back()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    control = socket(-1, -1, -1, int(sys.argv[1]))
    stamping = keep_stamping()
    control.send(take_priority(libc, sys.argv[2]).encode())
    Reader(control).run()
    stamping.close()
