"""What is read, against its bare queries: a scrape, the board."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from aggregator import db
from aggregator.board import Filter, read_board
from aggregator.metrics import make_page, read_all
from aggregator.regions import Scope, issue_token
from aggregator.series import read_series
from centre.pushing import batches, region_of
from centre.served import Aggregator, bare
from centre.store import WINDOW, Store
from pacewatch.words.fleet import Fleet

TIMES = 5


@dataclass(frozen=True, kw_only=True)
class Read:
    """The best of a few times, beside the best of the bare queries."""

    took_s: float
    bare_s: float
    size: int
    samples: int = 0
    """Of a scrape."""

    @property
    def ratio(self) -> float:
        """Return how many times the bare queries it takes."""
        return self.took_s / self.bare_s


def scrape(store: Store, served: Aggregator, *, packed: bool) -> Read:
    """Scrape as Prometheus does, or without compression."""
    encoding = "gzip" if packed else "identity"

    def rows(connection: db.Connection) -> None:
        list(make_page(read_all(connection), now=store.now, window=WINDOW))

    return in_turns(served, "/metrics", bare(store, rows), accept_encoding=encoding)


def board(store: Store, served: Aggregator) -> Read:
    """Ask for the first part of the board."""
    fleet = Fleet(regions={}, catalog={}, endpoints=())

    def rows(connection: db.Connection) -> None:
        read_board(connection, fleet, Filter(), store.now)

    return in_turns(served, "/api/board", bare(store, rows))


def page(store: Store, served: Aggregator) -> Read:
    """Ask for the board as a page."""
    fleet = Fleet(regions={}, catalog={}, endpoints=())
    asked = Filter(workloads=frozenset({"standard"}), loads=frozenset({"single"}))

    def rows(connection: db.Connection) -> None:
        read_board(connection, fleet, asked, store.now)

    return in_turns(served, "/", bare(store, rows))


def series(store: Store, served: Aggregator) -> Read:
    """Ask for a page of series."""
    fleet = Fleet(regions={}, catalog={}, endpoints=())

    def rows(connection: db.Connection) -> None:
        read_series(connection, fleet, Filter(), store.now, after=0, limit=200)

    return in_turns(served, "/api/series", bare(store, rows))


def in_turns(served: Aggregator, path: str, bare: Callable[[], float], **headers: str) -> Read:
    """Ask and read a few times, in turns; return the best of both."""
    served.ask(path, **headers)
    bare()
    answers, alone = [], []
    for _ in range(TIMES):
        answers.append(served.ask(path, **headers))
        alone.append(bare())
    assert {answer.status for answer in answers} == {200}
    body = answers[-1].body
    return Read(
        took_s=min(answer.took_s for answer in answers),
        bare_s=min(alone),
        size=answers[-1].size,
        samples=body.count(b"\n") - body.count(b"\n# ") - body.startswith(b"# "),
    )


def scrape_memory_mb(store: Store, served: Aggregator) -> tuple[float, float]:
    """Return the aggregator's peak of memory over three scrapes while runs are pushed, and how
    many runs a second went in meanwhile.
    """
    served.ask("/metrics", accept_encoding="gzip")
    served.forget_peak()
    with pushing(store, served) as count:
        started = time.perf_counter()
        for _ in range(3):
            served.ask("/metrics", accept_encoding="gzip")
        rate = count() / (time.perf_counter() - started)
    return served.peak_mb(), rate


@contextmanager
def pushing(store: Store, served: Aggregator) -> Iterator[Callable[[], int]]:
    """Push runs of one region over HTTP all the while; gives how many are in."""
    made = batches(store, many=60, runs=20, seed=7)
    with db.connect(store.url) as connection:
        tokens = {
            region: issue_token(connection, region, Scope.REGION, store.now)
            for region in {region_of(batch) for batch in made}
        }
    stopped, done = threading.Event(), [0]

    def push() -> None:
        for batch in made:
            if stopped.is_set():
                return
            answer = served.ask(
                "/v1/runs",
                method="POST",
                body=json.dumps({"runs": batch}).encode(),
                authorization=f"Bearer {tokens[region_of(batch)]}",
                content_type="application/json",
            )
            assert answer.status == 200, answer.body
            done[0] += len(batch)

    thread = threading.Thread(target=push)
    thread.start()
    try:
        yield lambda: done[0]
    finally:
        stopped.set()
        thread.join()
