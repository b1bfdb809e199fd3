"""What a push costs while history grows: fleets with four days of it and with 400, in turns."""

import statistics
from dataclasses import replace

from aggregator.admission import read_pushed
from centre.ingest import timed, transaction
from centre.pushing import batches, region_of
from centre.store import Size, Store, filled_store

DAYS, MORE_DAYS = 4, 400
FLEET = Size(endpoints=40, regions=5, days=DAYS)

TIMES, WARM = 24, 6
"""Pushes of either fleet, and how many of them are before any counts."""


def history_ratio() -> dict[str, float]:
    """Return how many times as long a commit of 20 runs takes with 400 days of history; pushed in
    turns, so that whatever else the machine does slows both alike.
    """
    with filled_store(FLEET) as short, filled_store(replace(FLEET, days=MORE_DAYS)) as long:
        took = in_turns(short, long)
    before, after = (statistics.median(found) for found in took)
    return {"ratio": after / before, "4_days_ms": 1_000 * before, "400_days_ms": 1_000 * after}


def in_turns(*stores: Store) -> list[list[float]]:
    """Push to each store in turns; return how long each push took, seconds, by store."""
    took: list[list[float]] = [[] for _ in stores]
    made = [batches(store, many=TIMES, runs=20, seed=41) for store in stores]
    for number in range(TIMES):
        for store, batch, found in zip(stores, made, took, strict=True):
            read = [read_pushed(raw, region_of(batch[number])) for raw in batch[number]]
            seconds = timed(lambda: transaction(store, read))  # noqa: B023
            if number >= WARM:
                found.append(seconds)
    return took
