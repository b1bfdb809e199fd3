"""Logging: one JSON line an event on standard error. The fields are the words; no key is logged.

An event is named `area.happened` and carries its facts as fields:
`log.event(logger, "push.refused", run=run_id, reason=reason)`.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

_FORBIDDEN = frozenset({"key", "token", "password", "secret", "authorization", "prompt", "text"})


def set_up(process: str, *, level: int = logging.INFO) -> None:
    """Send this process's log to standard error, as JSON lines that name the process."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLine(process))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for noisy in ("httpx2", "httpcore2", "kombu", "celery.bootsteps", "amqp", "uvicorn.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def event(logger: logging.Logger, name: str, *, level: int = logging.INFO, **facts: Any) -> None:
    """Log one event; raises ValueError for a field that could hold a secret or a prompt."""
    if forbidden := _FORBIDDEN & facts.keys():
        raise ValueError(f"log event {name}: field {sorted(forbidden)[0]} may hold a secret")
    logger.log(level, name, extra={"facts": facts})


class _JsonLine(logging.Formatter):
    """One record as one line of JSON."""

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "process": self._process,
            "event": record.getMessage(),
        }
        line |= getattr(record, "facts", {})
        if record.exc_info:
            line["fault"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)
