"""Slots that stand in a real store, and the records that answer them."""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from aggregator import db
from aggregator.admission import Result
from aggregator.ingest import accept
from pacewatch.words.slot import RUN_NAMESPACE, Load, Purpose, Slot, run_id, slot_key
from pacewatch.words.timing import Chunks, Timing
from pacewatch.words.wire import encode_run
from support.timings import make_run, make_timing

NOON = datetime(2026, 12, 2, 12, tzinfo=UTC)
"""The moment that tests of the store stand at."""

ENDPOINT, REGION, WORKLOAD = "groq/gpt-oss-120b", "eu-west", "short"


def hash_of(endpoint: str, workload: str) -> str:
    """The hash that the store of a test knows this question by."""
    return hashlib.sha256(f"{endpoint} {workload}".encode()).hexdigest()[:16]


def make_slot(slot_at: datetime = NOON, **fields: Any) -> Slot:
    """A slot of the endpoint's single series, unless said; its id is derived as the centre does."""
    values: dict[str, Any] = {
        "endpoint": ENDPOINT,
        "region": REGION,
        "workload": WORKLOAD,
        "load": Load.SINGLE,
        "purpose": Purpose.SCHEDULED,
        "slot_at": slot_at,
        "valid_until": slot_at + timedelta(minutes=30),
    } | fields
    named = {name: values[name] for name in ("purpose", "endpoint", "region", "workload", "load")}
    return Slot(run_id=run_id(at=slot_key(slot_at), **named), **values)


def plan(connection: db.Connection, *slots: Slot, state: str = "sent") -> None:
    """Put slots, and the questions they ask, into the store."""
    asked = {(slot.endpoint, slot.workload) for slot in slots}
    with connection.cursor() as cursor:
        cursor.executemany(
            "insert into slot (run_id, endpoint, region, workload, load, purpose, slot_at,"
            " valid_until, state) values (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [
                (
                    slot.run_id,
                    slot.endpoint,
                    slot.region,
                    slot.workload,
                    str(slot.load),
                    str(slot.purpose),
                    slot.slot_at,
                    slot.valid_until,
                    state,
                )
                for slot in slots
            ],
        )
        cursor.executemany(
            "insert into endpoint_version (endpoint_hash, endpoint, workload, first_seen_at)"
            " values (%s, %s, %s, %s) on conflict do nothing",
            [(hash_of(*question), *question, NOON) for question in asked],
        )


def record_of(slot: Slot, *timings: Timing, name: str = "first", **fields: Any) -> dict[str, Any]:
    """The record of an execution of the slot: one good request, unless said, or ten.

    Another `name` is another execution.
    """
    if not timings and "declined" not in fields:
        timings = tuple(make_timing(n=n) for n in range(1 if slot.load is Load.SINGLE else 10))
    run = make_run(
        *timings,
        **{
            "run_id": slot.run_id,
            "execution": UUID(int=uuid5(RUN_NAMESPACE, f"{slot.run_id} {name}").int, version=4),
            "region": slot.region,
            "endpoint": slot.endpoint,
            "endpoint_hash": hash_of(slot.endpoint, slot.workload),
            "workload": slot.workload,
            "load": slot.load,
            "simulated": True,
            "timings": timings,
        }
        | fields,
    )
    return encode_run(run)


def timed(ttft_ms: float, tokens_per_s: float = 50.0, **fields: Any) -> Timing:
    """A good request of 21 chunks: first token and speed as said."""
    at_ms = [ttft_ms + n * 1000 / tokens_per_s for n in range(21)]
    chunks = Chunks(
        at_us=tuple(round(ms * 1000) for ms in at_ms),
        size_bytes=(4,) * 21,
        tokens=(1,) * 21,
        kind="a" * 21,
    )
    return make_timing(chunks, **({"end_us": round(at_ms[-1] * 1000)} | fields))


def push(
    pool: db.Pool, *records: object, region: str = REGION, now: datetime = NOON, **fields: Any
) -> list[Result]:
    """Take the records in as one batch."""
    return accept(pool, list(records), region=region, now=now, **fields)


def statuses(results: list[Result]) -> list[str]:
    """The words of the answers, in order."""
    return [str(result.status) for result in results]
