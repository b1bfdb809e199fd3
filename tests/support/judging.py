"""A fleet whose runs come in as a test says, judged at moments that the test says."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from aggregator import db
from aggregator.fleet_file import orders_of
from aggregator.judge import Judged, judge_due
from pacewatch.words.fleet import DEMO_SCHEDULE, Fleet, Schedule
from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import Load, Purpose, Slot
from pacewatch.words.timing import Timing
from support.centre import migrated_pool
from support.dispatching import NOON, Centre, dispatch_fleet
from support.records import make_slot, plan, push, record_of, timed
from support.servers import fresh_database
from support.timings import make_timing

SECOND = timedelta(seconds=1)

Answer = Callable[[Slot], Timing]
"""How the provider answers a request of a slot."""

TABLES = (
    "slot, endpoint_version, endpoint, series, series_stat, run, timing, timeline, unrun,"
    " place_counter, outcome_counter, missed_counter, worker, unjudged, judgement, verdict,"
    " incident, incident_endpoint, incident_event, confirm_order, advisory, provider_change,"
    " answered, silence, notice, calibration"
)


def usual(_: Slot) -> Timing:
    """An answer as always."""
    return timed(500, 100)


def failure(outcome: Outcome = Outcome.SERVER_ERROR, **fields: Any) -> Timing:
    """A request that ended so."""
    return make_timing(outcome=outcome, **fields)


def judged_fleet(*, schedule: Schedule = DEMO_SCHEDULE, **fields: Any) -> Fleet:
    """A simulated fleet with the demo's schedule."""
    return dispatch_fleet(simulated=True, schedule=schedule, **fields)


class Court:
    """A centre whose workers answer at once; time is what it says."""

    url = ""
    """Of its store, where that is its own."""

    def __init__(self, pool: db.Pool, fleet: Fleet, *, at: datetime | None = None) -> None:
        """Begin in an empty store, or go on in one that another court has left then."""
        self.pool, self.now = pool, at or NOON
        self.centre = Centre(pool, fleet)
        self.orders = orders_of(fleet)
        self.heard = list(fleet.regions)
        """Regions whose workers live."""
        if at is None:
            with pool.connection() as connection:
                connection.execute(f"truncate {TABLES}")
                connection.execute("update store set catalog_hash = null, fleet_hash = null")
            self.centre.tick(self.now)
            with pool.connection() as connection:
                connection.execute("truncate slot")

    def play(self, seconds: float, answer: Answer = usual, *, every_s: float = 24) -> None:
        """Let time go by: each endpoint is probed from each living region once in so long, and
        whatever was ordered is run.
        """
        end = self.now + timedelta(seconds=seconds)
        while self.now < end:
            for number, region in enumerate(self.heard):
                part = timedelta(seconds=int(every_s * number / len(self.heard)))
                self.push(region, answer, self.now + part)
            self.now += timedelta(seconds=every_s)
            self.judge(self.now)
            self.confirm(answer)

    def run(self, region: str, answer: Answer = usual, *, at: datetime | None = None) -> None:
        """Run every endpoint once from a region, and judge."""
        at = at or self.now
        self.push(region, answer, at)
        self.judge(at + 6 * SECOND)

    def push(self, region: str, answer: Answer, at: datetime) -> None:
        """Run every endpoint once from a region."""
        workload = self.orders.fleet.schedule.workloads[0]
        slots = [
            make_slot(at, endpoint=endpoint.id, region=region, workload=workload)
            for endpoint in self.orders.fleet.endpoints
        ]
        with self.pool.connection() as connection:
            plan(connection, *slots)
        self.answer(slots, answer, at + 5 * SECOND)

    def confirm(self, answer: Answer = usual) -> None:
        """Run what was ordered until nothing more is."""
        while slots := self.ordered():
            self.answer(slots, answer, self.now)
            self.judge(self.now)

    def ordered(self) -> list[Slot]:
        """The confirming probes that no worker has run."""
        rows = self.centre.slots("purpose = 'confirm' and state in ('planned', 'sent')")
        return [
            Slot(
                **{name: row[name] for name in ("run_id", "endpoint", "region", "workload")},
                load=Load(row["load"]),
                purpose=Purpose(row["purpose"]),
                slot_at=row["slot_at"],
                valid_until=row["valid_until"],
            )
            for row in rows
        ]

    def answer(self, slots: list[Slot], answer: Answer, now: datetime) -> None:
        """Have the workers push runs of these slots."""
        for region in {slot.region for slot in slots}:
            records = [record_of(slot, answer(slot)) for slot in slots if slot.region == region]
            push(self.pool, *records, region=region, now=now, window_s=1_440)

    def judge(self, now: datetime) -> Judged:
        """A heartbeat of each living region, the dispatcher's mark, and one tick of the judge."""
        for region in self.heard:
            self.centre.hear(region, now)
        with self.pool.connection() as connection:
            connection.execute("update store set ticked_at = %s", (now,))
        return judge_due(self.pool, self.orders, now)

    def verdicts(self, region: str = "") -> dict[str, str]:
        rows = self.rows("select endpoint, verdict from verdict where region = %s", region)
        return {row["endpoint"]: row["verdict"] for row in rows}

    def rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        return self.centre.rows(query, *values)


@contextmanager
def learnt_store(postgres_url: str, fleet: Fleet) -> Iterator[Court]:
    """A store whose endpoints are known and as usual; nobody is connected to it."""
    with fresh_database(postgres_url) as url:
        with migrated_pool(url) as pool:
            court = Court(pool, fleet)
            court.play(312)
        court.url = url
        yield court


@contextmanager
def reopened(postgres_url: str, learnt: Court) -> Iterator[Court]:
    """A court that goes on where another one has left, in a store of its own."""
    with fresh_database(postgres_url, like=learnt.url) as url, migrated_pool(url) as pool:
        court = Court(pool, learnt.orders.fleet, at=learnt.now)
        court.url = url
        yield court
