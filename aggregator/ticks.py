"""What may come out of the queue `central`: the name of a tick, and nothing else.

Celery trusts its broker: a message may name callbacks, a chain, a moment to run at, and a line that
is no message ends the worker. Here every message is made anew from the one name that was
understood, and whatever else lies in the queue is one sentence in the log.
"""

import base64
import json
import logging
import time
from typing import Any
from uuid import uuid4

from kombu.transport import redis as kombu_redis
from kombu.transport.virtual.base import Empty

from pacewatch import log

logger = logging.getLogger(__name__)

DISPATCH = "pacewatch.dispatch"
UPKEEP = "pacewatch.upkeep"
JUDGE = "pacewatch.judge"
NOTIFY = "pacewatch.notify"
TICKS = frozenset({DISPATCH, UPKEEP, JUDGE, NOTIFY})
"""Every task of the central worker, by name."""

UNREADABLE = (ValueError, TypeError, AttributeError, ArithmeticError, LookupError, RecursionError)
"""What reading a line that is no message can raise."""

_NOTHING = base64.b64encode(json.dumps([[], {}, {}]).encode()).decode()


def tick_named(message: object) -> str | None:
    """Return the tick that a message names; None where it names none."""
    headers = message.get("headers") if isinstance(message, dict) else None
    name = headers.get("task") if isinstance(headers, dict) else None
    return name if isinstance(name, str) and name in TICKS else None


def make_message(tick: str, queue: str) -> dict[str, Any]:
    """Return the message of a tick as Celery reads it: without arguments or options."""
    mark = str(uuid4())
    return {
        "body": _NOTHING,
        "content-type": "application/json",
        "content-encoding": "utf-8",
        "headers": {"lang": "py", "task": tick, "id": mark, "argsrepr": "()", "kwargsrepr": "{}"},
        "properties": {
            "correlation_id": mark,
            "delivery_tag": mark,
            "delivery_info": {"exchange": "", "routing_key": queue},
            "body_encoding": "base64",
        },
    }


class ClosedChannel(kombu_redis.Channel):
    """A channel that a line which is no message cannot end; what it took is not put back."""

    do_restore = False
    heard_at = 0.0
    """When the broker last answered, by the monotonic clock, seconds."""

    def _brpop_read(self, **options: Any) -> Any:
        self.heard_at = time.monotonic()
        try:
            return super()._brpop_read(**options)
        except UNREADABLE as error:
            refuse(f"the line in the queue is no message ({type(error).__name__})")
            raise Empty from error


class ClosedTransport(kombu_redis.Transport):
    """Delivers known ticks, made anew, and no other message."""

    Channel = ClosedChannel

    def _deliver(self, message: object, queue: str) -> None:
        tick = tick_named(message)
        if tick is None:
            refuse(f"the message names no tick (known: {', '.join(sorted(TICKS))})")
        else:
            super()._deliver(make_message(tick, queue), queue)


def refuse(reason: str) -> None:
    """Log that something in the queue was refused."""
    log.event(logger, "tick.refused", level=logging.WARNING, reason=reason)
