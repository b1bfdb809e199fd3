"""A fleet to dispatch for, with endpoints that nobody serves, and what stands in the store."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from aggregator import db
from aggregator.dispatch import Tick, tick
from aggregator.fleet_file import Orders, orders_of
from pacewatch.words.endpoint import Auth, Endpoint, Precision, Price, Protocol
from pacewatch.words.fleet import Fleet, Region, Schedule, Spending
from pacewatch.words.slot import Slot
from support.centre import make_fleet

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
"""Where the tests' time begins."""

ENDPOINTS = ("alpha/one", "alpha/two", "beta/one")
REGIONS = ("eu-west", "us-east")


def make_endpoint(endpoint: str, **fields: object) -> Endpoint:
    """An endpoint of that id; costs US$ 1 a million tokens each way."""
    provider, model = endpoint.split("/")
    made: dict[str, Any] = {
        "id": endpoint,
        "provider": provider,
        "provider_name": provider.title(),
        "model": model,
        "provider_model": model,
        "precision": Precision.UNKNOWN,
        "protocol": Protocol.OPENAI_CHAT,
        "base_url": f"https://{provider}.example/v1",
        "auth": Auth.NONE,
        "price": Price(input_usd=1.0, output_usd=1.0, source="test"),
    }
    return Endpoint(**(made | fields))


def dispatch_fleet(
    *,
    endpoints: Iterable[Endpoint | str] = ENDPOINTS,
    regions: Iterable[str] = REGIONS,
    **fields: object,
) -> Fleet:
    """A real fleet with the schedule of every day and room to spend; no tick is too early."""
    found = [make_endpoint(one) if isinstance(one, str) else one for one in endpoints]
    made: dict[str, Any] = {
        "simulated": False,
        "regions": {name: Region(name=name) for name in regions},
        "catalog": {endpoint.id: endpoint for endpoint in found},
        "endpoints": tuple(found),
        "schedule": Schedule(tick_s=0),
        "spending": Spending(usd_per_day=1_000.0),
    }
    return make_fleet(**(made | fields))


def empty(pool: db.Pool) -> None:
    """Take out all that dispatchers and workers wrote, so that tests may share a database."""
    with pool.connection() as connection:
        connection.execute(
            "delete from slot; delete from worker; delete from confirm_order; delete from aside;"
            " delete from missed_counter;"
            " delete from place_counter; delete from series_stat; delete from series;"
            " delete from endpoint_version; delete from endpoint;"
            " update store set catalog_hash = null, fleet_hash = null, planned_until = null,"
            " schedule_hash = null, ticked_at = null, resumed_at = null"
        )


class Centre:
    """One dispatcher, whose time is what a test says."""

    def __init__(self, pool: db.Pool, fleet: Fleet) -> None:
        self.pool = pool
        self.orders: Orders = orders_of(fleet)

    @property
    def fleet(self) -> Fleet:
        return self.orders.fleet

    def tick(self, now: datetime) -> Tick:
        """One tick, which must take place."""
        done = tick(self.pool, self.orders, now)
        assert done is not None, "the tick was left to another"
        return done

    def change(self, fleet: Fleet) -> None:
        self.orders = orders_of(fleet)

    def slots(self, where: str = "true") -> list[dict[str, Any]]:
        return self.rows(f"select * from slot where {where} order by slot_at, run_id")

    def states(self, where: str = "true") -> Counter[tuple[str, str | None]]:
        """How many slots are in which state for which reason."""
        return Counter((row["state"], row["reason"]) for row in self.slots(where))

    def missed(self, region: str) -> dict[str, int]:
        """The counters of missed runs of a region, those above 0."""
        rows = self.rows(
            "select reason, sum(runs) as runs from missed_counter where region = %s"
            " group by reason having sum(runs) > 0",
            region,
        )
        return {row["reason"]: int(row["runs"]) for row in rows}

    def rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        with self.pool.connection() as connection:
            return connection.execute(query, values or None).fetchall()

    def hear(
        self,
        region: str,
        now: datetime,
        in_hand: Iterable[Slot] = (),
        *,
        worker: str = "w1",
    ) -> None:
        """A heartbeat of a worker of the region, as the centre keeps it."""
        with self.pool.connection() as connection:
            connection.execute(
                "insert into worker (region, worker, version, catalog, last_seen_at,"
                " clock_offset_s, in_hand, outbox_runs) values (%s, %s, '1', 'c', %s, 0, %s, 0)"
                " on conflict (region, worker) do update set"
                " last_seen_at = excluded.last_seen_at, in_hand = excluded.in_hand",
                (region, worker, now, [slot.run_id for slot in in_hand]),
            )
