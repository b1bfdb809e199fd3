"""One run of the real probe, against whatever serves."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from pacewatch.words.endpoint import Auth, Endpoint, Limits, Precision, Protocol
from pacewatch.words.fleet import Region
from pacewatch.words.slot import WORKLOADS, Load, Purpose, Workload
from pacewatch.words.timing import Run, Timing, WorkerName
from pacewatch.words.wire import Task
from probe.keys import Key
from probe.reading import Reading
from probe.run import make_run

QUICK = Limits(connect_s=5, first_token_s=5, stall_s=5, total_s=10)
"""Limits that no good answer of a test meets."""

READING = Reading()
"""The reader process of all tests."""


def own_endpoint(base_url: str, **fields: Any) -> Endpoint:
    """An endpoint of one's own at that address."""
    values: dict[str, Any] = {
        "id": "own/tide-1",
        "provider": "own",
        "provider_name": "Own",
        "model": "tide-1",
        "provider_model": "tide-1",
        "precision": Precision.UNKNOWN,
        "protocol": Protocol.OPENAI_CHAT,
        "auth": Auth.BEARER,
        "limits": QUICK,
        "own": True,
    }
    return Endpoint(base_url=base_url, **(values | fields))


async def run_of(
    endpoint: Endpoint,
    *,
    workload: Workload,
    region: Region,
    requests: int = 1,
    key: Key | None = None,
    simulated: bool = True,
    reading: Reading | None = None,
) -> Run:
    """Make one run that a person asks for."""
    now = datetime.now(UTC)
    return await make_run(
        task=Task(
            run_id=uuid4(),
            endpoint=endpoint.id,
            workload=workload.name,
            load=Load.SINGLE if requests == 1 else Load.PARALLEL,
            slot_at=now,
            purpose=Purpose.MANUAL,
            valid_until=now,
        ),
        endpoint=endpoint,
        workload=workload,
        region=region,
        key=key,
        requests=requests,
        simulated=simulated,
        worker=WorkerName(id="w", version="0", catalog="c"),
        execution=uuid4(),
        beside=0,
        reading=reading,
    )


def probe(
    base_url: str,
    *,
    requests: int = 1,
    workload: Workload = WORKLOADS["sentinel"],
    region: Region | None = None,
    key: str | Key | None = "test-key-0123456789",
    reading: Reading | None = READING,
    **fields: Any,
) -> Run:
    """Make one run; further fields are the endpoint's."""
    return asyncio.run(
        run_of(
            own_endpoint(base_url, **fields),
            workload=workload,
            region=region or Region(name="test"),
            requests=requests,
            key=Key(key) if isinstance(key, str) else key,
            simulated=False,
            reading=reading,
        )
    )


def probe_once(base_url: str, **fields: Any) -> Timing:
    """Make a run of one request, and return its timing."""
    return probe(base_url, **fields).timings[0]


def limits_of(case: dict[str, Any]) -> Limits:
    """The limits that a case wants, QUICK for what it does not say."""
    wanted = {
        f"{name.removesuffix('_ms')}_s": ms / 1000
        for name, ms in (case.get("limits") or {}).items()
    }
    return replace(QUICK, **wanted)
