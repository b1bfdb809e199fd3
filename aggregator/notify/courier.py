"""Hands messages to a child process that knows the services, and waits no longer than is bounded.

The child is told the address over a pipe; it has an environment of its own, so neither proxies nor
credentials of ours are in it, and what hangs is killed.
"""

import json
import os
import select
import subprocess
import sys
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

START_S = 60.0
"""How long the child may take to load what it needs, seconds."""

RESTART_S = 25.0
"""The same while a row is held, seconds."""

LONGEST_S = 30.0
"""How long a service may take to take a message, seconds. With RESTART_S it is less than the store
lets a transaction wait.
"""

_MOST_BYTES = 64 * 1024

_KEPT = ("PYTHONPATH", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE")
"""Where code is found, and which certificates are trusted: by HTTP, and by mail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """One message to one address."""

    url: str
    title: str
    body: str
    type: str
    """failure, warning, or success, which closes what the others opened."""
    key: str | None
    """What the service may know the incident by."""
    message_key: str | None
    """What it may know the message by, however often that is sent."""
    proxy_url: str | None


def may_have_come(why: str) -> bool:
    """Tell whether a message may have been taken though this is why it was not."""
    return why.startswith(("no answer in", "it broke off", "what would send it ended"))


class NoAnswerError(Exception):
    """The child gave no answer; the message tells why."""


class Courier:
    """The child, started when it is first asked; a context manager that ends it."""

    def __init__(self, *, longest_s: float = LONGEST_S) -> None:
        """Keep how long a service may take, seconds."""
        self._longest_s = longest_s
        self._child: subprocess.Popen[bytes] | None = None
        self._read = b""

    def __enter__(self) -> Self:
        """Return itself; nothing is started yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the child."""
        self._end()

    def start(self) -> None:
        """Start the child, so that it is there when it is asked; whoever asks it is told what went
        wrong.
        """
        try:
            self._started(START_S)
        except (NoAnswerError, OSError, ValueError):
            self._end()

    def bring(self, parcel: Parcel) -> str | None:
        """Send a message; return why it was not taken, or None where it was."""
        told = self._ask({name: getattr(parcel, name) for name in Parcel.__slots__})
        if isinstance(told, str):
            return told
        if "fault" in told:
            return f"its address: {told['fault']}"
        why: str | None = told["why"]
        return why

    def look_at(self, url: str) -> dict[str, Any] | str:
        """Return what is known of an address, or what is wrong with it; nothing is sent."""
        told = self._ask({"url": url})
        return told if isinstance(told, str) else told.get("fault", told)

    def _ask(self, question: dict[str, Any]) -> dict[str, Any] | str:
        """Return the child's answer, or why there is none."""
        try:
            child = self._started(RESTART_S)
            if child.stdin is None:
                raise NoAnswerError("what would send it cannot be reached")
            child.stdin.write(json.dumps(question).encode() + b"\n")
            child.stdin.flush()
            return self._answer(self._longest_s, f"no answer in {self._longest_s:g} s")
        except NoAnswerError as error:
            self._end()
            return str(error)
        except (OSError, ValueError) as error:
            self._end()
            return f"what would send it ended ({type(error).__name__})"

    def _started(self, patience_s: float) -> subprocess.Popen[bytes]:
        if self._child is None:
            self._read = b""
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-m", "aggregator.notify.deliver"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,
            )
            self._answer(patience_s, f"what would send it did not start in {patience_s:g} s")
        return self._child

    def _answer(self, patience_s: float, late: str) -> dict[str, Any]:
        """Return the child's next line; raises NoAnswerError where it does not come."""
        if self._child is None or self._child.stdout is None:
            raise NoAnswerError("what would send it is not there")
        pipe, end = self._child.stdout.fileno(), time.monotonic() + patience_s
        while b"\n" not in self._read:
            left = end - time.monotonic()
            if left <= 0 or not select.select([pipe], [], [], left)[0]:
                raise NoAnswerError(late)
            piece = os.read(pipe, _MOST_BYTES)
            if not piece or len(self._read) > _MOST_BYTES:
                raise NoAnswerError("what would send it ended")
            self._read += piece
        line, _, self._read = self._read.partition(b"\n")
        told: dict[str, Any] = json.loads(line)
        return told

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # it was gone already
                    continue
        child.wait()


def _environment() -> dict[str, str]:
    """Return all that the child knows of ours. No proxy, no credential."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return kept | {"PATH": os.defpath, "LANG": "C.UTF-8", "NETRC": os.devnull}
