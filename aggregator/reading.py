"""From pushed JSON to a Run, or to the reason why not."""

import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from aggregator.chunk_columns import put_back, take_out
from aggregator.record import Part, RequestPart, RunRecord
from pacewatch.words.errors import WireError
from pacewatch.words.timing import (
    Chunks,
    Connection,
    Fault,
    Identity,
    ProviderTokens,
    RateLimits,
    Run,
    ServerTimings,
    Timing,
    WorkerName,
)
from pacewatch.words.wire import VERSION

MAX_DEPTH = 100
"""Levels of objects and lists in a record: a depth that each process of the centre can follow,
whatever calls it.
"""

_LAST_VERSION = 2**31 - 1

_PARTS = frozenset({dict, list})

_FORM = b"\x01"
"""What a stored record begins with; the first form, plain JSON in zlib, begins with 0x78."""

_LENGTH_BYTES = 4

_DAMAGE = (zlib.error, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What undoing bytes that nobody packed so can raise."""


class AheadError(WireError):
    """A record of a version that this centre does not know yet; kept raw until it does."""


def read_record(raw: object) -> Run:
    """Return the run that a pushed record tells.

    Raises AheadError for a version not known yet, and WireError with the reason for any other
    record that cannot be taken.
    """
    if not isinstance(raw, dict):
        raise WireError(f"a JSON object is needed, not {type(raw).__name__}")
    figures = has_figures(raw)
    version = raw.get("v")
    if isinstance(version, int) and VERSION < version <= _LAST_VERSION:
        raise AheadError(f"version {version} of the record is not known yet (known: {VERSION})")
    try:
        record = RunRecord.model_validate(raw)
    except ValidationError as error:
        raise WireError(_reason(error)) from error
    if figures:
        raise WireError("figures: a record holds what was seen; the centre computes the figures")
    return _run(record)


def has_figures(raw: Mapping[str, Any]) -> bool:
    """Tell whether a member named `figures` stands anywhere in the record; raises WireError where
    it is nested deeper than whoever reads it again could be sure to follow.
    """
    found, depth = False, 0
    level: list[Any] = [raw]
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise WireError(f"the record is nested too deeply (allowed: {MAX_DEPTH} levels)")
        found = found or any("figures" in part for part in level if isinstance(part, dict))
        level = [value for part in level for value in _parts_of(part)]
    return found


def _parts_of(part: Any) -> Iterator[Any]:
    """Give the objects and lists that stand right in one."""
    values = part.values() if isinstance(part, dict) else part
    if _PARTS.isdisjoint(map(type, values)):  # the columns of chunks are long
        return
    yield from (value for value in values if type(value) in _PARTS)


def packed(raw: object) -> bytes:
    """Return a record as the store keeps it.

    The columns of its chunks stand by themselves, after the JSON of the rest.
    """
    rest, folded, columns = take_out(raw)
    text = json.dumps([folded, rest], separators=(",", ":")).encode()
    length = len(text).to_bytes(_LENGTH_BYTES, "little")
    return _FORM + zlib.compress(b"".join((length, text, *columns)), 1)


def unpacked(record: bytes) -> Any:
    """Return the JSON of a record that the store keeps, in today's form or in the first one.

    Raises WireError for one that is damaged, or in a form that only a newer centre reads.
    """
    try:
        if not record.startswith(_FORM):
            return json.loads(zlib.decompress(record))
        whole = zlib.decompress(record[len(_FORM) :])
        end = _LENGTH_BYTES + int.from_bytes(whole[:_LENGTH_BYTES], "little")
        folded, rest = json.loads(whole[_LENGTH_BYTES:end])
        put_back(rest, folded, whole[end:])
    except _DAMAGE as error:
        raise WireError(f"the record as the store keeps it cannot be read: {error}") from error
    return rest


def stored_requests(record: bytes) -> list[Any]:
    """Return the requests of a record that the store keeps, as JSON; none of one that cannot be
    read here.
    """
    try:
        whole = unpacked(record)
    except WireError:
        return []
    requests: list[Any] = whole["requests"] if whole["v"] <= VERSION else []
    return requests


def _reason(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"][:6]) or "record"
    return f"{place}: {first['msg'].removeprefix('Value error, ')}"[:300]


def _run(record: RunRecord) -> Run:
    return Run(
        run_id=record.run,
        execution=record.execution,
        region=record.region,
        worker=WorkerName(
            id=record.worker.id, version=record.worker.version, catalog=record.worker.catalog
        ),
        endpoint=record.endpoint,
        endpoint_hash=record.endpoint_hash,
        workload=record.workload,
        load=record.load,
        simulated=record.simulated,
        started_at=record.started_at,
        declined=record.declined,
        beside=record.beside,
        cost_usd=record.cost_usd,
        timings=tuple(_timing(request) for request in record.requests),
    )


def _timing(request: RequestPart) -> Timing:
    chunks, told = request.chunks, request.provider_tokens
    times, limits, fault = request.server_timings, request.limits, request.error
    return Timing(
        n=request.n,
        outcome=request.outcome,
        fault=None if fault is None else Fault(**_members(fault)),
        flags=tuple(request.flags),
        connection=Connection(**_members(request.connection)),
        sent_us=request.sent_us,
        headers_us=request.headers_us,
        end_us=request.end_us,
        stamp=request.stamp,
        chunks=Chunks(
            at_us=tuple(chunks.at_us),
            size_bytes=tuple(chunks.bytes),
            tokens=tuple(chunks.tokens),
            kind=chunks.kind,
        ),
        provider_tokens=None if told is None else ProviderTokens(**_members(told)),
        server_timings=None if times is None else ServerTimings(**_members(times)),
        identity=Identity(**_members(request.identity)),
        limits=None if limits is None else RateLimits(**_members(limits)),
        finish=request.finish,
    )


def _members(part: Part) -> dict[str, Any]:
    return dict(part.__dict__)
