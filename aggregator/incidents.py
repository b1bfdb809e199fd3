"""Incidents as people and time change them: in hand, accepted, closed. The judge makes them."""

from collections.abc import Set
from datetime import datetime, timedelta

from aggregator.db import Connection
from aggregator.detect.away import FORGOTTEN_AFTER_S
from aggregator.incident_rows import Incidents
from pacewatch.words.verdict import UNUSUAL_ENDS, UnusualEnd

EASE_LASTS_S = FORGOTTEN_AFTER_S
"""An ease must last for so long before an incident closes, in seconds of a whole day."""

_LEFT = "its endpoints are no longer probed"


def acknowledge(connection: Connection, incident_id: int, now: datetime, by: str = "") -> bool:
    """Note that somebody has an incident in hand; False where it is not open or has been noted."""
    incidents = Incidents(connection, now)
    incidents.lock()
    if not incidents.rows("note_acknowledged", incident=incident_id):
        return False
    incidents.event(incident_id, "acknowledged", f"acknowledged by {by}" if by else "acknowledged")
    return True


def accept(connection: Connection, incident_id: int, now: datetime, by: str = "") -> bool:
    """Have the judge take the level of an incident's endpoints as the usual one, within seconds.

    False where the incident is not open, or nothing in it is slow.
    """
    incidents = Incidents(connection, now)
    if not incidents.rows("ask_to_accept", incident=incident_id):
        return False
    who = f" by {by}" if by else ""
    incidents.event(incident_id, "accepted", f"accepted{who}: the level of now is the usual one")
    return True


def close_lasting(connection: Connection, endpoints: Set[str], day_s: float, now: datetime) -> None:
    """Close what has eased for long enough; endpoints that are not probed any more are eased."""
    incidents = Incidents(connection, now)
    lasts = timedelta(seconds=EASE_LASTS_S * day_s / 86_400)
    with connection.transaction():
        incidents.lock()
        left = incidents.rows("ease_others", endpoints=sorted(endpoints))
        for incident in sorted({row["incident_id"] for row in left}):
            incidents.settle(incident, "unconfirmed", _LEFT, unusual=UnusualEnd.LEFT)
        for row in incidents.rows("find_lasting", before=now - lasts):
            unusual = row["unusual_end"]
            why = UNUSUAL_ENDS[UnusualEnd(unusual)] if unusual else "as usual for long enough"
            incidents.close(row["incident_id"], why)
