"""What the centre says of the fleet, asked over HTTP: who has finished work lately.

A live process proves little: loops hang. The dispatcher's latest finished tick and a region's
latest heartbeat are work that came through.
"""

import http.client
import json
import time
from datetime import datetime, timedelta
from typing import Any

FRESH = timedelta(seconds=45)
"""A tick or a heartbeat within this time is a sign of life."""

_ANSWER_S = 2.0
_KEPT_S = 0.5


class Pulse:
    """The latest status of the centre, asked for again when it is half a second old."""

    def __init__(self, aggregator_url: str, *, fresh: timedelta = FRESH) -> None:
        """Keep where to ask, and how old a sign of life may be."""
        self._url = aggregator_url
        self._fresh = fresh
        self._asked_at = float("-inf")
        self._status: dict[str, Any] = {}

    def is_serving(self) -> bool:
        """Tell whether the aggregator answers and its store does."""
        return _get(self._url, "/readyz") is not None

    def is_alive(self) -> bool:
        """Tell whether the aggregator answers, whatever its store does."""
        return _get(self._url, "/livez") is not None

    def has_ticked(self) -> bool:
        """Tell whether beat and central worker have finished a tick lately."""
        return self._is_fresh(self._now().get("ticked_at"))

    def has_reported(self, region: str) -> bool:
        """Tell whether a worker of the region has reported lately."""
        found = {one["region"]: one["last_seen_at"] for one in self._now().get("regions", ())}
        return self._is_fresh(found.get(region))

    def is_unknown(self) -> bool:
        """Tell whether the centre cannot be asked, so nothing is known of anybody."""
        return not self._now()

    def _now(self) -> dict[str, Any]:
        if time.monotonic() - self._asked_at > _KEPT_S:
            self._status = _get(self._url, "/api/status") or {}
            self._asked_at = time.monotonic()
        return self._status

    def _is_fresh(self, moment: str | None) -> bool:
        if moment is None:
            return False
        now = datetime.fromisoformat(self._status["at"])
        return now - datetime.fromisoformat(moment) <= self._fresh


def _get(url: str, path: str) -> dict[str, Any] | None:
    """Return the JSON of a 200; None for any other answer and for none within two seconds."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=_ANSWER_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        told = json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return told if answer.status == 200 and isinstance(told, dict) else None
