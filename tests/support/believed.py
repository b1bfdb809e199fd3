"""What a judge would have written of the fleet of `support.boards`: verdicts and incidents."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from aggregator.db import Connection
from support.seed import insert

SLOW = {"speed_ratio": 2.12, "speed_ratio_low": 1.94, "speed_ratio_high": 2.31}
USUAL = {
    "ttft_ratio": 1.02,
    "ttft_ratio_low": 0.93,
    "ttft_ratio_high": 1.11,
    "speed_ratio": 0.99,
    "speed_ratio_low": 0.95,
    "speed_ratio_high": 1.04,
}
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


def add_verdict(
    connection: Connection, endpoint: str, verdict: str, now: datetime, **fields: Any
) -> None:
    """Add a verdict, of the endpoint over all regions unless said otherwise."""
    row = {
        "endpoint": endpoint,
        "region": "",
        "verdict": verdict,
        "since": now - HOUR,
        "judged_at": now - timedelta(seconds=2),
    }
    insert(connection, "verdict", row | fields)


def forget(connection: Connection) -> None:
    """Take out all that judging wrote, so that tests may share a database."""
    connection.execute(
        "truncate incident, incident_endpoint, incident_event, confirm_order, notice, silence,"
        " judgement, verdict"
    )


def add_judgement(connection: Connection, endpoint: str, now: datetime, **fields: Any) -> None:
    """Add that an endpoint has been judged."""
    row = {"endpoint": endpoint, "judged_at": now - 20 * MINUTE}
    insert(connection, "judgement", row | fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A confirming probe that an incident ordered."""

    run_id: UUID
    endpoint: str
    region: str
    ordered_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A line of an incident's timeline."""

    at: datetime
    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """An incident as a judge would have made it; `fields` are columns of its row."""

    fields: dict[str, Any]
    endpoints: Sequence[dict[str, Any]] = ()
    events: Sequence[Event] = ()
    probes: Sequence[Probe] = field(default=())


def add_incident(connection: Connection, made: Made, now: datetime) -> int:
    """Add an incident with all that hangs on it; return its number."""
    row = {
        "provider": "groq",
        "region": "",
        "trouble": "output_speed",
        "class": "provider",
        "state": "confirmed",
        "importance": "notify",
        "simulated": True,
        "since": now - HOUR,
        "opened_at": now - 50 * MINUTE,
        "confirmed_at": now - 45 * MINUTE,
        "speaks_for": [],
        "speaks_against": [],
    } | made.fields
    names, values = ", ".join(row), ", ".join(f"%({name})s" for name in row)
    query = f"insert into incident ({names}) values ({values}) returning incident_id"
    found = connection.execute(query, row).fetchone()
    assert found is not None
    number = int(found["incident_id"])
    for endpoint in made.endpoints:
        one = {"trouble": row["trouble"], "since": row["since"], **endpoint}
        insert(connection, "incident_endpoint", {"incident_id": number, **one})
    for event in made.events:
        told = {"at": event.at, "kind": event.kind, "text": event.text}
        insert(connection, "incident_event", {"incident_id": number, **told})
    for probe in made.probes:
        ordered = {name: getattr(probe, name) for name in ("run_id", "endpoint", "region")}
        row = {"incident_id": number, "ordered_at": probe.ordered_at, **ordered}
        insert(connection, "confirm_order", row)
    return number


def halved(now: datetime, **fields: Any) -> Made:
    """Groq's halved speed, confirmed and open."""
    endpoint = {
        "endpoint": "groq/gpt-oss-120b",
        "ratio": 2.12,
        "ratio_low": 1.94,
        "ratio_high": 2.31,
    }
    return Made(
        fields={
            "speaks_for": [
                "slow in two of the two regions that were asked",
                "other endpoints of these regions are as always",
            ],
            "speaks_against": ["connect times are as always"],
            **fields,
        },
        endpoints=[endpoint],
        events=[
            Event(at=now - 50 * MINUTE, kind="suspected", text="output speed in eu-west is low"),
            Event(at=now - 49 * MINUTE, kind="probes", text="3 confirming probes from two regions"),
            Event(
                at=now - 45 * MINUTE,
                kind="confirmed",
                text="output speed is 2.1 times slower than usual",
            ),
        ],
        probes=[
            Probe(
                run_id=UUID(int=number),
                endpoint="groq/gpt-oss-120b",
                region=region,
                ordered_at=now - 49 * MINUTE,
            )
            for number, region in ((1, "eu-west"), (2, "us-east"))
        ],
    )


