"""Incidents for the tests of telling, as values and as rows of a store."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from aggregator.incident_views import Incident, Part
from pacewatch.words.endpoint import Importance
from pacewatch.words.verdict import Blame, Trouble

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


def make_part(endpoint="groq/gpt-oss-120b", trouble=Trouble.OUTPUT_SPEED, ratio=2.04, **rest):
    given = ratio is not None
    made = Part(
        incident_id=12,
        endpoint=endpoint,
        trouble=trouble,
        ratio=ratio,
        ratio_low=ratio - 0.2 if given else None,
        ratio_high=ratio + 0.3 if given else None,
        since=NOON - 25 * MINUTE,
        eased_at=None,
    )
    return replace(made, **rest)


def make_incident(*parts, **rest):
    made = Incident(
        incident_id=12,
        provider="groq",
        region="",
        trouble=Trouble.OUTPUT_SPEED,
        blame=Blame.PROVIDER,
        state="confirmed",
        importance=Importance.PAGE,
        simulated=False,
        since=NOON - 25 * MINUTE,
        opened_at=NOON - 12 * MINUTE,
        confirmed_at=NOON - 11 * MINUTE,
        eased_at=None,
        ended_at=None,
        acknowledged_at=None,
        unusual_end=None,
        speaks_for=("3 of 3 regions are slow", "5 of 6 confirming probes were slow"),
        speaks_against=("gpt-oss-120b at cerebras is as usual",),
        parts=parts or (make_part(),),
    )
    return replace(made, **rest)


def insert_incident(connection, incident):
    """Put an incident into the store; return its id there."""
    row = connection.execute(
        "insert into incident (provider, region, trouble, class, state, importance, simulated,"
        " since, opened_at, confirmed_at, speaks_for) values"
        " (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) returning incident_id",
        (
            *(incident.provider, incident.region, incident.trouble, incident.blame),
            *(incident.state, incident.importance, incident.simulated, incident.since),
            *(incident.opened_at, incident.opened_at, list(incident.speaks_for)),
        ),
    ).fetchone()
    for one in incident.parts:
        connection.execute(
            "insert into incident_endpoint (incident_id, endpoint, trouble, ratio, ratio_low,"
            " ratio_high, since) values (%s, %s, %s, %s, %s, %s, %s)",
            (
                *(row["incident_id"], one.endpoint, one.trouble),
                *(one.ratio, one.ratio_low, one.ratio_high, incident.since),
            ),
        )
    return row["incident_id"]
