"""Ingest against the same SQL with the same values from psycopg alone."""

import statistics
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from aggregator import ingest
from aggregator.admission import read_pushed
from centre.pushing import batches, region_of
from centre.recorder import Recorder
from centre.store import WINDOW, Store


class UndoneError(Exception):
    """Ends a transaction without its effect."""


def timed(act: Callable[[], object]) -> float:
    """Return how long it takes, seconds."""
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def push(store: Store, batch: Sequence[dict[str, Any]]) -> None:
    """Take a batch in, as the aggregator does once it is parsed."""
    results = ingest.accept(store.pool, batch, region=region_of(batch), now=store.now)
    assert all(result.status == "stored" for result in results), results


def recorded(store: Store, batch: Sequence[dict[str, Any]]) -> list[tuple[str, Any]]:
    """Return the statements that a batch takes, with their values; nothing is kept."""
    read = [read_pushed(raw, region_of(batch)) for raw in batch]
    try:
        with store.pool.connection() as connection, connection.transaction():
            recorder = Recorder(connection)
            ingest.take_in(recorder, read, now=store.now, window=WINDOW)  # type: ignore[arg-type]
            raise UndoneError
    except UndoneError:
        return recorder.done


def replay(store: Store, statements: Sequence[tuple[str, Any]]) -> None:
    """Execute the statements in one transaction, and fetch what they return."""
    with store.pool.connection() as connection, connection.transaction():
        for query, values in statements:
            found = connection.execute(query, values)
            if found.description is not None:
                found.fetchall()


def measure(store: Store, *, runs: int, count: int, seed: int) -> dict[str, float]:
    """Return the medians of commits of so many runs: bare SQL, the transaction as ingest does it,
    and all of ingest, reading and figures included; taken in turns.
    """
    took: dict[str, list[float]] = {"bare": [], "transaction": [], "whole": []}
    ways = list(took)
    for number, batch in enumerate(batches(store, many=3 * count, runs=runs, seed=seed)):
        way = ways[number % 3]
        if way == "bare":
            statements = recorded(store, batch)
            took[way].append(timed(lambda: replay(store, statements)))  # noqa: B023
        elif way == "transaction":
            read = [read_pushed(raw, region_of(batch)) for raw in batch]
            took[way].append(timed(lambda: transaction(store, read)))  # noqa: B023
        else:
            took[way].append(timed(lambda: push(store, batch)))  # noqa: B023
    return {way: statistics.median(found) for way, found in took.items()}


def transaction(store: Store, read: Sequence[Any]) -> None:
    """Take in records that were read, in one transaction."""
    with store.pool.connection() as connection:
        ingest.take_in(connection, read, now=store.now, window=WINDOW)


def together(store: Store, *, writers: int, count: int) -> float:
    """Push from several threads; return runs a second."""
    shares = [batches(store, many=count, runs=20, seed=100 + n) for n in range(writers)]
    faults: list[Exception] = []

    def write(share: Sequence[Sequence[dict[str, Any]]]) -> None:
        try:
            for batch in share:
                push(store, batch)
        except Exception as error:  # noqa: BLE001 - told by the caller
            faults.append(error)

    threads = [threading.Thread(target=write, args=(share,)) for share in shares]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    runs = sum(len(batch) for share in shares for batch in share)
    return runs / (time.perf_counter() - started)
