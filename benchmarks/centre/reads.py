"""What is read, against its bare queries: a scrape, the board."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from aggregator import db
from aggregator.db import queries
from aggregator.regions import Scope, issue_token
from centre.pushing import batches, region_of
from centre.served import Aggregator, bare
from centre.store import Store

SCRAPED = (
    "select_endpoints",
    "select_scraped_series",
    "select_place_counters",
    "select_outcome_counters",
    "select_missed_counters",
    "select_workers",
)
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


def best(times: int, act: Callable[[], float]) -> float:
    """Return the least of so many times."""
    return min(act() for _ in range(times))


def scrape(store: Store, served: Aggregator, *, packed: bool) -> Read:
    """Scrape as Prometheus does, or without compression."""
    encoding = "gzip" if packed else "identity"
    answers = [served.ask("/metrics", accept_encoding=encoding) for _ in range(TIMES)]
    assert {answer.status for answer in answers} == {200}
    rows = [(queries("read")[name], {}) for name in SCRAPED]
    body = answers[-1].body
    return Read(
        took_s=min(answer.took_s for answer in answers),
        bare_s=best(TIMES, lambda: bare(store, *rows)),
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
