"""`POST /v1/runs`: who pushes, how much, then what; and the schema of a run record.

The token is looked at before the body, the body's size before its content. What became of each run
stands in the answer; an error of the whole request says nothing about any of them.
"""

import json
import logging
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal, NoReturn

import anyio
from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse
from pydantic import Field
from typing_extensions import TypedDict

from aggregator.admission import Result, Status
from aggregator.api.body import RETRY_AFTER_S, read_body, too_large
from aggregator.api.centre import AtCentre, Centre, granted
from aggregator.api.described import Moment, answered, taken, told
from aggregator.api.problems import Problem
from aggregator.ingest import accept
from aggregator.record import RunRecord, run_schema
from aggregator.regions import Grant, Scope
from pacewatch import log
from pacewatch.words.slot import to_rfc3339
from pacewatch.words.wire import MAX_BATCH_BYTES, MAX_RUNS

logger = logging.getLogger(__name__)

STORED_AT_ONCE = 4
"""Batches that are unpacked and stored at once; the others wait their turn."""

IN_HAND = 16
"""Batches that are read, wait or are stored at once: at most so many times 8 MB are held."""

IN_HAND_OF_A_REGION = 4
"""Of those, one region's, so that none shuts the others out."""

MAX_PARTS = 250_000
"""JSON objects and lists of a batch: more than the largest has, and as many as memory bears; each
takes twenty times its two characters.
"""


class Gate:
    """Counts the batches in hand, and turns away what would be too many; used in one event loop."""

    def __init__(self) -> None:
        """Start empty."""
        self.in_hand: Counter[str] = Counter()
        self.storing = anyio.CapacityLimiter(STORED_AT_ONCE)

    @contextmanager
    def entered(self, region: str) -> Iterator[None]:
        """Hold a place for a batch of the region; raises Problem where there is none."""
        if self.in_hand[region] >= IN_HAND_OF_A_REGION:
            raise Problem(
                429,
                f"{IN_HAND_OF_A_REGION} pushes of this region are in hand already",
                retry_after_s=RETRY_AFTER_S,
            )
        if self.in_hand.total() >= IN_HAND:
            raise Problem(503, "too many pushes are in hand", retry_after_s=RETRY_AFTER_S)
        self.in_hand[region] += 1
        try:
            yield
        finally:
            self.in_hand[region] -= 1


class SchemaResponse(JSONResponse):
    """A JSON Schema."""

    media_type = "application/schema+json"


class BatchDocument(TypedDict):
    """Finished runs of a region."""

    runs: Annotated[
        list[RunRecord], Field(max_length=MAX_RUNS, description="as /schema/run.json says")
    ]


class ResultDocument(TypedDict):
    """What became of a pushed record."""

    run: Annotated[str | None, told("the run's id as it was written; null: it was no text")]
    execution: Annotated[str | None, told("the execution's id as it was written")]
    status: Annotated[str, told("stored, held, duplicate, refused or aside")]
    reason: Annotated[str | None, told("why it was refused or put aside, one sentence")]


class TakenDocument(TypedDict):
    """What became of a batch."""

    results: Annotated[list[ResultDocument], told("in the order of the records")]
    now: Annotated[Moment, told("the centre's clock")]


RunSchemaDocument = TypedDict(
    "RunSchemaDocument",
    {
        "$schema": Annotated[str, told("the dialect")],
        "$defs": Annotated[dict[str, Any], told("the record's parts, by name")],
        "title": Annotated[str, told("what it is of")],
        "description": Annotated[str, told("likewise")],
        "type": Annotated[Literal["object"], told("of the record")],
        "properties": Annotated[dict[str, Any], told("the record's members, by name")],
        "required": Annotated[list[str], told("members that no record is without")],
    },
)
"""The JSON Schema of the run record."""


