"""What is known around a trouble: the endpoint's other regions, the others, the network, ourselves.

Read once a tick and only where a trouble is to be sorted.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import log
from typing import Any

from aggregator.db import Connection, queries
from aggregator.detect.others import OTHERS_S, Others, Points, look_around, others_of
from aggregator.detect.scope import Around, Attribution, classify
from aggregator.detect.standing import Met
from aggregator.detect.watch import Watch
from aggregator.fleet_file import Orders
from aggregator.reading import stored_requests
from pacewatch.words.endpoint import Endpoint
from pacewatch.words.figures import percentile
from pacewatch.words.verdict import Trouble

NETWORK_RUNS = 12
"""Runs whose round trips are compared, of before as many."""


class Surroundings:
    """The fleet as one tick of the judge sees it."""

    def __init__(self, orders: Orders, doubted: frozenset[str], now: datetime) -> None:
        """Look at a fleet; doubted are the regions whose workers' own timing is suspect."""
        self.orders, self.doubted, self.now = orders, doubted, now
        self.flagged: set[tuple[str, str]] = set()
        """Region and id of workers that flagged runs of this tick themselves."""
        self._recent: dict[str, Points] | None = None

    def sort(
        self, connection: Connection, endpoint: Endpoint, watch: Watch, met: Met
    ) -> tuple[Attribution, str]:
        """Return whose fault a trouble looks like, and the region that has it worst."""
        if met.trouble in (Trouble.QUOTA, Trouble.GONE):
            return classify(Around(trouble=met.trouble)), met.region
        others = self._others(connection, endpoint, met, watch)
        around, suspect = look_around(watch, met, others, self.doubted)
        around = replace(
            around,
            network_z=self._network(connection, endpoint.id, suspect, met.since),
            prober_suspect=suspect in self.doubted,
            identity_changed=self._has_changed(connection, endpoint.id, met.since),
        )
        return classify(around), suspect

    def learn(self, endpoint: str, watch: Watch) -> None:
        """Take in what an endpoint's judging has just found."""
        if self._recent is not None:
            self._recent[endpoint] = {region: tuple(p) for region, p in watch.recent.items()}

    def _others(self, connection: Connection, endpoint: Endpoint, met: Met, watch: Watch) -> Others:
        """Return of each other provider's endpoints the provider and the z of each region."""
        if self._recent is None:
            self._recent = {
                row["endpoint"]: row["recent"] or {}
                for row in connection.execute(queries("judge")["select_recent"])
            }
        after = max(met.since, self.now.timestamp() - watch.rules.scaled(OTHERS_S))
        return others_of(self.orders.fleet.endpoints, self._recent, endpoint, met, after)

    def _network(
        self, connection: Connection, endpoint: str, region: str, since: float
    ) -> float | None:
        """Return ln of round trips and connects since then against those before, the greater."""
        began = datetime.fromtimestamp(since, UTC)
        rows = connection.execute(
            queries("judge")["select_paths"],
            {
                "endpoint": endpoint,
                "region": region,
                "began": began,
                "earliest": began - timedelta(seconds=self.orders.fleet.schedule.window_s),
                "most": NETWORK_RUNS,
            },
        ).fetchall()
        paths = [(row["is_after"], _path(stored_requests(row["record"]))) for row in rows]
        ratios = []
        for place in (0, 1):
            before, after = (
                percentile(_known(p[place] for is_after, p in paths if is_after is when), 0.5)
                for when in (False, True)
            )
            if before and after:
                ratios.append(log(after / before))
        return max(ratios, default=None)

    def _has_changed(self, connection: Connection, endpoint: str, since: float) -> bool:
        lead = timedelta(seconds=OTHERS_S * self.orders.fleet.schedule.day_s / 86_400)
        row = connection.execute(
            queries("judge")["find_change"],
            {"endpoint": endpoint, "since": datetime.fromtimestamp(since, UTC) - lead},
        ).fetchone()
        return row is not None


def _path(requests: Sequence[Mapping[str, Any]]) -> tuple[float | None, float | None]:
    """Return the median time to connect and round trip of a run, microseconds."""
    connections = [request.get("connection") or {} for request in requests]
    connects = [c["connect_us"] for c in connections if c.get("connect_us")]
    trips = [c["rtt_us"][0] for c in connections if (c.get("rtt_us") or [None])[0]]
    return percentile(connects, 0.5), percentile(trips, 0.5)


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]
