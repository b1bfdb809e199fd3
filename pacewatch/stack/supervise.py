"""Starts the parts of the stack in order, starts again what dies, stops all in reverse order.

One thread, no threads beside it. Every part leads a session of its own, so a terminal's Ctrl-C
reaches the supervisor alone; on Linux the kernel ends the parts when the supervisor is killed.
"""

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

from pacewatch.stack.logs import bound, last_line, open_log
from pacewatch.stack.orphan import dies_with_us
from pacewatch.stack.part import Part, failures_after, pause_s
from pacewatch.words.errors import StackError

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOOK_S = 10.0
"""How often logs are bounded and the parts' health is asked for, seconds."""
_START_S = 120.0
"""How long a part may take until it is ready, seconds."""
_FATAL_FAILURES = 4
"""So many failures in a row before it was ever ready: it will not start."""


class Asked(Exception):  # noqa: N818 - a wish, not a mistake
    """A signal asked the supervisor to stop."""


class Supervisor:
    """Keeps the parts of the stack running; a context manager that stops them at its end."""

    def __init__(self, logs: Path, tell: Callable[[str], None]) -> None:
        """Keep the folder of the logs, and who is told of deaths and starts, in sentences."""
        self._logs = logs
        self._tell = tell
        self._groups: list[list[_Kept]] = []
        self._wishes = 0
        self._looked_at = 0.0
        self._handlers: dict[signal.Signals, Any] = {}
        self._wake = -1
        self._waker = -1

    def __enter__(self) -> Self:
        """Take over the signals that ask to stop."""
        self._wake, self._waker = os.pipe()
        for end in (self._wake, self._waker):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        for number in (*_ENDING, signal.SIGCHLD):
            if number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN:
                continue  # nohup
            self._handlers[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """Stop every part; a wish to stop ends here."""
        try:
            self._stop()
        finally:
            signal.set_wakeup_fd(-1)
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
            os.close(self._wake)
            os.close(self._waker)
        return kind is not None and issubclass(kind, Asked)

    def begin(self, *parts: Part) -> None:
        """Start the parts together; those begun earlier are stopped later. Raises StackError."""
        group = [_Kept(part, self._logs / f"{part.name}.log") for part in parts]
        self._groups.append(group)
        for kept in group:
            kept.start()

    def wait_until_ready(self, *names: str) -> None:
        """Return when the parts of these names are ready, without names all that was begun.

        Raises StackError where one will not start, Asked where a signal came meanwhile.
        """
        end = time.monotonic() + _START_S
        asked = [kept for kept in self._all() if not names or kept.part.name in names]
        while waiting := [kept for kept in asked if not kept.has_become_ready()]:
            for kept in waiting:
                if kept.failures >= _FATAL_FAILURES or time.monotonic() > end:
                    raise StackError(kept.why_not_ready())
            self._turn(0.05)

    def watch(self) -> None:
        """Keep the parts running until a signal asks to stop, which raises Asked."""
        while True:
            self._turn(0.5)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if number != signal.SIGCHLD:
            self._wishes += 1

    def _turn(self, longest_s: float) -> None:
        self._sleep(longest_s)
        if self._wishes:
            raise Asked
        now = time.monotonic()
        looks = now - self._looked_at > _LOOK_S
        if looks:
            self._looked_at = now
            bound(self._logs)
        for kept in self._all():
            if (told := kept.keep(now, looks=looks)) is not None:
                self._tell(told)

    def _sleep(self, longest_s: float) -> None:
        if select.select([self._wake], [], [], longest_s)[0]:
            os.read(self._wake, 4_096)

    def _all(self) -> Iterable["_Kept"]:
        return (kept for group in self._groups for kept in group)

    def _stop(self) -> None:
        for group in reversed(self._groups):
            stopping = [(kept, _Ending(kept)) for kept in group if kept.is_running()]
            wishes = self._wishes
            while stopping := [(kept, end) for kept, end in stopping if kept.is_running()]:
                hurry = self._wishes > wishes
                wishes = self._wishes
                for _, ending in stopping:
                    ending.go_on(time.monotonic(), hurry=hurry)
                self._sleep(0.05)


class _Kept:
    """A part that is kept running."""

    def __init__(self, part: Part, log: Path) -> None:
        self.part = part
        self.failures = 0
        self.ready = False
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0
        self._well_at = 0.0
        self._due_at = 0.0

    def start(self) -> None:
        """Start the process."""
        part = self.part
        if part.prepare is not None:
            part.prepare()
        with open_log(self._log) as log:
            try:
                self._process = subprocess.Popen(
                    part.command,
                    cwd=part.folder,
                    env=dict(part.environment),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    user=part.uid,
                    group=part.gid,
                    extra_groups=None if part.uid is None else (),
                    preexec_fn=dies_with_us(part.orphan_signal),  # safe: there is one thread
                )
            except OSError as error:
                raise StackError(f"{part.name}: {part.command[0]}: {error.strerror}") from error
        self._started_at = self._well_at = time.monotonic()

    def is_running(self) -> bool:
        """Tell whether the process lives; what it has left behind is ended with it."""
        if self._process is None or self._process.returncode is not None:
            return False
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        if os.waitid(os.P_PID, self._process.pid, options) is None:
            return True
        self.kill()  # its group; not yet reaped, so the id is still its own
        self._process.wait()
        return False

    def has_become_ready(self) -> bool:
        """Tell whether it runs and does its work."""
        self.ready = self.ready or (self.is_running() and self.part.is_ready())
        return self.ready

    def why_not_ready(self) -> str:
        """Return why it is given up, in a sentence."""
        said = last_line(self._log)
        return f"{self.part.name} does not start: {said or 'it said nothing'} ({self._log})"

    def keep(self, now: float, *, looks: bool) -> str | None:
        """Start it again where it has died and the pause is over; return what a person is told."""
        if self._process is None:
            return self._start_again() if now >= self._due_at else None
        if not self.is_running():
            return self._note_death(now)
        return self._look(now) if looks and self.ready else None

    def send(self, number: signal.Signals) -> None:
        """Send the process a signal; it has not been reaped."""
        if self._process is not None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """Kill the process and all of its group."""
        if self._process is not None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):  # it is gone; macOS says the second
                return

    def _start_again(self) -> str | None:
        try:
            self.start()
        except StackError as error:
            return self._fail(time.monotonic(), f"{error}")
        except OSError as error:  # of its log, or of what is done before: a full disk ends nobody
            what = f"{self.part.name} cannot be started: {error.filename}: {error.strerror}"
            return self._fail(time.monotonic(), what)
        return None

    def _note_death(self, now: float) -> str | None:
        code = None if self._process is None else self._process.returncode
        self._process = None
        said = "" if code is not None and code < 0 else last_line(self._log)
        return self._fail(now, f"{self.part.name} {_in_words(code)}{': ' + said if said else ''}")

    def _fail(self, now: float, what: str) -> str | None:
        self.failures = failures_after(self.failures, now - self._started_at)
        self._due_at = now + pause_s(self.failures)
        # before it was ready for the first time, why_not_ready tells
        return f"{what}; it starts again in {pause_s(self.failures):g} s" if self.ready else None

    def _look(self, now: float) -> str | None:
        if self.part.is_well is None or self.part.is_well():
            self._well_at = now
        elif now - self._well_at > self.part.patience_s:
            self.kill()
            return f"{self.part.name} has done nothing for {self.part.patience_s:g} s; it is killed"
        return None


class _Ending:
    """How far the ending of one part has come."""

    def __init__(self, kept: _Kept) -> None:
        self._kept = kept
        self._stops = list(kept.part.stops)
        self._until = 0.0

    def go_on(self, now: float, *, hurry: bool) -> None:
        """Send the next signal where the last one's time is over, or at once."""
        if now < self._until and not hurry:
            return
        if self._stops:
            stop = self._stops.pop(0)
            self._until = now + stop.patience_s
            self._kept.send(stop.signal)
        else:
            self._until = now + 1.0
            self._kept.kill()


def _in_words(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with code {code}"
