"""What is planned: workloads, slots, series, and the ids derived from them."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from uuid import UUID, uuid5

RUN_NAMESPACE = UUID("a1cb05f3-f730-5142-b353-ebef96bfff3f")


class Load(StrEnum):
    """One request, or several started together."""

    SINGLE = "single"
    PARALLEL = "parallel"


class Purpose(StrEnum):
    """Why a run is made."""

    SCHEDULED = "scheduled"
    FIRST = "first"
    CONFIRM = "confirm"
    MANUAL = "manual"
    SENTINEL = "sentinel"


ROLLING_PURPOSES = frozenset({Purpose.SCHEDULED, Purpose.FIRST, Purpose.SENTINEL})
"""Purposes whose runs enter rolling statistics, the latest-run gauges, and tried and succeeded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """The shape of a request."""

    name: str
    input_tokens: int
    """Prompt size in o200k_base tokens."""
    output_tokens: int
    """Asked output in tokens; an endpoint's reasoning room comes on top."""


SENTINEL = "sentinel"
"""The workload of sentinels, which are asked on a schedule of their own."""

WORKLOADS: dict[str, Workload] = {
    w.name: w
    for w in (
        Workload(name="short", input_tokens=100, output_tokens=300),
        Workload(name="standard", input_tokens=1_000, output_tokens=1_000),
        Workload(name="long", input_tokens=10_000, output_tokens=1_500),
        Workload(name="xlong", input_tokens=100_000, output_tokens=2_000),
        Workload(name=SENTINEL, input_tokens=20, output_tokens=64),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Series:
    """What a rolling statistic is kept of."""

    endpoint: str
    region: str
    workload: str
    load: Load
    simulated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A planned moment for one (endpoint, region, workload, load)."""

    run_id: UUID
    endpoint: str
    region: str
    workload: str
    load: Load
    purpose: Purpose
    slot_at: datetime
    """The planned moment, aware, UTC, whole seconds."""
    valid_until: datetime


def require_utc(moment: datetime) -> datetime:
    """Return the moment in UTC; raises ValueError for a naive one."""
    if moment.tzinfo is None:
        raise ValueError(f"moment {moment.isoformat()} has no zone; an aware datetime is needed")
    return moment.astimezone(UTC)


def to_rfc3339(moment: datetime) -> str:
    """Return the moment as RFC 3339 in UTC with Z, with microseconds only where there are any."""
    return require_utc(moment).isoformat().removesuffix("+00:00") + "Z"


def from_rfc3339(text: str) -> datetime:
    """Return the UTC moment of an RFC 3339 text; raises ValueError where it has no zone."""
    return require_utc(datetime.fromisoformat(text))


def run_id(  # noqa: PLR0913 - the seven parts that the id is derived from
    *,
    purpose: Purpose,
    endpoint: str,
    region: str,
    workload: str,
    load: Load,
    at: str,
    ordinal: int = 0,
) -> UUID:
    """Return the run's id, UUIDv5 of `purpose|endpoint|region|workload|load|at|ordinal`.

    `at` is `slot_key(slot_at)` for scheduled and sentinel runs, "" for `first`, the incident's id
    for `confirm`, the caller's key for `manual`.
    """
    name = "|".join((purpose, endpoint, region, workload, load, at, str(ordinal)))
    return uuid5(RUN_NAMESPACE, name)


def slot_key(slot_at: datetime) -> str:
    """Return the slot's moment as it stands in a run id: RFC 3339, whole seconds, Z."""
    utc = require_utc(slot_at)
    if utc.microsecond:
        utc = utc - timedelta(microseconds=utc.microsecond)
    return to_rfc3339(utc)
