"""`POST /v1/workers`, a worker's heartbeat, and `POST /v1/slots`, a run that a person asks for."""

from datetime import datetime, timedelta
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Response
from psycopg.types.json import Jsonb
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from aggregator import fleet_sync, slots
from aggregator.api.body import body_of
from aggregator.api.centre import AtCentre, Centre, InTransaction, granted
from aggregator.api.described import taken
from aggregator.api.problems import Problem
from aggregator.db import Connection, queries
from aggregator.regions import Grant, Scope
from pacewatch.words.fleet import catalog_hash
from pacewatch.words.outcome import Decline
from pacewatch.words.slot import Load, Purpose, Series, run_id, to_rfc3339

router = APIRouter(tags=["fleet"])

MOST_BYTES = 2 * 1024 * 1024
"""Of a heartbeat: 20,000 runs in hand, and more than enough."""
MOST_SLOT_BYTES = 4 * 1024
MOST_RUNS = 20_000
MOST_CALIBRATION_FIELDS = 50
MOST_RATE_LIMITS = 200

Name = Annotated[str, Field(pattern=r"^[\x21-\x7e]{1,100}$")]


class RateLimit(BaseModel):
    """What is left of a rate limit, as a provider told the worker."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False, use_attribute_docstrings=True)

    provider: Name
    """The provider's word in ids."""
    key: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{0,200}$")]
    """The variable that the key stands in; empty where there is none."""
    unit: Literal["requests", "tokens"]
    """What the limit is of."""
    left_ratio: Annotated[float, Field(ge=0, le=1)]
    """What is left of the whole."""


class Heartbeat(BaseModel):
    """What a worker tells of itself."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False, use_attribute_docstrings=True)

    worker: Name
    """Its id."""
    region: Name
    """Where it stands: the token's."""
    version: Name
    """Of Pacewatch."""
    catalog: Name
    """Hash of its catalog."""
    in_hand: Annotated[list[UUID], Field(max_length=MOST_RUNS)]
    """Runs received, running, or in the outbox."""
    outbox_full: Annotated[list[UUID], Field(max_length=MOST_RUNS)] = []
    """Runs that were declined because the disk is full."""
    journal_runs: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    """Runs that the worker's journal remembers."""
    outbox_runs: Annotated[int, Field(ge=0, le=2**31 - 1)]
    """Runs that are not pushed yet."""
    budget_left_usd: float | None = None
    """Of its day's cap, US$; null: it has none."""
    rate_limits: Annotated[list[RateLimit], Field(max_length=MOST_RATE_LIMITS)] = []
    """By provider, key and unit."""
    clock: AwareDatetime
    """The worker's raw wall clock."""
    calibration: (
        Annotated[dict[str, float | str | None], Field(max_length=MOST_CALIBRATION_FIELDS)] | None
    ) = None
    """What its own calibration found, in its own words; null: none yet."""


class HeartbeatAnswer(BaseModel):
    """What the centre answers."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    now: str
    """The centre's clock, from which the worker learns its offset."""
    paused: bool
    """Whether the region rests."""
    catalog: str
    """Hash of the catalog that the centre asks by."""
    suspected_at: str | None
    """When a suspicion last ordered probes from the region, within a day; each new one has the
    worker calibrate.
    """


class AskedRun(BaseModel):
    """A run that a person asks for."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    endpoint: Annotated[str, Field(max_length=300)]
    """The id of one that is probed."""
    region: Name
    """One that probes it."""
    workload: Annotated[str, Field(max_length=64)]
    """Any that the centre knows."""
    load: Load = Load.SINGLE
    """Whether one request is made, or several at once."""
    key: Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,100}$")]
    """Of the caller's own making: the same key asks for the same run."""


