"""The reader process of this process: started when it is first needed, and anew when it has died.

A thread of its own starts it and waits for its end; that thread lives as long as the reader does,
since the kernel ends the reader with the thread that started it.
"""

import asyncio
import logging
import signal
import socket
import subprocess
import sys
import threading
from array import array
from contextlib import suppress

from pacewatch.log import event
from probe.channel import Channel, ReaderLost
from probe.child import command, environment
from probe.priority import REALTIME

_LOGGER = logging.getLogger(__name__)

_START_S = 10.0
_GRACE_S = 1.0


class Reading:
    """Opens channels to the reader process; any thread may."""

    def __init__(self, priority: str = REALTIME) -> None:
        """Begin without a reader; it will be scheduled as well as the host lets it, at best so."""
        self._best = priority
        self._mutex = threading.Lock()
        self._child: _Child | None = None

    async def open_channel(self) -> Channel | None:
        """Return a channel to a reader that lives; None where there cannot be one here."""
        if sys.platform != "linux":
            return None
        for _ in range(2):
            child = self._child
            if child is None or not child.is_alive:
                loop = asyncio.get_running_loop()
                child = await loop.run_in_executor(None, self.start)
            try:
                channel = child.connect()
            except OSError as error:
                event(_LOGGER, "reader.no_channel", level=logging.ERROR, reason=str(error))
                return None
            try:
                await channel.catch_up()
            except ReaderLost:
                child.end()
            else:
                return channel
        event(_LOGGER, "reader.missing", level=logging.ERROR)
        return None

    def start(self) -> "_Child":
        """Have a reader that lives, and return it; blocks until it is there, or has failed."""
        with self._mutex:
            if self._child is None or not self._child.is_alive:
                self._child = _Child(self._best)
            return self._child

    @property
    def priority(self) -> str | None:
        """How the reader is scheduled; None without one."""
        return None if self._child is None else self._child.priority

    @property
    def pid(self) -> int | None:
        """The process that reads; None without one."""
        return None if self._child is None else self._child.pid

    def close(self) -> None:
        """End the reader; what it has in hand is lost."""
        with self._mutex:
            if self._child is not None:
                self._child.end()


class _Child:
    """One reader process."""

    def __init__(self, best: str) -> None:
        """Start it, and wait until it is there."""
        self.priority: str | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._mutex = threading.Lock()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._tried = threading.Event()
        self._thread = threading.Thread(
            target=self._live, args=(theirs, best), name="reader", daemon=True
        )
        self._thread.start()
        self._tried.wait(_START_S)
        self._control.settimeout(_START_S)
        with suppress(OSError):
            self.priority = self._control.recv(64).decode() or None
        if self.priority is None:
            self.end()
        else:
            event(_LOGGER, "reader.ready", pid=self.pid, priority=self.priority)

    def _live(self, theirs: socket.socket, best: str) -> None:
        # what ends this process is sent to its whole group: runs in hand are still finished then
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
        try:
            with theirs:
                self._process = subprocess.Popen(
                    command("probe.reader", str(theirs.fileno()), best),
                    pass_fds=(theirs.fileno(),),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    env=environment(),
                    start_new_session=True,  # where sessions are scheduled as groups: its own
                )
        except OSError as error:
            event(_LOGGER, "reader.not_started", level=logging.ERROR, reason=str(error))
            return
        finally:
            self._tried.set()
        _, told = self._process.communicate()
        with self._mutex:
            self._control.close()
        event(
            _LOGGER,
            "reader.ended",
            pid=self.pid,
            code=self._process.returncode,
            reason=told.decode(errors="replace")[-500:],
        )

    @property
    def is_alive(self) -> bool:
        """Tell whether it lives, as far as is known."""
        return self._thread.is_alive()

    @property
    def pid(self) -> int | None:
        """Its process; None where there was none."""
        return None if self._process is None else self._process.pid

    def connect(self) -> Channel:
        """Return a channel that the reader is asked to take; raises OSError."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)  # noqa: FBT003 - the socket's own form
        rights = array("i", [theirs.fileno()])
        with theirs, self._mutex, suppress(OSError):  # the channel itself tells that it is lost
            self._control.sendmsg([b"c"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        return Channel(ours)

    def end(self) -> None:
        """End it, and wait until it is gone."""
        with self._mutex:
            self._control.close()
        self._thread.join(_GRACE_S)
        if self._process is not None and self._thread.is_alive():
            self._process.kill()
            self._thread.join(_GRACE_S)
