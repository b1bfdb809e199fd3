"""One tick of the judge: takes in what each endpoint's new runs say and writes what is believed.

An endpoint's judging is one transaction under the lock of its row: its state, its verdicts and
what followed are committed together with the runs being taken off the list. So any number of judges
may tick at once, each may die at any moment, and a run is judged once.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg.types.json import Json, Jsonb

from aggregator import probers, verdicts
from aggregator.annotating import annotate
from aggregator.case import Case
from aggregator.confirming import order
from aggregator.db import Connection, Pool, queries, translated
from aggregator.detect import away
from aggregator.detect.evidence import Evidence
from aggregator.detect.state import state_of, watch_of
from aggregator.detect.turn import Change
from aggregator.detect.watch import Watch
from aggregator.fleet_file import Orders
from aggregator.follow import follow
from aggregator.incidents import close_lasting
from aggregator.quiet import read_multiplier
from aggregator.ruling import rules_of
from aggregator.silence import Silent, find_silent
from aggregator.surroundings import Surroundings
from aggregator.voting import advice_of, ended_of, evidence_of, is_flagged
from pacewatch import log
from pacewatch.words.endpoint import Endpoint
from pacewatch.words.verdict import Advice

logger = logging.getLogger(__name__)

MOST_RUNS = 500
"""Runs of one endpoint that one tick takes; the next takes the rest."""


UNREADABLE = (ArithmeticError, LookupError, TypeError, ValueError)
"""What a state or a run that makes no sense raises: its endpoint is left alone, as one is that the
store refuses to write; the others are judged.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What one tick did, committed."""

    endpoints: int = 0
    runs: int = 0
    turned: tuple[str, ...] = ()
    """What changed: `groq/gpt-oss-120b alarm first_token`."""


def judge_due(pool: Pool, orders: Orders, now: datetime) -> Judged:
    """Judge the endpoints that have new runs, or that are due as time goes by.

    Raises StoreError.
    """
    known = {endpoint.id: endpoint for endpoint in orders.fleet.endpoints}
    judged = runs = 0
    turned: list[str] = []
    with translated(), pool.connection() as connection:
        with connection.transaction():
            _run(connection, "forget_others", endpoints=sorted(known))
        with connection.transaction():
            silent, told = find_silent(connection, orders, now)
            due = {row["endpoint"] for row in _rows(connection, "find_due", now=now)}
            doubted = probers.find_doubted(connection, orders, now)
            multiplier = read_multiplier(connection)
            close_lasting(connection, known.keys(), orders.fleet.schedule.day_s, now)
            annotate(connection, orders.fleet.schedule.day_s, now)
        due |= {
            endpoint
            for endpoint in silent.keys() | told.keys()
            if silent.get(endpoint, {}).keys() != told.get(endpoint, set())
        }
        surroundings = Surroundings(orders, doubted, now)
        bench = Bench(connection, orders, surroundings, multiplier, now)
        for endpoint in sorted(due & known.keys()):
            done = bench.attempt(known[endpoint], silent.get(endpoint, {}))
            if done is not None:
                judged, runs = judged + 1, runs + done[0]
                turned += (f"{endpoint} {one.turn} {one.trouble}" for one in done[1])
        with connection.transaction():
            probers.follow_probers(connection, orders, doubted, surroundings.flagged, now)
            _run(connection, "note_judged", now=now)
    return Judged(endpoints=judged, runs=runs, turned=tuple(turned))


@dataclass(frozen=True, slots=True)
class Bench:
    """Where one endpoint after another is judged, at one moment."""

    connection: Connection
    orders: Orders
    surroundings: Surroundings
    multiplier: float
    """Of the thresholds, as calibrated."""
    now: datetime

    def attempt(self, endpoint: Endpoint, silent: Silent) -> tuple[int, list[Change]] | None:
        """Judge an endpoint as `judge` does; where that fails it is noted and undone, and None.

        Raises psycopg's error where the connection itself is gone.
        """
        try:
            return self.judge(endpoint, silent)
        except (*UNREADABLE, psycopg.Error) as error:
            if self.connection.closed:
                raise
            why = f"{type(error).__name__}: {error}"
            log.event(logger, "judge.failed", level=logging.ERROR, endpoint=endpoint.id, why=why)
            return None

    def judge(self, endpoint: Endpoint, silent: Silent) -> tuple[int, list[Change]] | None:
        """Judge an endpoint in one transaction; return how many runs it took and what changed.

        None where another judge is at it.
        """
        connection, now = self.connection, self.now
        with connection.transaction():
            _run(connection, "make_judgement", endpoint=endpoint.id, now=now)
            held = _rows(connection, "lock_judgement", endpoint=endpoint.id)
            if not held:
                return None
            rules = rules_of(self.orders, endpoint.id, self.multiplier)
            watch = watch_of(held[0]["state"], rules)
            away.rest(watch, silent.keys(), now.timestamp())
            rows = _unjudged(connection, endpoint.id, held[0]["earliest_at"])
            changes = watch.take(_evidence(connection, endpoint.id, rows), now.timestamp())
            self.surroundings.flagged |= {
                (row["region"], row["worker"]) for row in rows if is_flagged(row)
            }
            changes += watch.pass_time(now.timestamp())
            if held[0]["accepted"]:
                watch.accept()
            self.surroundings.learn(endpoint.id, watch)
            self._follow(endpoint, watch, changes, accepted=held[0]["accepted"])
            runs = [row["run_id"] for row in rows]
            with connection.pipeline():  # what has no answer to wait for
                _write(connection, endpoint.id, watch, silent, now)
                _run(connection, "delete_unjudged", endpoint=endpoint.id, runs=runs)
        return len(rows), changes

    def _follow(
        self, endpoint: Endpoint, watch: Watch, changes: list[Change], *, accepted: bool
    ) -> None:
        """Write what follows into the incidents, and order the probes that are due."""
        connection, now = self.connection, self.now
        case = Case(
            endpoint=endpoint,
            watch=watch,
            changes=tuple(changes),
            simulated=self.orders.fleet.simulated,
            accepted=accepted,
            attribute=lambda met: self.surroundings.sort(connection, endpoint, watch, met),
            paused=self.orders.fleet.paused,
        )
        incident = follow(connection, case, now)
        if incident is not None:
            order(connection, self.orders, endpoint, watch, incident, now)


def _unjudged(
    connection: Connection, endpoint: str, earliest_at: datetime | None
) -> list[dict[str, Any]]:
    """Return the runs that wait; what comes in meanwhile with an earlier slot waits on."""
    if earliest_at is None:
        return []
    values = {"earliest": earliest_at, "most": MOST_RUNS}
    return _rows(connection, "select_unjudged", endpoint=endpoint, **values)


def _evidence(
    connection: Connection, endpoint: str, rows: list[dict[str, Any]]
) -> Iterator[Evidence]:
    """Yield what the runs say; notes what somebody must set right.

    A run whose rows are gone says nothing.
    """
    met: dict[Advice, tuple[str, datetime, int]] = {}
    for row in rows:
        if row["ended"] is None or row["region"] is None:
            continue
        ended = ended_of(connection, row)
        for advice in advice_of(row, ended):
            runs = met[advice][2] if advice in met else 0
            met[advice] = row["region"], row["slot_at"], runs + 1
        evidence = evidence_of(row, ended)
        if evidence is not None:
            yield evidence
    if met:
        _run(
            connection,
            "upsert_advisories",
            endpoint=endpoint,
            kinds=[str(advice) for advice in met],
            regions=[region for region, _, _ in met.values()],
            moments=[at for _, at, _ in met.values()],
            runs=[runs for _, _, runs in met.values()],
        )


def _write(
    connection: Connection, endpoint: str, watch: Watch, silent: Silent, now: datetime
) -> None:
    rows = verdicts.rows_of(watch, silent, now)
    _run(connection, "upsert_verdicts", endpoint=endpoint, rows=Json(rows), now=now)
    regions = list(watch.rules.regions)
    _run(connection, "delete_verdicts", endpoint=endpoint, regions=regions)
    due = [at for at in (watch.due_at, away.due_at(watch, now.timestamp())) if at is not None]
    _run(
        connection,
        "note_judgement",
        endpoint=endpoint,
        state=Jsonb(state_of(watch)),
        due_at=datetime.fromtimestamp(min(due), UTC) if due else None,
        now=now,
    )


def _run(connection: Connection, name: str, **values: object) -> None:
    connection.execute(queries("judge")[name], values)


def _rows(connection: Connection, name: str, **values: object) -> list[dict[str, Any]]:
    return connection.execute(queries("judge")[name], values).fetchall()
