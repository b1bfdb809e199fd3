"""A batch on its way into the store, inside one transaction.

The first execution of a run that measured something wins whole. Purpose and moment are the slot's,
never the record's. Locks are taken in one order by everybody: slots, series, their statistics,
runs, the tables of executions, days that are due, counters; in each by key.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Json

from aggregator import rolling
from aggregator.admission import Pushed, Result, Status, Way, admit
from aggregator.answered import Answered
from aggregator.aside import bound_aside
from aggregator.days import mark_due
from aggregator.db import Connection, queries
from aggregator.measured import Planned, planned_of, rows_of
from aggregator.tally import Tally
from pacewatch import __version__
from pacewatch.words.errors import StoreError

Key = tuple[UUID, UUID]
"""Run and execution."""

SeriesKey = tuple[str, str, str, str]
"""Endpoint, region, workload, load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """A record that names a slot of the store, as the intake works with it."""

    pushed: Pushed
    planned: Planned
    id: UUID

    @property
    def key(self) -> Key:
        """Return the run and the execution."""
        return self.planned.run_id, self.id


class Intake:
    """A batch on its way in; used once."""

    def __init__(self, connection: Connection, now: datetime) -> None:
        """Read what kind of store it is."""
        self.connection = connection
        self.now = now
        self.tally = Tally()
        self.answered = Answered()
        self.rolled: set[int] = set()
        """Series whose statistics must be recomputed."""
        kind = self._rows("find_kind")
        if not kind:
            raise StoreError("the store does not say whether it is simulated or real")
        self.simulated: bool = kind[0]["simulated"]
        self.slots: dict[UUID, Planned] = {}
        self.states: dict[UUID, str] = {}
        """Of the slots, as the batch changes them."""
        self.missed: dict[UUID, str] = {}
        """Reasons of the slots that the batch makes missed."""
        self.brought: dict[Key, dict[str, Any]] = {}
        """Rows of the runs that this batch brought."""

    def take(self, batch: Sequence[Pushed]) -> list[Result]:
        """Take the batch in; return the answers in its order."""
        self._lock_slots(batch)
        admitted = bound_aside(self.connection, self._admit(batch))
        runs = self._executions(admitted, Way.RUN)
        unrun = self._executions(admitted, Way.UNRUN)
        winners = self._insert_runs(runs)
        beaten = [e for e in runs if winners[e.planned.run_id] != e.id]
        fresh = set(self.brought) | self._insert_unrun(unrun)
        self._insert_aside([pushed for pushed in admitted if pushed.way is Way.ASIDE])
        fresh |= self._insert_duplicates(beaten)
        lost = {execution.key for execution in beaten}
        return [self._follow(pushed, fresh, lost) for pushed in admitted]

    def finish(self) -> None:
        """Write what follows from what was taken; nothing of it is answered."""
        self._mark_days()
        self._mark_slots()
        self._hand_to_judge()
        self.tally.write_series(self.connection)

    def _lock_slots(self, batch: Sequence[Pushed]) -> None:
        runs = sorted({pushed.run_id for pushed in batch if pushed.run_id is not None})
        found = [planned_of(row) for row in self._rows("lock_slots", runs=runs)]
        self.slots = {planned.run_id: planned for planned in found}
        self.states = {planned.run_id: planned.state for planned in found}

    def _admit(self, batch: Sequence[Pushed]) -> list[Pushed]:
        hashes = list({pushed.run.endpoint_hash for pushed in batch if pushed.run is not None})
        asked = {
            row["endpoint_hash"]: (row["endpoint"], row["workload"])
            for row in self._rows("find_versions", hashes=hashes)
        }
        return [
            admit(
                pushed,
                planned=None if pushed.run_id is None else self.slots.get(pushed.run_id),
                asked=None if pushed.run is None else asked.get(pushed.run.endpoint_hash),
                simulated=self.simulated,
            )
            for pushed in batch
        ]

    def _executions(self, admitted: Sequence[Pushed], way: Way) -> list[Execution]:
        return [
            Execution(pushed=pushed, planned=self.slots[pushed.run_id], id=pushed.execution)
            for pushed in admitted
            if pushed.way is way and pushed.run_id is not None and pushed.execution is not None
        ]

    def _insert_runs(self, runs: Sequence[Execution]) -> dict[UUID, UUID]:
        """Insert the first execution of each run with its requests, where no other one has won.

        Returns the winning execution of each run.
        """
        first = {e.planned.run_id: e for e in reversed(runs)}
        series = self._series([execution.planned for execution in runs])
        rolling.lock_series(self.connection, {series[_key(e.planned)] for e in runs})
        made = {
            run_id: rows_of(
                execution.pushed.measured,
                execution.planned,
                series_id=series[_key(execution.planned)],
                received_at=self.now,
            )
            for run_id, execution in sorted(first.items())
            if execution.pushed.measured is not None
        }
        rows = [row for row, _ in made.values()]
        won = (
            {row["run_id"] for row in self._rows("insert_runs", rows=Json(rows))} if rows else set()
        )
        self.brought = {first[run_id].key: made[run_id][0] for run_id in won}
        self.rolled = {row["series_id"] for row in self.brought.values() if row["rolls"]}
        self._insert_requests(
            [first[run_id] for run_id in won], [row for run_id in won for row in made[run_id][1]]
        )
        winners = {run_id: first[run_id].id for run_id in won}
        return winners | self._winners([e.planned for id_, e in first.items() if id_ not in won])

    def _series(self, planned: Sequence[Planned]) -> dict[SeriesKey, int]:
        """Return the ids of the slots' series; makes the rows that are missing."""
        keys = sorted({_key(slot) for slot in planned})
        if not keys:
            return {}
        endpoints, regions, workloads, loads = map(list, zip(*keys, strict=True))
        wanted = {
            "endpoints": endpoints,
            "regions": regions,
            "workloads": workloads,
            "loads": loads,
            "simulated": self.simulated,
        }
        self._run("insert_series", **wanted)
        found = {
            (row["endpoint"], row["region"], row["workload"], row["load"]): int(row["series_id"])
            for row in self._rows("find_series", **wanted)
        }
        self._run("insert_series_stat", series=sorted(found.values()))
        return found

    def _insert_requests(self, winners: Sequence[Execution], rows: list[dict[str, Any]]) -> None:
        if winners:
            self._run("insert_timings", rows=Json(rows))
            self._run(
                "insert_timelines",
                runs=[execution.planned.run_id for execution in winners],
                moments=[execution.planned.slot_at for execution in winners],
                records=[execution.pushed.record for execution in winners],
            )

    def _winners(self, lost: Collection[Planned]) -> dict[UUID, UUID]:
        if not lost:
            return {}
        runs, moments = [slot.run_id for slot in lost], [slot.slot_at for slot in lost]
        found = self._rows(
            "find_winners",
            runs=runs,
            moments=moments,
            earliest=min(moments),
            latest=max(moments),
        )
        return {row["run_id"]: row["execution"] for row in found}

    def _insert_unrun(self, unrun: Sequence[Execution]) -> set[Key]:
        """Keep the executions that measured nothing; return those that were not kept before."""
        if not unrun:
            return set()
        rows = self._rows(
            "insert_unrun",
            executions=[execution.id for execution in unrun],
            runs=[execution.planned.run_id for execution in unrun],
            regions=[execution.pushed.region for execution in unrun],
            reasons=[execution.pushed.told.declined for execution in unrun],
            records=[execution.pushed.record for execution in unrun],
            now=self.now,
        )
        return {(row["run_id"], row["execution"]) for row in rows}

    def _insert_aside(self, aside: Sequence[Pushed]) -> None:
        if aside:
            self._run(
                "insert_aside",
                executions=[pushed.execution for pushed in aside],
                runs=[pushed.run_id for pushed in aside],
                regions=[pushed.region for pushed in aside],
                reasons=[pushed.reason for pushed in aside],
                records=[pushed.record for pushed in aside],
                tried_with=knowledge(self.connection),
                now=self.now,
            )

    def _insert_duplicates(self, beaten: Sequence[Execution]) -> set[Key]:
        """Keep which executions were beaten; return those that were not known before."""
        if not beaten:
            return set()
        rows = self._rows(
            "insert_duplicates",
            executions=[execution.id for execution in beaten],
            runs=[execution.planned.run_id for execution in beaten],
            costs=[execution.pushed.told.cost_usd for execution in beaten],
            now=self.now,
        )
        return {(row["run_id"], row["execution"]) for row in rows}

    def _follow(self, pushed: Pushed, fresh: set[Key], lost: set[Key]) -> Result:
        """Count what the record brings and change its slot's state; return the answer.

        An execution is fresh once: repeated in the batch, it is held.
        """
        status = _STATUS.get(pushed.way, Status.HELD)
        if status is Status.HELD and pushed.run_id is not None and pushed.execution is not None:
            key = pushed.run_id, pushed.execution
            is_fresh, is_beaten = key in fresh, pushed.way is Way.RUN and key in lost
            fresh.discard(key)
            if is_beaten:
                status = Status.DUPLICATE
                if is_fresh:
                    self.tally.count_duplicate(pushed.told, self.slots[pushed.run_id])
            elif is_fresh:
                status = Status.STORED
                self._count(pushed, key)
        return Result(
            run=pushed.run_text,
            execution=pushed.execution_text,
            status=status,
            reason=pushed.reason,
        )

    def _count(self, pushed: Pushed, key: Key) -> None:
        run, planned, state = pushed.told, self.slots[key[0]], self.states[key[0]]
        self.tally.count_requests(run, planned)
        if run.declined is not None:
            if state in ("planned", "sent"):
                self.missed[planned.run_id] = f"declined:{run.declined}"
                self.tally.count_missed(planned, self.missed[planned.run_id])
                self.states[planned.run_id] = "missed"
        elif pushed.way is Way.RUN:
            if state == "missed":
                self.tally.place(planned).recovered += 1
            self.states[planned.run_id] = "run"
            self.answered.add(run, planned)
            if planned.rolls:
                self.tally.count_series(run, self.brought[key], planned.slot_at)

    def _mark_days(self) -> None:
        """Have the daily statistics made anew of days that are over."""
        today = self.now.astimezone(UTC).date()
        days = {self.slots[run_id].slot_at.astimezone(UTC).date() for run_id, _ in self.brought}
        if late := {day for day in days if day < today}:
            mark_due(self.connection, late)

    def _hand_to_judge(self) -> None:
        """Have every run that this batch brought judged."""
        runs = sorted(run_id for run_id, _ in self.brought)
        if runs:
            self._run(
                "insert_unjudged",
                endpoints=[self.slots[run_id].endpoint for run_id in runs],
                runs=runs,
                moments=[self.slots[run_id].slot_at for run_id in runs],
                now=self.now,
            )

    def _mark_slots(self) -> None:
        if self.missed:
            self._run(
                "mark_missed", runs=list(self.missed.keys()), reasons=list(self.missed.values())
            )
        ran = [
            run_id
            for run_id, state in self.states.items()
            if state == "run" and self.slots[run_id].state != "run"
        ]
        if ran:
            self._run("mark_run", runs=ran)

    def _run(self, name: str, **values: object) -> None:
        self.connection.execute(queries("ingest")[name], values)

    def _rows(self, name: str, **values: object) -> list[dict[str, Any]]:
        return self.connection.execute(queries("ingest")[name], values).fetchall()


def knowledge(connection: Connection) -> str:
    """Return the version and the catalog that decide what is known here."""
    row = connection.execute(queries("ingest")["find_catalog"]).fetchone()
    return f"{__version__} {row and row['catalog_hash']}"


_STATUS = {Way.REFUSED: Status.REFUSED, Way.ASIDE: Status.ASIDE}


def _key(planned: Planned) -> SeriesKey:
    return planned.endpoint, planned.region, planned.workload, str(planned.load)