def router() -> APIRouter:
    """Return the routes of ingest, with a gate of their own."""
    made = APIRouter(tags=["ingest"])
    gate = Gate()

    @made.post(
        "/v1/runs",
        openapi_extra=taken(BatchDocument, says=_BOUNDS),
        responses=answered(TakenDocument),
    )
    async def push_runs(
        request: Request,
        centre: AtCentre,
        grant: Annotated[Grant, Depends(granted(Scope.REGION))],
    ) -> JSONResponse:
        """Take a region's finished runs in; tell of each what became of it."""
        with gate.entered(grant.region):
            body = await read_body(request, MAX_BATCH_BYTES)
            encoding = request.headers.get("content-encoding", "identity")
            # in a thread: unpacking, parsing and Postgres all take their time
            answer = await anyio.to_thread.run_sync(
                take, centre, grant.region, body, encoding, limiter=gate.storing
            )
        return JSONResponse(answer)

    @made.get(
        "/schema/run.json",
        response_class=SchemaResponse,
        responses=answered(RunSchemaDocument, media=SchemaResponse.media_type),
    )
    async def schema() -> JSONResponse:
        """Return the JSON Schema of the run record."""
        return SchemaResponse(run_schema())

    return made


def take(centre: Centre, region: str, body: bytes, encoding: str) -> TakenDocument:
    """Unpack, parse and store a batch; return the answer. Raises Problem for what is no batch."""
    records = parse(unpack(body, encoding))
    now = centre.clock()
    results = accept(
        centre.pool,
        records,
        region=region,
        now=now,
        window_s=centre.fleet.schedule.window_s,
    )
    _tell(region, results)
    return {
        "results": [_result(result) for result in results],
        "now": to_rfc3339(now),
    }


def _result(found: Result) -> ResultDocument:
    return {
        "run": found.run,
        "execution": found.execution,
        "status": str(found.status),
        "reason": found.reason,
    }


def unpack(body: bytes, encoding: str) -> bytes:
    """Return the body without its content encoding, never more than the bound of a batch."""
    if encoding in ("", "identity"):
        return body
    if encoding != "gzip":
        raise Problem(422, "content-encoding: unknown (allowed: gzip, or none)")
    unpacker = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacker.decompress(body, MAX_BATCH_BYTES + 1)
    except zlib.error as error:
        raise Problem(422, "the body is no gzip") from error
    if len(unpacked) > MAX_BATCH_BYTES:
        raise too_large(MAX_BATCH_BYTES)
    if not unpacker.eof or unpacker.unused_data:
        raise Problem(422, "the body is not one whole gzip")
    return unpacked


def parse(body: bytes) -> list[object]:
    """Return the records of a batch; raises Problem where it is none, or has too many."""
    if body.count(b"{") + body.count(b"[") > MAX_PARTS:
        raise Problem(413, f"the body has more than {MAX_PARTS} objects and lists")
    try:
        batch = json.loads(body.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Problem(422, "the body is no JSON in UTF-8") from error
    runs = batch.get("runs") if isinstance(batch, dict) else None
    if not isinstance(runs, list):
        raise Problem(422, 'the body is no batch (form: {"runs": [..]})')
    if len(runs) > MAX_RUNS:
        raise Problem(413, f"runs: {len(runs)} of them (allowed: at most {MAX_RUNS} a push)")
    return runs


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _tell(region: str, results: list[Result]) -> None:
    counts = Counter(str(result.status) for result in results)
    log.event(logger, "push.taken", region=region, **counts)
    for result in results:
        if result.status in (Status.REFUSED, Status.ASIDE):
            log.event(
                logger,
                f"push.{result.status}",
                level=logging.WARNING,
                region=region,
                run=result.run,
                execution=result.execution,
                reason=result.reason,
            )


_BOUNDS = (
    f"At most {MAX_RUNS} runs and {MAX_BATCH_BYTES} bytes, unpacked; gzip is allowed. "
    "A run is as /schema/run.json says."
)
