"""What may come out of the queue `central`: the name of a tick, and nothing else.

Celery trusts its broker: a message may name callbacks, a chain, a moment to run at, and a line that
is no message ends the worker. Here every message is made anew from the one name that was
understood, and whatever else lies in the queue is one sentence in the log.
"""

import base64
import json
import logging
from typing import Any
from uuid import uuid4

from kombu.transport import redis as kombu_redis

from pacewatch import log
from pacewatch.queue import ClosedChannel

logger = logging.getLogger(__name__)

DISPATCH = "pacewatch.dispatch"
UPKEEP = "pacewatch.upkeep"
JUDGE = "pacewatch.judge"
NOTIFY = "pacewatch.notify"
TICKS = frozenset({DISPATCH, UPKEEP, JUDGE, NOTIFY})
"""Every task of the central worker, by name."""

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


class TickChannel(ClosedChannel):
    """The queue `central`."""

    def refuse(self, reason: str) -> None:
        """Log it."""
        refuse(reason)


class ClosedTransport(kombu_redis.Transport):
    """Delivers known ticks, made anew, and no other message."""

    Channel = TickChannel

    def _deliver(self, message: object, queue: str) -> None:
        tick = tick_named(message)
        if tick is None:
            refuse(f"the message names no tick (known: {', '.join(sorted(TICKS))})")
        else:
            super()._deliver(make_message(tick, queue), queue)


def refuse(reason: str) -> None:
    """Log that something in the queue was refused."""
    log.event(logger, "tick.refused", level=logging.WARNING, reason=reason)
