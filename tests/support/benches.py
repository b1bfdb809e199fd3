"""A worker's parts on a folder of the test's, without its process."""

import threading
from collections.abc import Callable, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2

from pacewatch.words.endpoint import Auth, Endpoint, Precision, Price, Protocol
from pacewatch.words.flag import Flag
from pacewatch.words.fleet import Fleet, Region
from pacewatch.words.slot import Load, Purpose
from pacewatch.words.timing import WorkerName
from pacewatch.words.wire import Task
from probe.budget import Budget, caps_of, provider_caps
from probe.carry import Bench
from probe.clock import Clock
from probe.disk import Disk
from probe.hand import Hand
from probe.headroom import Headroom
from probe.heartbeat import Heartbeat
from probe.journal import Journal
from probe.outbox import Outbox
from probe.reading import Reading

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAME = WorkerName(id="w1", version="0.1.0", catalog="0" * 16)


def make_endpoint(**fields: Any) -> Endpoint:
    """An endpoint of one's own on this host, with a price, unless said."""
    values: dict[str, Any] = {
        "id": "own/model",
        "provider": "own",
        "provider_name": "Own",
        "model": "model",
        "provider_model": "model",
        "precision": Precision.UNKNOWN,
        "protocol": Protocol.OPENAI_CHAT,
        "base_url": "http://127.0.0.1:9/v1",
        "auth": Auth.BEARER,
        "key_names": ("OWN_API_KEY",),
        "price": Price(input_usd=1.0, output_usd=2.0, source="test"),
    }
    return Endpoint(**(values | fields))


def make_fleet(endpoint: Endpoint | None = None, **fields: Any) -> Fleet:
    """A fleet of one region that knows one endpoint."""
    known = endpoint or make_endpoint()
    values: dict[str, Any] = {
        "regions": {"eu-west": Region(name="eu-west")},
        "catalog": {known.id: known},
        "endpoints": (known,),
    }
    return Fleet(**(values | fields))


def make_task(**fields: Any) -> Task:
    """A task for the endpoint, valid for half an hour from NOW, unless said."""
    values: dict[str, Any] = {
        "run_id": uuid4(),
        "endpoint": "own/model",
        "workload": "short",
        "load": Load.SINGLE,
        "slot_at": NOW,
        "purpose": Purpose.SCHEDULED,
        "valid_until": NOW + timedelta(minutes=30),
    }
    return Task(**(values | fields))


@contextmanager
def bench_on(
    folder: Path,
    *,
    fleet: Fleet | None = None,
    environment: Mapping[str, str] | None = None,
    wall_at: datetime = NOW,
    max_bytes: int = 1 << 30,
    doubt: Flag | None = None,
):
    """A bench on that folder whose wall clock stands still."""
    fleet = fleet or make_fleet()
    with Disk(folder, simulated=fleet.simulated) as disk, closing(Reading()) as reading:
        yield Bench(
            fleet=fleet,
            region=fleet.regions["eu-west"],
            name=NAME,
            environment={"OWN_API_KEY": "k"} if environment is None else environment,
            disk=disk,
            journal=Journal(disk),
            outbox=Outbox(disk, max_bytes=max_bytes, min_free_bytes=0),
            budget=Budget(disk, caps=caps_of(fleet), providers=provider_caps(fleet)),
            headroom=Headroom(disk),
            hand=Hand(),
            clock=Clock(disk, lambda: wall_at),
            room=folder,
            is_paused=lambda: False,
            doubt=lambda: doubt,
            kept=lambda: None,
            reading=reading,
            stop=threading.Event(),
        )


def heartbeat_of(
    bench: Bench, client: httpx2.Client, suspected: Callable[[], None] = lambda: None
) -> Heartbeat:
    """What tells the centre of that bench, one beat when a test says so."""
    return Heartbeat(
        name=bench.name,
        region=bench.region.name,
        every_s=30,
        client=client,
        clock=bench.clock,
        hand=bench.hand,
        journal=bench.journal,
        outbox=bench.outbox,
        budget=bench.budget,
        headroom=bench.headroom,
        calibration=lambda: None,
        suspected=suspected,
    )
