"""What the store keeps of a run: the figures, flags and medians that follow from its record. Pure.

Rows are dicts of JSON values, with the names of the store's columns.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pacewatch.words.figures import DEFINITION, Figures, figures_of, percentile, system_tokens_per_s
from pacewatch.words.flag import LEAVES, Figure, Flag
from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import SENTINEL, Load, Purpose, to_rfc3339
from pacewatch.words.timing import Run, Timing

_TOO_MANY_REQUESTS = 429


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A slot as it stood when a run for it came in."""

    run_id: UUID
    endpoint: str
    region: str
    workload: str
    load: Load
    purpose: Purpose
    slot_at: datetime
    state: str

    @property
    def rolls(self) -> bool:
        """Tell whether its run enters rolling statistics, the latest run, tried and succeeded."""
        if self.purpose is Purpose.SENTINEL:
            return self.workload == SENTINEL
        return self.purpose in (Purpose.SCHEDULED, Purpose.FIRST)


def planned_of(row: Mapping[str, Any]) -> Planned:
    """Return the slot of a row of the store."""
    return Planned(
        run_id=row["run_id"],
        endpoint=row["endpoint"],
        region=row["region"],
        workload=row["workload"],
        load=Load(row["load"]),
        purpose=Purpose(row["purpose"]),
        slot_at=row["slot_at"],
        state=row["state"],
    )


def is_unrun(run: Run) -> bool:
    """Tell whether an execution measured nothing: declined, or every request our own fault."""
    return all(timing.outcome is Outcome.INTERNAL for timing in run.timings)


def centre_flags(run: Run) -> tuple[Flag, ...]:
    """Return the flags of a whole parallel run: `throttled` with any 429, `inconclusive` with under
    half its requests finished.
    """
    if run.load is not Load.PARALLEL:
        return ()
    limited = any(
        timing.outcome is Outcome.RATE_LIMITED
        or (timing.fault is not None and timing.fault.status == _TOO_MANY_REQUESTS)
        for timing in run.timings
    )
    flags = []
    if limited:
        flags.append(Flag.THROTTLED)
    if 2 * good_of(run) < len(run.timings):
        flags.append(Flag.INCONCLUSIVE)
    return tuple(flags)


def good_of(run: Run) -> int:
    """Return how many requests ended well."""
    return sum(timing.outcome is Outcome.OK for timing in run.timings)


def tried_of(run: Run) -> int:
    """Return how many requests count as tried: all but those that failed by a fault of our own."""
    return sum(timing.outcome is not Outcome.INTERNAL for timing in run.timings)


def outcome_of(run: Run) -> Outcome:
    """Return the outcome of the first request that is not ok, else ok."""
    ordered = sorted(run.timings, key=lambda timing: timing.n)
    return next((t.outcome for t in ordered if t.outcome is not Outcome.OK), Outcome.OK)


def left_out(flags: Iterable[Flag]) -> frozenset[Figure]:
    """Return the figures that the flags take out of statistics and judging."""
    return frozenset[Figure]().union(*(LEAVES[flag] for flag in flags))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What follows from a run's record alone, whatever its slot: as columns of the store."""

    run: dict[str, Any]
    timings: tuple[dict[str, Any], ...]


def measure(run: Run) -> Measured:
    """Return figures, flags and medians of a run; the costly part of taking it in."""
    flags = centre_flags(run)
    pairs = [(timing, figures_of(timing)) for timing in run.timings]
    row = {
        "run_id": str(run.run_id),
        "execution": str(run.execution),
        "endpoint_hash": run.endpoint_hash,
        "worker": run.worker.id,
        "worker_version": run.worker.version,
        "started_at": to_rfc3339(run.started_at),
        "beside": run.beside,
        "cost_usd": run.cost_usd,
        "flags": [str(flag) for flag in flags],
        "requests": len(run.timings),
        "good": good_of(run),
        "outcome": str(outcome_of(run)),
        "definition": DEFINITION,
        **medians(pairs, flags),
        "system_tokens_per_s": system_tokens_per_s(run),
    }
    return Measured(run=row, timings=tuple(_timing_row(*pair, flags) for pair in pairs))


def rows_of(
    measured: Measured, planned: Planned, *, series_id: int, received_at: datetime
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the row of the run and the rows of its requests, placed by its slot."""
    place = {
        "run_id": str(planned.run_id),
        "slot_at": to_rfc3339(planned.slot_at),
        "series_id": series_id,
        "rolls": planned.rolls,
    }
    row = {
        **measured.run,
        **place,
        "purpose": str(planned.purpose),
        "received_at": to_rfc3339(received_at),
    }
    return row, [{**timing, **place} for timing in measured.timings]


def medians(
    measured: Iterable[tuple[Timing, Figures]], flags: tuple[Flag, ...]
) -> dict[str, float | None]:
    """Return the run's own median of each figure, over the requests whose flags leave it in."""
    kept = [(figures, left_out((*timing.flags, *flags))) for timing, figures in measured]
    found = {}
    for figure in Figure:
        values = (figures.value(figure) for figures, out in kept if figure not in out)
        found[str(figure)] = percentile((v for v in values if v is not None), 0.5)
    return found


def _timing_row(timing: Timing, figures: Figures, flags: tuple[Flag, ...]) -> dict[str, Any]:
    fault = timing.fault
    return {
        "n": timing.n,
        "outcome": str(timing.outcome),
        "fault_status": None if fault is None else fault.status,
        "fault_type": None if fault is None else fault.type,
        "flags": sorted(str(flag) for flag in timing.flags),
        **{str(figure): figures.value(figure) for figure in Figure},
        "tokens": sum(timing.chunks.tokens),
        "left_out": sorted(str(figure) for figure in left_out((*timing.flags, *flags))),
    }
