"""What is to be told, noted in table `notice` beside the incidents that it is read from."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from aggregator.db import Connection, Pool, queries, translated
from aggregator.incident_views import Incident, read_these
from aggregator.notify.decide import Told, due, silence_of, withdrawn
from aggregator.notify.grade import Grade, Kind, grade_of
from aggregator.silences import Silence, read_silences
from pacewatch.words.channel import Channel
from pacewatch.words.fleet import Fleet

NOTICE_LOCK = 8_420_004
"""Key of the advisory lock that one process holds while it decides what is due."""

_DAY_S = 86_400


def book(pool: Pool, fleet: Fleet, now: datetime) -> int:
    """Note what the channels are to be told now, in one transaction; return how many notices.

    Raises StoreError. Nothing is done while another process does it.
    """
    with translated(), pool.connection() as connection, connection.transaction():
        named = queries("notify")
        row = connection.execute(named["lock_notices"], {"key": NOTICE_LOCK}).fetchone()
        if row is None or not row["taken"]:
            return 0
        channels = [channel.name for channel in fleet.channels]
        connection.execute(named["give_up_unknown"], {"channels": channels, "now": now})
        if not channels:
            return 0
        rows = connection.execute(named["find_tellable"], {"now": now}).fetchall()
        incidents = read_these(connection, [row["incident_id"] for row in rows])
        told = read_told(connection, [incident.incident_id for incident in incidents])
        unended = read_silences(connection, now, ended=False)
        silences = [one for one in unended if one.starts_at <= now]
        return sum(
            _book_one(
                connection, fleet, incident, told.get(incident.incident_id, {}), silences, now
            )
            for incident in incidents
        )


def _book_one(  # noqa: PLR0913 - an incident, and all that decides about it
    connection: Connection,
    fleet: Fleet,
    incident: Incident,
    told: Mapping[str, Sequence[Told]],
    silences: Iterable[Silence],
    now: datetime,
) -> int:
    named, booked = queries("notify"), 0
    silence = silence_of(incident, silences)
    gone: tuple[int, ...] = ()
    for channel in fleet.channels:
        known = told.get(channel.name, ())
        gone += withdrawn(incident, known, silenced=silence is not None)
        kind = _due(fleet, incident, channel, known, now, silenced=silence is not None)
        if kind is None:
            continue
        connection.execute(
            named["insert_notice"],
            {
                "incident": incident.incident_id,
                "channel": channel.name,
                "kind": str(kind),
                "grade": int(grade_of(incident)),
                "now": now,
            },
        )
        booked += 1
    if gone:
        connection.execute(named["withdraw_notices"], {"notices": list(gone)})
    return booked


def _due(  # noqa: PLR0913 - what `due` asks, and the fleet
    fleet: Fleet,
    incident: Incident,
    channel: Channel,
    told: Sequence[Told],
    now: datetime,
    *,
    silenced: bool,
) -> Kind | None:
    hour_s = 3_600 * fleet.schedule.day_s / _DAY_S
    return due(incident, channel, told, now, silenced=silenced, hour_s=hour_s)


def read_told(connection: Connection, incidents: Sequence[int]) -> dict[int, dict[str, list[Told]]]:
    """Return the notices of these incidents, by incident and channel, in order."""
    found: dict[int, dict[str, list[Told]]] = {}
    rows = connection.execute(queries("notify")["select_told"], {"incidents": list(incidents)})
    for row in rows:
        told = Told(
            id=row["notice_id"],
            kind=Kind(row["kind"]),
            grade=Grade(row["grade"]),
            made_at=row["made_at"],
            waits=row["waits"],
            given_up=row["given_up"],
        )
        found.setdefault(row["incident_id"], {}).setdefault(row["channel"], []).append(told)
    return found
