"""Evidence on endpoints since a moment: runs, requests, medians beside those of the time before."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from aggregator.changes import Change, of_endpoints, read_changes
from aggregator.db import Connection, queries
from aggregator.pooled import FEWEST_RUNS, Pooled, read_pooled
from aggregator.reading import stored_requests
from aggregator.rows import EndpointRow, read_rows
from aggregator.statistic import Statistic, of_values, over_regions
from pacewatch.words.flag import Figure
from pacewatch.words.slot import Load, Purpose

Row = dict[str, Any]

LONGEST = timedelta(days=31)
"""How far back evidence goes; further back there is the export."""

MOST_ENDPOINTS = 10
"""Endpoints of an incident that are told of; its others are named."""

MOST_RUNS = 300
"""Latest runs that are told request by request; the medians are over all."""

_SAMPLED = 20
"""Latest runs of a region before the moment whose connections are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A series, or a workload and load over all regions, before the moment and since."""

    endpoint: str
    region: str
    """Empty: over all regions, each weighing the same."""
    workload: str
    load: str
    before: Mapping[Figure, Statistic]
    since: Mapping[Figure, Statistic]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Of which endpoints and times evidence is asked for."""

    endpoints: tuple[str, ...]
    since: datetime
    until: datetime
    window: timedelta
    """How long the time before is."""

    @property
    def begin(self) -> datetime:
        """Return where the time before begins."""
        return self.since - self.window


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """The evidence; rows have the names of the store's columns."""

    asked: Asked
    facts: Sequence[EndpointRow]
    compared: Sequence[Compared]
    outcomes: Sequence[Row]
    changes: Sequence[Change]
    runs: Sequence[Row]
    """The latest ones since the moment, the newest first, each with its `timings`."""
    left_out: int
    """Runs since the moment that are not among them."""
    seen: Mapping[UUID, Mapping[int, Row]]
    """What workers saw, by run and request, as far as it is kept."""
    before: Sequence[Row]
    """Runs before the moment, in `seen`, whose connections stand beside those since."""
    definitions: Sequence[int]
    """Versions of the definitions that the runs of both times were measured by."""


def read_bundle(connection: Connection, asked: Asked) -> Bundle:
    """Return the evidence at the connection's one moment; raises StoreError."""
    names = list(asked.endpoints)
    times = {"from": asked.begin, "since": asked.since, "until": asked.until}
    found = _rows(connection, "select_bundle_runs", endpoints=names, **times)
    since = [row for row in found if row["slot_at"] > asked.since]
    told, before = since[:MOST_RUNS], _sampled(found, asked.since)
    return Bundle(
        asked=asked,
        facts=read_rows(connection, EndpointRow, "select_endpoints", endpoints=names),
        compared=_compared(connection, found, asked),
        outcomes=_rows(connection, "select_bundle_outcomes", endpoints=names, **times),
        changes=_changes(connection, asked),
        runs=_with_timings(connection, told, times),
        left_out=len(since) - len(told),
        seen=_seen(connection, [*told, *before], times),
        before=before,
        definitions=sorted({row["definition"] for row in found}),
    )


def _changes(connection: Connection, asked: Asked) -> list[Change]:
    return read_changes(connection, of_endpoints(asked.endpoints, since=asked.begin, limit=100))


def _sampled(found: Iterable[Row], since: datetime) -> list[Row]:
    """Return the latest runs of each endpoint and region up to the moment."""
    sampled: dict[tuple[str, str], list[Row]] = {}
    for row in found:
        if row["slot_at"] <= since:
            place = sampled.setdefault((row["endpoint"], row["region"]), [])
            if len(place) < _SAMPLED:
                place.append(row)
    return [row for rows in sampled.values() for row in rows]


def _with_timings(connection: Connection, told: Sequence[Row], times: Row) -> list[Row]:
    timings: dict[UUID, list[Row]] = {}
    runs = [row["run_id"] for row in told]
    for row in _rows(connection, "select_bundle_timings", runs=runs, **times):
        timings.setdefault(row["run_id"], []).append(row)
    return [{**row, "timings": timings.get(row["run_id"], [])} for row in told]


def _seen(connection: Connection, told: Sequence[Row], times: Row) -> dict[UUID, dict[int, Row]]:
    """Return what the workers' records say of each request but for its timeline."""
    seen: dict[UUID, dict[int, Row]] = {}
    values = {"runs": [row["run_id"] for row in told], **times}
    found = connection.execute(queries("bundle")["select_bundle_timelines"], values, binary=True)
    for row in found:
        seen[row["run_id"]] = {
            one["n"]: {name: one.get(name) for name in _KEPT}
            for one in stored_requests(row["record"])
        }
    return seen


_KEPT = ("connection", "server_timings", "identity", "finish", "error")


def _compared(connection: Connection, found: Sequence[Row], asked: Asked) -> list[Compared]:
    """Return every workload and load over all regions, where there are several, and each series."""
    groups: dict[tuple[str, str, str], dict[str, list[Row]]] = {}
    for row in found:
        if row["counts"]:
            key = (row["endpoint"], row["workload"], row["load"])
            groups.setdefault(key, {}).setdefault(row["region"], []).append(row)
    several = {key: regions for key, regions in groups.items() if len(regions) > 1}
    pools = [[rows[0]["series_id"] for rows in regions.values()] for regions in several.values()]
    before = read_pooled(connection, pools, now=asked.since, window=asked.window)
    since = read_pooled(
        connection,
        pools,
        now=asked.until,
        window=asked.until - asked.since,
        also=Purpose.CONFIRM,
    )
    pooled = dict(zip(several, zip(before, since, strict=True), strict=True))
    return [
        one
        for key, regions in sorted(groups.items(), key=_order)
        for one in (
            *((_over_regions(key, *pooled[key]),) if key in pooled else ()),
            *(
                _in_region(key, region, rows, asked.since)
                for region, rows in sorted(regions.items())
            ),
        )
    ]


def _order(group: tuple[tuple[str, str, str], object]) -> tuple[str, str, bool]:
    """Order by endpoint and workload, single requests first."""
    endpoint, workload, load = group[0]
    return endpoint, workload, load != Load.SINGLE


def _over_regions(key: tuple[str, str, str], before: Pooled, since: Pooled) -> Compared:
    endpoint, workload, load = key
    enough = FEWEST_RUNS[Load(load)]
    return Compared(
        endpoint=endpoint,
        region="",
        workload=workload,
        load=load,
        before=_of_pool(before, enough),
        since=_of_pool(since, enough),
    )


def _of_pool(pooled: Pooled, enough: int) -> dict[Figure, Statistic]:
    return {figure: over_regions(pooled.get(figure), enough) for figure in Figure}


def _in_region(
    key: tuple[str, str, str], region: str, rows: Sequence[Row], since: datetime
) -> Compared:
    endpoint, workload, load = key
    enough = FEWEST_RUNS[Load(load)]
    return Compared(
        endpoint=endpoint,
        region=region,
        workload=workload,
        load=load,
        before=_of_runs([row for row in rows if row["slot_at"] <= since], enough),
        since=_of_runs([row for row in rows if row["slot_at"] > since], enough),
    )


def _of_runs(rows: Sequence[Row], enough: int) -> dict[Figure, Statistic]:
    return {
        figure: of_values([row[figure] for row in rows if row[figure] is not None], enough)
        for figure in Figure
    }


def _rows(connection: Connection, name: str, **values: object) -> list[Row]:
    return connection.execute(queries("bundle")[name], values).fetchall()
