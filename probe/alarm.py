"""The time limits of one request. Only generated text stops or extends them, never bytes; and what
counts is when it came, not when it was read on.
"""

import asyncio
from time import monotonic_ns

from pacewatch.words.endpoint import Limits
from pacewatch.words.outcome import Outcome
from probe.network import Wire

AFTER_END_NS = 2_000_000_000
"""How long usage is waited for after the end of the answer."""

ERROR_BODY_NS = 5_000_000_000
"""How long the body of a refusal is waited for."""


class Alarm:
    """Tells the wire how long to be patient; `outcome` says which limit it is that ends it."""

    def __init__(self, wire: Wire, limits: Limits) -> None:
        """Keep the wire and the limits; nothing runs yet."""
        self._wire = wire
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._from_ns = monotonic_ns()
        self._token_ns: int | None = None
        self._end_ns: int | None = None
        self._is_sure = True
        self._has_doubts = False
        self._refused_ns: int | None = None
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Run from now: the request is being sent; if it cannot be, it has no first token."""
        self._from_ns = monotonic_ns()
        self._wire.limit(self.due_ns)
        self._wind()

    def sent(self, at_ns: int) -> None:
        """Run from the moment of the send."""
        self._from_ns = at_ns

    def token(self, at_ns: int) -> None:
        """Note generated text."""
        is_new, self._token_ns = self._token_ns is None, at_ns
        if not self._is_sure:
            is_new, self._has_doubts = True, True
            self._end_ns, self._is_sure = None, True
        elif self._end_ns is not None:
            self._end_ns = at_ns
        if is_new or self._timer is None:
            self._wind()

    def ended(self, at_ns: int, *, is_sure: bool = True) -> None:
        """Note the end of the answer: from here on nothing is a fault.

        One that is not sure, since text may follow, is none before the first token; and none any
        more once text did follow one.
        """
        if is_sure or not self._has_doubts:
            self._is_sure = is_sure
        if is_sure or (self._token_ns is not None and not self._has_doubts):
            self._end_ns = at_ns
            self._wind()

    def refused(self, at_ns: int) -> None:
        """Note that the answer is a refusal, whose body is all that is still wanted."""
        self._refused_ns = at_ns
        self._wind()

    def stop(self) -> None:
        """Ring no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def due_ns(self) -> int:
        """Return the moment until which what comes counts."""
        return self._due()[0]

    @property
    def outcome(self) -> Outcome:
        """What it is when nothing has come until then."""
        return self._due()[1]

    def _due(self) -> tuple[int, Outcome]:
        """Return until when, and what it is then."""
        if self._end_ns is not None:
            return self._end_ns + AFTER_END_NS, Outcome.OK
        if self._refused_ns is not None:
            return self._refused_ns + ERROR_BODY_NS, Outcome.OK
        total = self._from_ns + round(self._limits.total_s * 1e9), Outcome.TIMEOUT_TOTAL
        if self._token_ns is None:
            first = self._from_ns + round(self._limits.first_token_s * 1e9)
            return min((first, Outcome.TIMEOUT_FIRST_TOKEN), total, key=lambda due: due[0])
        stall = self._token_ns + round(self._limits.stall_s * 1e9)
        return min((stall, Outcome.TIMEOUT_STALL), total, key=lambda due: due[0])

    def _wind(self) -> None:
        self.stop()
        self._timer = self._loop.call_at(self.due_ns() / 1e9, self._ring)

    def _ring(self) -> None:
        """Have the wire look at the limit, unless text has moved it since this was wound."""
        self._timer = None
        if monotonic_ns() < self.due_ns():
            self._wind()
        else:
            self._wire.wake()
