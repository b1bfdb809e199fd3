"""JSON of the two wires: the task that names a run, and the record that tells it.

The worker writes records and reads tasks, the centre writes tasks. The centre reads records by
`aggregator.record`, since strangers write those.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pacewatch.words.endpoint import parse_endpoint_id
from pacewatch.words.errors import WireError
from pacewatch.words.figures import DEFINITION
from pacewatch.words.slot import Load, Purpose, Slot, from_rfc3339, to_rfc3339
from pacewatch.words.timing import Run, Timing

TASK_NAME = "pacewatch.probe"
VERSION = 1
"""Version of task and record."""

MAX_RUNS = 100
MAX_BATCH_BYTES = 8 * 1024 * 1024
"""Of a push, unpacked."""

_TASK_FIELDS = ("v", "run", "endpoint", "workload", "load", "slot_at", "purpose", "valid_until")
_NAME = re.compile(r"[a-z0-9._-]{1,64}")


def probe_queue(region: str) -> str:
    """Return the name of the region's queue."""
    return f"probe.{region}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a worker is asked: a known endpoint, by name; nothing else."""

    run_id: UUID
    endpoint: str
    workload: str
    load: Load
    slot_at: datetime
    purpose: Purpose
    valid_until: datetime


def encode_task(slot: Slot) -> dict[str, Any]:
    """Return the JSON of the task that asks for a slot's run."""
    return {
        "v": VERSION,
        "run": str(slot.run_id),
        "endpoint": slot.endpoint,
        "workload": slot.workload,
        "load": str(slot.load),
        "slot_at": to_rfc3339(slot.slot_at),
        "purpose": str(slot.purpose),
        "valid_until": to_rfc3339(slot.valid_until),
    }


def decode_task(raw: object) -> Task:
    """Return the task; raises WireError with what is wrong."""
    if not isinstance(raw, dict):
        raise WireError(f"task: a JSON object is needed, not {type(raw).__name__}")
    if raw.get("v") != VERSION:
        raise WireError(f"task: version {raw.get('v')!r:.40} is not known (known: {VERSION})")
    for name in _TASK_FIELDS[1:]:
        if not isinstance(raw.get(name), str) or len(raw[name]) > 300:
            raise WireError(f"task: {name} must be a string of at most 300 characters")
    if unknown := sorted(str(key)[:40] for key in raw.keys() - set(_TASK_FIELDS)):
        raise WireError(
            f"task: unknown field {unknown[0]!r} (a task names an endpoint and nothing more)"
        )
    if not _NAME.fullmatch(raw["workload"]):
        raise WireError("task: workload must be a name of a-z 0-9 . _ -")
    try:
        parse_endpoint_id(raw["endpoint"])
        return Task(
            run_id=UUID(raw["run"]),
            endpoint=raw["endpoint"],
            workload=raw["workload"],
            load=Load(raw["load"]),
            slot_at=from_rfc3339(raw["slot_at"]),
            purpose=Purpose(raw["purpose"]),
            valid_until=from_rfc3339(raw["valid_until"]),
        )
    except ValueError as error:
        raise WireError(f"task: {str(error)[:200]}") from error


def encode_run(run: Run) -> dict[str, Any]:
    """Return the run record as it is posted: what was seen, without any figure."""
    return {
        "v": VERSION,
        "definition": DEFINITION,
        "run": str(run.run_id),
        "execution": str(run.execution),
        "region": run.region,
        "worker": {
            "id": run.worker.id,
            "version": run.worker.version,
            "catalog": run.worker.catalog,
        },
        "endpoint": run.endpoint,
        "endpoint_hash": run.endpoint_hash,
        "workload": run.workload,
        "load": str(run.load),
        "simulated": run.simulated,
        "started_at": to_rfc3339(run.started_at),
        "declined": None if run.declined is None else str(run.declined),
        "beside": run.beside,
        "cost_usd": run.cost_usd,
        "requests": [_encode_timing(timing) for timing in run.timings],
    }


def _encode_timing(timing: Timing) -> dict[str, Any]:
    fault, told, limits = timing.fault, timing.provider_tokens, timing.limits
    times, link = timing.server_timings, timing.connection
    return {
        "n": timing.n,
        "outcome": str(timing.outcome),
        "error": None if fault is None else _columns(fault, "status", "type", "retry_after_s"),
        "flags": [str(flag) for flag in timing.flags],
        "connection": {
            **_columns(
                link, "reused", "dns_us", "connect_us", "tls_us", "via_proxy", "http", "retransmits"
            ),
            "rtt_us": list(link.rtt_us),
        },
        "sent_us": timing.sent_us,
        "headers_us": timing.headers_us,
        "end_us": timing.end_us,
        "stamp": str(timing.stamp),
        "chunks": {
            "at_us": list(timing.chunks.at_us),
            "bytes": list(timing.chunks.size_bytes),
            "tokens": list(timing.chunks.tokens),
            "kind": timing.chunks.kind,
        },
        "provider_tokens": None
        if told is None
        else _columns(told, "input", "output", "reasoning", "cached_input"),
        "server_timings": None
        if times is None
        else {
            **_columns(
                times, "queue_s", "prompt_s", "completion_s", "total_s", "ttft_s", "tokens_per_s"
            ),
            "as_told": dict(times.as_told),
        },
        "identity": _columns(timing.identity, "model", "fingerprint", "tier", "request_id"),
        "limits": None if limits is None else _columns(limits, *limits.__slots__),
        "finish": timing.finish,
    }


def _columns(value: object, *names: str) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}
