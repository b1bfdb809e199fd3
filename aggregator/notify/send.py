"""Sends the notices that are due, each noted as sent in the transaction that holds its row.

A notice is told at least once: a process that is killed after a service took the message and before
the commit leaves it to be sent again. That it began to send was committed before, so the message
says then that it may be a repetition; it has the same key as the one before, by which services that
know keys drop it.
"""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from aggregator.db import Connection, Pool, queries, translated
from aggregator.incident_views import Incident, read_these
from aggregator.notify.book import read_told
from aggregator.notify.courier import Courier, Parcel, may_have_come
from aggregator.notify.decide import known_grade
from aggregator.notify.grade import Grade, Kind, grade_of, key_of
from aggregator.notify.text import Message, message_of
from pacewatch import log
from pacewatch.secret import read_secret
from pacewatch.words.channel import Channel
from pacewatch.words.errors import SettingsError
from pacewatch.words.fleet import Fleet

logger = logging.getLogger(__name__)

FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(minutes=15)
"""The pause after a try that failed doubles from the first to the longest."""

GIVEN_UP_AFTER = timedelta(hours=24)
"""A notice that nobody took for so long is given up."""

TICK_S = 20.0
"""A tick claims no further notice after so long, seconds; the next goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """What a service may know a message by, the same however often it is sent."""

    incident: str
    message: str


@dataclass(slots=True)
class Sent:
    """What one tick did, committed."""

    sent: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    """By channel why it took nothing; it is left alone for the rest of the tick."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What notices are sent with."""

    fleet: Fleet
    environment: Mapping[str, str]
    """Where the addresses of the channels are."""
    courier: Courier
    clock: Callable[[], datetime]


def send_due(pool: Pool, means: Means) -> Sent:
    """Send what is due; raises StoreError."""
    done = Sent()
    channels = {channel.name: channel for channel in means.fleet.channels}
    if _has_due(pool, sorted(channels), means.clock()):
        means.courier.start()  # while no row is held
    end = time.monotonic() + TICK_S
    while (asked := sorted(channels.keys() - done.failed.keys())) and time.monotonic() < end:
        with translated(), pool.connection() as connection:
            row = _begin(connection, asked, means.clock())
            if row is None:
                return done
            with connection.transaction():
                if not _holds(connection, row):
                    continue
                why = _send(connection, row, channels[row["channel"]], means)
        if why is None:
            done.sent += 1
        else:
            done.failed[row["channel"]] = why
    return done


def _has_due(pool: Pool, channels: list[str], now: datetime) -> bool:
    with translated(), pool.connection() as connection:
        row = connection.execute(
            queries("notify")["has_due"], {"now": now, "channels": channels}
        ).fetchone()
    return row is not None and bool(row["due"])


def _begin(connection: Connection, channels: list[str], now: datetime) -> dict[str, Any] | None:
    """Note, and commit, that the next notice is being sent; None where none is due."""
    with connection.transaction():
        return connection.execute(
            queries("notify")["claim_notice"], {"now": now, "channels": channels}
        ).fetchone()


def _holds(connection: Connection, row: Mapping[str, Any]) -> bool:
    """Hold the notice to the end of the transaction; False where it is not ours any more."""
    ours = {"notice": row["notice_id"], "sending_at": row["sending_at"]}
    return connection.execute(queries("notify")["hold_notice"], ours).fetchone() is not None