STORY = (
    ("changed", "groq/gpt-oss-120b: fingerprint is now fp_2, was fp_1"),
    ("worker", "workers of eu-west: now version 0.2.0"),
    ("suspected", "groq/gpt-oss-120b from eu-west: output 1.9 times slower than usual"),
    ("probes", "groq/gpt-oss-120b: confirming probes ordered from eu-west, us-east"),
    ("confirmed", "groq/gpt-oss-120b: output 2.1 times slower than usual"),
    ("class", "provider: other regions see it too"),
    ("notified", "told ops: opened"),
    ("acknowledged", "acknowledged by ana"),
    ("silenced", "silenced by ana until 2026-12-02 14:00 UTC: they work on it"),
    ("eased", "as usual again"),
    ("closed", "as usual for long enough"),
)
"""What happened in an incident from its beginning to its end: kinds and texts."""


def storied(now: datetime) -> Made:
    """An incident in which all of STORY has happened, five minutes apart, up to now."""
    began = now - 5 * MINUTE * (len(STORY) - 1)
    return Made(
        fields={"state": "closed", "ended_at": now, "since": began, "opened_at": began},
        endpoints=[{"endpoint": "groq/gpt-oss-120b", "ratio": 2.1, "eased_at": now}],
        events=[
            Event(at=began + 5 * MINUTE * number, kind=kind, text=text)
            for number, (kind, text) in enumerate(STORY)
        ],
    )


def cold_path(now: datetime) -> Made:
    """A path of one region that was slow yesterday, and closed."""
    return Made(
        fields={
            "provider": "deepinfra",
            "region": "us-east",
            "trouble": "first_token",
            "class": "region_path",
            "state": "closed",
            "importance": "watch",
            "since": now - 26 * HOUR,
            "opened_at": now - 25 * HOUR,
            "confirmed_at": now - 24 * HOUR,
            "eased_at": now - 20 * HOUR,
            "ended_at": now - 14 * HOUR,
            "acknowledged_at": now - 23 * HOUR,
        },
        endpoints=[
            {
                "endpoint": "deepinfra/gpt-oss-120b",
                "ratio": 3.4,
                "ratio_low": None,
                "ratio_high": None,
                "eased_at": now - 20 * HOUR,
            }
        ],
        events=[Event(at=now - 14 * HOUR, kind="closed", text="as usual for six hours")],
    )


def unsure(now: datetime) -> Made:
    """A suspicion that nothing came of."""
    return Made(
        fields={
            "provider": "cerebras",
            "class": "unknown",
            "state": "cleared",
            "importance": "page",
            "trouble": "failures",
            "since": now - 3 * HOUR,
            "opened_at": now - 3 * HOUR,
            "confirmed_at": None,
            "ended_at": now - 170 * MINUTE,
        },
        endpoints=[{"endpoint": "cerebras/gpt-oss-120b"}],
        events=[Event(at=now - 170 * MINUTE, kind="cleared", text="three probes were good")],
    )


def believe(connection: Connection, now: datetime) -> dict[str, int]:
    """Write what is believed of the fleet at `now`; return its incidents by name."""
    connection.execute("update store set judged_at = %s", (now - timedelta(seconds=2),))
    for endpoint in ("cerebras/gpt-oss-120b", "own/gpt-oss-120b@fp8#lab"):
        add_judgement(connection, endpoint, now)
        for region in ("", "eu-west", "us-east"):
            add_verdict(connection, endpoint, "ok", now, region=region, **USUAL)
    add_judgement(connection, "groq/gpt-oss-120b", now)
    for region, verdict in (("", "slow"), ("eu-west", "slow"), ("us-east", "failing")):
        add_verdict(connection, "groq/gpt-oss-120b", verdict, now, region=region, **(USUAL | SLOW))
    add_judgement(connection, "deepinfra/gpt-oss-120b", now)
    add_verdict(connection, "deepinfra/gpt-oss-120b", "ok", now, **USUAL)
    add_verdict(connection, "deepinfra/gpt-oss-120b", "ok", now, region="eu-west", **USUAL)
    silent = {"region": "us-east", "silent_since": now - 14 * MINUTE}
    add_verdict(connection, "deepinfra/gpt-oss-120b", "silent", now, **silent)
    add_judgement(connection, "zai/glm-5.2", now)
    for region in ("", "eu-west"):
        add_verdict(connection, "zai/glm-5.2", "learning", now, region=region)
    made = {"path": cold_path(now), "cleared": unsure(now), "halved": halved(now)}
    return {name: add_incident(connection, one, now) for name, one in made.items()}
