"""Has the worker calibrate itself, and knows whether it is suspect: at its start, each hour, and
when the centre suspects somebody whom its region probes.

A calibration is alone on its host, as a parallel run is, and goes the same way as runs do: through
the same reader, in this process. Runs go before it: it waits for a free host for a few seconds, and
else comes again later. What is over a limit is tried once more: a host that was busy for a moment
is not suspect, one that is busy whenever it is asked is.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pacewatch.log import event
from pacewatch.words.errors import CalibrationError, StoreError
from pacewatch.words.flag import Flag
from pacewatch.words.slot import Load, to_rfc3339
from pacewatch.words.timing import Stamp
from probe.reading import Reading
from probe.room import room
from probe.timing_error import Errors, summed

_LOGGER = logging.getLogger(__name__)

EVERY_S = 3600.0
"""From one calibration to the next, seconds."""

SOON_S = 300.0
"""The same at most while the worker is suspect, since its figures are lost until it is found well;
and after one that failed. Nor is it asked for sooner after another.
"""

AGAIN_S = 40.0
"""The same after the first that found it suspect, and twice as long after each further one: a host
that was busy for a moment, at its start above all, is soon found well.
"""

ROOM_S = 5.0
"""How long the host may be waited for, seconds; no new run begins on it meanwhile."""

PUT_OFF_S = 60.0
"""From one that found no free host to the next."""

TRIES = 3
"""The best of so many counts."""

BREATH_S = 1.0
"""Between two tries: whoever waits for the host goes first."""

SIMULATED_SLACK = 10.0
"""How much wider the limits are in a simulated fleet: it shares its host with all it measures."""

_PAUSE_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What was found the last time."""

    at: datetime
    errors: Errors
    over: tuple[str, ...]
    """What was over its limit."""
    stamp: str
    priority: str | None

    def told(self) -> dict[str, float | str | None]:
        """Return it as a heartbeat tells it."""
        ttft, arrival, speed = self.errors.ttft_s, self.errors.arrival_s, self.errors.speed
        return {
            "at": to_rfc3339(self.at),
            "reader": self.priority,
            "stamp": self.stamp,
            "requests": self.errors.requests,
            "lost": self.errors.lost,
            "ttft_p50_s": ttft.p50,
            "ttft_p99_s": ttft.p99,
            "ttft_worst_s": ttft.worst,
            "arrival_p50_s": arrival.p50,
            "arrival_p99_s": arrival.p99,
            "arrival_worst_s": arrival.worst,
            "speed_p50_ratio": speed.p50,
            "speed_p99_ratio": speed.p99,
            "speed_worst_ratio": speed.worst,
            "over": " ".join(self.over),
        }


def rest_s(suspected: int) -> float:
    """Return how long it is to the next calibration when so many in a row were over a limit."""
    return min(AGAIN_S * 2 ** (suspected - 1), SOON_S) if suspected else EVERY_S


class Calibrating:
    """The thread that calibrates."""

    def __init__(
        self,
        *,
        reading: Reading,
        folder: Path,
        locks: Path,
        simulated: bool,
        wall: Callable[[], datetime],
    ) -> None:
        """Calibrate through that reading; files of it lie in the folder."""
        self.reading = reading
        self._folder = folder
        self._locks = locks
        self._slack = SIMULATED_SLACK if simulated else 1.0
        self.wall = wall
        self._stop = threading.Event()
        self._asked = threading.Event()
        self.latest: Calibration | None = None
        """None until one has been made."""
        self._suspected = 0
        """Calibrations in a row that were over a limit."""

    @property
    def is_suspect(self) -> bool:
        """Tell whether the latest calibration was over a limit."""
        return self.latest is not None and bool(self.latest.over)

    @property
    def doubt(self) -> Flag | None:
        """Return what timings of now are flagged with; None: the latest calibration was well."""
        if self.latest is None:
            return Flag.UNCALIBRATED
        return Flag.PROBER_SUSPECT if self.latest.over else None

    def told(self) -> dict[str, float | str | None] | None:
        """Return the latest as a heartbeat tells it; None before the first."""
        return None if self.latest is None else self.latest.told()

    def ask(self) -> None:
        """Have `run` calibrate as soon as the latest calibration is not quite fresh."""
        self._asked.set()

    def stop(self) -> None:
        """Let `run` return."""
        self._stop.set()
        self._asked.set()

    def run(self) -> None:
        """Calibrate at once, then each hour and when asked, until `stop`."""
        while not self._stop.is_set():
            pause_s = self.calibrate()
            if not self._stop.wait(min(pause_s, SOON_S)):
                self._asked.wait(max(pause_s - SOON_S, 0.0))
                self._asked.clear()

    def calibrate(self) -> float:
        """Calibrate now; return in how many seconds to do so again."""
        try:
            found = self._best()
        except (CalibrationError, StoreError) as error:
            event(_LOGGER, "calibration.failed", level=logging.WARNING, reason=str(error))
            return SOON_S
        if found is None:
            event(_LOGGER, "calibration.put_off")
            return PUT_OFF_S
        self._take(found)
        return rest_s(self._suspected)

    def _best(self) -> Calibration | None:
        """Return the best of some tries; None where the host was not free."""
        found: Calibration | None = None
        for n in range(TRIES):
            if n and self._stop.wait(BREATH_S):
                break
            with room(self._locks, Load.PARALLEL, self._patience()) as is_free:
                tried = self._try() if is_free and not self._stop.is_set() else None
            if tried is not None and (found is None or len(tried.over) < len(found.over)):
                found = tried
            if tried is None or not tried.over:
                break
        return found

    def _patience(self) -> Callable[[], bool]:
        end = time.monotonic() + ROOM_S

        def wait() -> bool:
            return not self._stop.wait(_PAUSE_S) and time.monotonic() < end

        return wait

    def _try(self) -> Calibration:
        """Calibrate once, in the room; raises CalibrationError."""
        from probe.calibration import play_short  # the heavy half: loaded when it is needed

        played = asyncio.run(play_short(self._folder, self.reading))
        errors = summed(one.raw for one in played)
        return Calibration(
            at=self.wall(),
            errors=errors,
            over=errors.over(slack=self._slack),
            stamp=str(
                Stamp.USER if any(one.stamp is Stamp.USER for one in played) else Stamp.KERNEL
            ),
            priority=self.reading.priority,
        )

    def _take(self, found: Calibration) -> None:
        was_suspect, self.latest = self.is_suspect, found
        self._suspected = self._suspected + 1 if found.over else 0
        level = logging.WARNING if found.over else logging.INFO
        event(_LOGGER, "calibration.made", level=level, **found.told())
        if was_suspect and not found.over:
            event(_LOGGER, "calibration.well_again")
