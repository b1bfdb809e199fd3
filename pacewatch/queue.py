"""A queue whose broker is not trusted: a line that is no message ends nothing, and a broker that
was asked and says nothing is connected to anew.
"""

import time
from typing import Any

from kombu.transport import redis as kombu_redis
from kombu.transport.virtual.base import Empty
from redis.exceptions import ConnectionError as BrokerSilent

SILENCE_S = 60.0
"""A broker that was asked and did not answer for this long is connected to anew, seconds."""

UNREADABLE = (ValueError, TypeError, AttributeError, ArithmeticError, LookupError, RecursionError)
"""What reading a line that is no message can raise."""


class ClosedChannel(kombu_redis.Channel):
    """A channel that a line which is no message cannot end, and that notes when it heard of the
    broker. What it took and nobody began is not put back.
    """

    do_restore = False
    heard_at = 0.0
    """By the monotonic clock, seconds."""

    def refuse(self, reason: str) -> None:
        """Say that something in the queue was refused."""
        raise NotImplementedError

    def listen(self) -> None:
        """Begin to wait for the broker: it has all the time there is."""
        self.heard_at = time.monotonic()

    def check(self) -> None:
        """Raise where the broker was asked and has been silent for too long."""
        now = time.monotonic()
        if not self.qos.can_consume():
            self.heard_at = now
        elif now - self.heard_at > SILENCE_S:
            raise BrokerSilent(f"no word from the broker for {SILENCE_S:.0f} s")

    def _brpop_read(self, **options: Any) -> Any:
        self.heard_at = time.monotonic()
        try:
            return super()._brpop_read(**options)
        except UNREADABLE as error:
            self.refuse(f"the line in the queue is no message ({type(error).__name__})")
            raise Empty from error
