"""What else happened around an incident, as lines of its timeline, each once."""

from datetime import datetime, timedelta

from aggregator.db import Connection
from aggregator.incident_rows import Incidents
from aggregator.silences import covers

LEAD_S = 3 * 3600
"""What happened so long before trouble began may have to do with it, seconds of a whole day."""


def annotate(connection: Connection, day_s: float, now: datetime) -> None:
    """Add what the provider changed, new versions of our workers, and silences."""
    incidents = Incidents(connection, now)
    lead = timedelta(seconds=LEAD_S * day_s / 86_400)
    with connection.transaction():
        incidents.lock()
        incidents.run("note_changes", lead=lead)
        (open_,) = incidents.rows("find_earliest")
        if open_["since"] is not None:
            incidents.run("note_versions", lead=lead, earliest=open_["since"] - 8 * lead)
        for row in incidents.rows("find_unsaid_silences"):
            if covers(row["endpoints"], row["gathered"]):
                by = f" by {row['made_by']}" if row["made_by"] else ""
                told = f"silenced{by} until {row['ends_at']:%Y-%m-%d %H:%M} UTC: {row['why']}"
                incidents.event(row["incident_id"], "silenced", told, row["starts_at"])
