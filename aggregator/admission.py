"""Which way a pushed record goes: refused, aside, to the executions that measured nothing, or in;
and the answers there are.

Pure: what the store knows of the record's run is handed in.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any
from uuid import UUID

from aggregator.measured import Measured, Planned, is_unrun, measure
from aggregator.reading import AheadError, packed, read_record
from pacewatch.words.errors import WireError
from pacewatch.words.timing import Run

_LONGEST_ECHO = 100


class Way(StrEnum):
    """Where a record goes."""

    RUN = "run"
    """It may take its run's key."""
    UNRUN = "unrun"
    """Declined, or nothing but faults of our own: kept, never the run."""
    ASIDE = "aside"
    """Not known here yet: kept raw."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """One record of a batch, and where it goes."""

    run_text: str | None
    """The run's id as it was written; None where it is no text."""
    execution_text: str | None
    region: str
    """Of the token it was pushed with."""
    way: Way
    reason: str | None = None
    run_id: UUID | None = None
    execution: UUID | None = None
    run: Run | None = None
    measured: Measured | None = None
    """Of a record that may take its run's key."""
    record: bytes = b""
    """As the store keeps it."""

    @property
    def told(self) -> Run:
        """Return the run that the record tells; raises ValueError where it tells none."""
        if self.run is None:
            raise ValueError(f"record of execution {self.execution} was not read")
        return self.run

    def goes(self, way: Way, reason: str) -> "Pushed":
        """Return the record with another way to go."""
        return replace(self, way=way, reason=reason)


class Status(StrEnum):
    """What became of a pushed record."""

    STORED = "stored"
    HELD = "held"
    """The same execution had been taken in before."""
    DUPLICATE = "duplicate"
    """Another execution of the run had won; counted with its cost, dropped."""
    REFUSED = "refused"
    ASIDE = "aside"
    """Not known here yet; kept raw, and taken in when it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The centre's answer to one record."""

    run: str | None
    execution: str | None
    status: Status
    reason: str | None = None


def read_pushed(raw: object, region: str) -> Pushed:
    """Return the record as far as it can be told without the store."""
    members: Mapping[str, Any] = raw if isinstance(raw, dict) else {}
    pushed = Pushed(
        run_text=_echo(members.get("run")),
        execution_text=_echo(members.get("execution")),
        region=region,
        way=Way.RUN,
        run_id=_id(members.get("run")),
        execution=_id(members.get("execution")),
    )
    try:
        run = read_record(raw)
        pushed = replace(pushed, run=run, record=packed(raw))
    except AheadError as error:
        if pushed.run_id is None or pushed.execution is None:
            return pushed.goes(Way.REFUSED, "run and execution: UUIDs are needed")
        pushed = replace(pushed.goes(Way.ASIDE, str(error)), record=packed(raw))
    except WireError as error:
        return pushed.goes(Way.REFUSED, str(error))
    if members.get("region") != region:
        return pushed.goes(
            Way.REFUSED, f'region: the record is of another region than the token ("{region}")'
        )
    if pushed.run is None or pushed.way is not Way.RUN:
        return pushed
    if is_unrun(pushed.run):
        return replace(pushed, way=Way.UNRUN)
    return replace(pushed, measured=measure(pushed.run))


def admit(
    pushed: Pushed,
    *,
    planned: Planned | None,
    asked: tuple[str, str] | None,
    simulated: bool,
) -> Pushed:
    """Return the record as the store lets it in: its slot and its hash are what decides.

    `asked` is the endpoint and the workload of the record's hash; None for a hash not known here.
    """
    run = pushed.run
    if pushed.way is Way.ASIDE and planned is not None and planned.region != pushed.region:
        return _differs(pushed, "region", pushed.region, planned.region)
    if run is None or pushed.way not in (Way.RUN, Way.UNRUN):
        return pushed
    if run.simulated != simulated:
        kinds = ("real", "simulated")
        return pushed.goes(
            Way.REFUSED, f"simulated: this store holds {kinds[simulated]} measurements alone"
        )
    if planned is None:
        return pushed.goes(Way.ASIDE, "run: no slot of that id is known here")
    for name in ("region", "endpoint", "workload", "load"):
        told, is_planned = str(getattr(run, name)), str(getattr(planned, name))
        if told != is_planned:
            return _differs(pushed, name, told, is_planned)
    if run.declined is not None:
        return pushed  # it asked nothing, so it may not know what it would have asked
    if asked is None:
        return pushed.goes(Way.ASIDE, "endpoint_hash: not known here")
    if asked != (run.endpoint, run.workload):
        return pushed.goes(
            Way.REFUSED, "endpoint_hash: it is another endpoint's or another workload's"
        )
    return pushed


def _differs(pushed: Pushed, name: str, told: str, planned: str) -> Pushed:
    return pushed.goes(Way.REFUSED, f'{name}: "{told}" is not the slot\'s ("{planned}")')


def _echo(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    return value[:_LONGEST_ECHO].encode(errors="replace").decode()  # JSON can hold half a pair


def _id(value: object) -> UUID | None:
    try:
        return UUID(value) if isinstance(value, str) else None
    except ValueError:
        return None