def _send(
    connection: Connection, row: Mapping[str, Any], channel: Channel, means: Means
) -> str | None:
    """Send one notice and note what came of it; return why it was not taken."""
    (incident,) = read_these(connection, [row["incident_id"]])
    kind = Kind(row["kind"])
    told = read_told(connection, [incident.incident_id])[incident.incident_id][channel.name]
    before = known_grade(one for one in told if not one.waits and one.id < row["notice_id"])
    message = message_of(
        incident,
        kind,
        means.clock(),
        news=grade_of(incident) & ~before,
        made_at=row["made_at"],
        ended_as=_other_end(connection, incident) if kind is Kind.CLOSED else None,
        board_url=board_url(means.fleet, means.environment),
        repeats=row["repeats"],
    )
    keys = Keys(incident=key_of(incident), message=f"{key_of(incident)}-{row['notice_id']}")
    why = bring(means, channel, message, type_of(incident, kind), keys)
    if why is None:
        _note_sent(connection, row, before | grade_of(incident), means.clock())
    else:
        _note_failed(connection, row, why, means.clock())
    return why


def _other_end(connection: Connection, incident: Incident) -> str | None:
    row = connection.execute(
        queries("notify")["select_other_end"], {"incident": incident.incident_id}
    ).fetchone()
    return None if row is None else str(row["text"])


def bring(
    means: Means, channel: Channel, message: Message, type_: str, keys: Keys | None
) -> str | None:
    """Send a message to a channel; return why it was not taken, without its address."""
    try:
        url = read_secret(channel.url_env, means.environment)
    except SettingsError as error:
        return str(error)
    if url is None:
        return f"{channel.url_env} is not set"
    return means.courier.bring(
        Parcel(
            url=url,
            title=message.title,
            body=message.body,
            type=type_,
            key=None if keys is None else keys.incident,
            message_key=None if keys is None else keys.message,
            proxy_url=channel.proxy_url,
        )
    )


def board_url(fleet: Fleet, environment: Mapping[str, str]) -> str | None:
    """Return where people find the board: as the file says, else as the environment does."""
    url = fleet.centre.url or environment.get("PACEWATCH_AGGREGATOR_URL") or None
    return None if url is None else url.rstrip("/")


def type_of(incident: Incident, kind: Kind) -> str:
    """Return what apprise is told of a message: `success` closes what the others opened."""
    if kind is Kind.CLOSED:
        return "success"
    return "failure" if incident.pages else "warning"


def _note_sent(connection: Connection, row: Mapping[str, Any], grade: Grade, now: datetime) -> None:
    connection.execute(
        queries("notify")["note_sent"],
        {"notice": row["notice_id"], "grade": int(grade), "now": now},
    )
    again = ", perhaps for the second time" if row["repeats"] else ""
    _note_event(connection, row, f"told {row['channel']}: {row['kind']}{again}", now)
    log.event(
        logger,
        "notice.sent",
        incident=row["incident_id"],
        channel=row["channel"],
        kind=row["kind"],
        tries=row["tries"] + 1,
    )


def _note_failed(connection: Connection, row: Mapping[str, Any], why: str, now: datetime) -> None:
    tries = row["tries"] + 1
    given_up = now - row["made_at"] >= GIVEN_UP_AFTER
    connection.execute(
        queries("notify")["note_failed"],
        {
            "notice": row["notice_id"],
            "due_at": now + pause_after(tries),
            "error": why,
            "given_up_at": now if given_up else None,
            "unsure": may_have_come(why),
        },
    )
    if given_up:
        hours = GIVEN_UP_AFTER.total_seconds() / 3_600
        what = f"{row['channel']} could not be told in {hours:g} h ({row['kind']}): {why}"
        _note_event(connection, row, what, now)
    log.event(
        logger,
        "notice.given_up" if given_up else "notice.failed",
        level=logging.ERROR if given_up else logging.WARNING,
        incident=row["incident_id"],
        channel=row["channel"],
        kind=row["kind"],
        tries=tries,
        why=why,
    )


def _note_event(connection: Connection, row: Mapping[str, Any], text: str, now: datetime) -> None:
    connection.execute(
        queries("notify")["insert_event"],
        {"incident": row["incident_id"], "kind": "notified", "text": text, "now": now},
    )


def pause_after(tries: int) -> timedelta:
    """Return how long to wait after so many tries that failed."""
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(tries - 1, 20))