class PlannedRun(BaseModel):
    """The slot that will be, or was, run for it."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    run: UUID
    """The id under which its record will be found."""
    slot_at: str
    """For when it is planned: RFC 3339, UTC."""
    valid_until: str
    """Until when a worker may begin: RFC 3339, UTC."""
    state: str
    """planned, sent, run or missed."""
    reason: str | None
    """Why it was missed."""


@router.post("/v1/workers", openapi_extra=taken(Heartbeat))
def take_heartbeat(
    grant: Annotated[Grant, Depends(granted(Scope.REGION))],
    told: Annotated[Heartbeat, Depends(body_of(Heartbeat, MOST_BYTES))],
    centre: AtCentre,
    connection: InTransaction,
) -> HeartbeatAnswer:
    """Keep what a worker tells of itself; answer the centre's time and catalog."""
    now = centre.clock()
    if told.region != grant.region:
        raise Problem(403, f'the token is of region "{grant.region}", not of "{told.region}"')
    connection.execute(
        queries("workers")["upsert_worker"],
        {
            **told.model_dump(exclude={"clock", "calibration", "outbox_full", "rate_limits"}),
            "rate_limits": Jsonb([limit.model_dump() for limit in told.rate_limits]),
            "calibration": None if told.calibration is None else Jsonb(told.calibration),
            "clock_offset_s": (told.clock - now).total_seconds(),
            "now": now,
        },
    )
    _decline(connection, told, simulated=centre.fleet.simulated)
    row = connection.execute(queries("workers")["read_catalog_hash"]).fetchone()
    known = row and row["catalog_hash"]
    region = centre.fleet.regions.get(told.region)
    return HeartbeatAnswer(
        now=to_rfc3339(now),
        paused=region is not None and region.paused,
        catalog=known or catalog_hash(centre.fleet),
        suspected_at=_suspected_at(connection, told.region, now),
    )


def _suspected_at(connection: Connection, region: str, now: datetime) -> str | None:
    row = connection.execute(
        queries("workers")["read_suspected"], {"region": region, "since": now - timedelta(days=1)}
    ).fetchone()
    return to_rfc3339(row["suspected_at"]) if row and row["suspected_at"] else None


def _decline(connection: Connection, told: Heartbeat, *, simulated: bool) -> None:
    """Record the runs that a full disk declined: no record of them can be pushed."""
    if not told.outbox_full:
        return
    rows = connection.execute(
        queries("workers")["lock_sent_slots"],
        {"run_id": told.outbox_full, "region": told.region},
    ).fetchall()
    reason = f"declined:{Decline.OUTBOX_FULL}"
    slots.miss(connection, [(row["run_id"], reason) for row in rows], simulated=simulated)


@router.post(
    "/v1/slots",
    openapi_extra=taken(AskedRun),
    status_code=201,
    responses={200: {"model": PlannedRun, "description": "The key was used for it before."}},
)
def ask_run(
    _grant: Annotated[Grant, Depends(granted(Scope.RUN, Scope.ADMIN))],
    asked: Annotated[AskedRun, Depends(body_of(AskedRun, MOST_SLOT_BYTES))],
    centre: AtCentre,
    connection: InTransaction,
    response: Response,
) -> PlannedRun:
    """Plan a manual run from a region, due now; the same key gives the same run."""
    _require_known(connection, asked)
    series = Series(
        endpoint=asked.endpoint,
        region=asked.region,
        workload=asked.workload,
        load=asked.load,
        simulated=centre.fleet.simulated,
    )
    fleet_sync.add_series(connection, (series,))
    run = run_id(
        purpose=Purpose.MANUAL,
        endpoint=asked.endpoint,
        region=asked.region,
        workload=asked.workload,
        load=asked.load,
        at=asked.key,
    )
    if not _insert(connection, centre, asked, run, centre.clock()):
        response.status_code = 200
    row = connection.execute(queries("workers")["read_slot"], {"run_id": run}).fetchone()
    if row is None:
        raise Problem(409, "the slot went away while it was planned; ask again")
    return PlannedRun(
        run=run,
        slot_at=to_rfc3339(row["slot_at"]),
        valid_until=to_rfc3339(row["valid_until"]),
        state=row["state"],
        reason=row["reason"],
    )


def _require_known(connection: Connection, asked: AskedRun) -> None:
    row = connection.execute(
        queries("workers")["find_asked"],
        {"endpoint": asked.endpoint, "region": asked.region, "workload": asked.workload},
    ).fetchone()
    known = row or {}
    if not known.get("is_probed"):
        raise Problem(
            422, f'endpoint "{asked.endpoint}": not probed (allowed: those of /api/board)'
        )
    if not known.get("is_in_region"):
        raise Problem(422, f'region "{asked.region}": unknown (allowed: the regions of the file)')
    if not known.get("has_workload"):
        raise Problem(422, f'workload "{asked.workload}": unknown to the centre')


def _insert(
    connection: Connection, centre: Centre, asked: AskedRun, run: UUID, now: datetime
) -> bool:
    """Insert the slot; return whether it is new."""
    moment = now.replace(microsecond=0)
    done = connection.execute(
        queries("workers")["insert_manual_slot"],
        {
            "run_id": run,
            "endpoint": asked.endpoint,
            "region": asked.region,
            "workload": asked.workload,
            "load": str(asked.load),
            "slot_at": moment,
            "valid_until": moment + timedelta(seconds=centre.fleet.schedule.validity_s),
        },
    )
    return done.rowcount == 1
