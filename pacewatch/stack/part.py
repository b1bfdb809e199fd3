"""A part of the stack: one process that `pacewatch up` starts, watches and stops."""

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
HEALTHY_S = 60.0
"""Who lived this long starts again as if it had never failed, seconds."""

_ORDINARY = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TERM"),
        *("XDG_CACHE_HOME", "PACEWATCH_ALLOW_UNENCRYPTED", "PACEWATCH_DEBUG"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "PYTHONPATH", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """One way to end a process, and how long it may take."""

    signal: signal.Signals
    patience_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One process of the stack."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    """All of its environment; nothing is inherited."""
    folder: Path
    """Where it runs."""
    is_ready: Callable[[], bool]
    """Tells whether it does its work; asked often, so it answers at once."""
    prepare: Callable[[], None] | None = None
    """What is done before each start of it."""
    is_well: Callable[[], bool] | None = None
    """Tells later whether it still does its work; None: a live process is enough."""
    patience_s: float = 90.0
    """Not well for this long it is killed and started again, seconds."""
    stops: tuple[Stop, ...] = (Stop(signal=signal.SIGTERM, patience_s=10.0),)
    """How it is ended: one after the other, then SIGKILL."""
    orphan_signal: signal.Signals = signal.SIGKILL
    """What it gets from the kernel when the supervisor dies."""
    uid: int | None = None
    gid: int | None = None


def pause_s(failures: int) -> float:
    """Return how long to wait before the next start after that many failures in a row, seconds."""
    return min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(failures - 1, 10))


def failures_after(failures: int, lived_s: float) -> int:
    """Return the failures in a row when a process has ended that lived that long."""
    return 1 if lived_s >= HEALTHY_S else failures + 1


def ordinary_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what every process may know of the shell's environment: no key, no address, no
    proxy.
    """
    return {name: value for name, value in environment.items() if name in _ORDINARY}
