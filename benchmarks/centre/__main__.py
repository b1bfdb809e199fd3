"""The centre at full scale: `scripts/bench`. See benchmarks/README.md."""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from processes import watched

from aggregator import rolling
from centre import ingest, judging, reads
from centre.history import history_ratio
from centre.served import Aggregator, served
from centre.store import WINDOW, Size, Store, filled_store, say

FULL = Size(endpoints=1_000, regions=20)

READS: dict[str, Callable[[Store, Aggregator], reads.Read]] = {
    "scrape": lambda store, served: reads.scrape(store, served, packed=True),
    "scrape_unpacked": lambda store, served: reads.scrape(store, served, packed=False),
    "board": reads.board,
    "page": reads.page,
    "series": reads.series,
}

BOUNDS: dict[str, tuple[str, float]] = {
    "ingest_20": ("least", 0.7),
    "scrape": ("most", 4.0),
    "board": ("most", 3.0),
    "series": ("most", 3.0),
    "scrape_memory_mb": ("most", 200.0),
    "memory_mb": ("most", 4_000.0),
    "wrong_statistics": ("most", 0.0),
    "history": ("most", 1.5),
    "judged_runs_per_s": ("least", 20.0),
}
"""What must hold at full scale."""


def main() -> None:
    """Measure and print JSON; exit 1 where a bound is not kept at full scale."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", type=float, default=1.0, help="share of the endpoints (1.0)")
    options.add_argument("--days", type=float, default=FULL.days, help="of history (3)")
    asked = options.parse_args()
    scale, endpoints = asked.scale, max(50, round(FULL.endpoints * asked.scale))
    size = Size(endpoints=endpoints, regions=FULL.regions, days=asked.days)
    with tempfile.TemporaryDirectory(prefix="pw-bench-", dir="/tmp") as folder:
        say(f"filling {size.endpoints} endpoints x {size.regions} regions x {size.days:g} days")
        with filled_store(size) as store:
            found = measure(store, Path(folder))
    say("a push while history grows")
    history = history_ratio()
    found |= {"history": history["ratio"], "history_ms": history}
    found |= {"machine": machine()}
    rounded = json.loads(json.dumps(found), parse_float=lambda text: float(f"{float(text):.4g}"))
    sys.stdout.write(json.dumps(rounded, indent=2) + "\n")
    over = [name for name, (way, bound) in BOUNDS.items() if is_over(found[name], way, bound)]
    if scale >= 1 and over:
        sys.exit(f"over its bound: {', '.join(over)}")


def machine() -> dict[str, Any]:
    """Return the machine's size, and how busy it was in the last minute."""
    memory_mb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e6
    return {"processors": os.cpu_count(), "memory_mb": memory_mb, "load": os.getloadavg()[0]}


def is_over(value: float, way: str, bound: float) -> bool:
    """Tell whether a figure is beyond its bound."""
    return value < bound if way == "least" else value > bound


def measure(store: Store, folder: Path) -> dict[str, Any]:
    """Return every figure of a filled store."""
    found: dict[str, Any] = asdict(store.size)
    for runs, count in ((20, 15), (1, 40)):
        say(f"ingest, {runs} runs a commit")
        took = ingest.measure(store, runs=runs, count=count, seed=runs)
        found[f"ingest_{runs}"] = took["bare"] / took["transaction"]
        found[f"ingest_{runs}_with_reading"] = took["bare"] / took["whole"]
        found[f"ingest_{runs}_ms"] = {way: 1_000 * seconds for way, seconds in took.items()}
    say("four writers")
    found["four_writers_runs_per_s"] = ingest.together(store, writers=4, count=8)
    found["wrong_statistics"] = wrong_statistics(store)
    say("judging")
    found |= judging.measure(store)
    with served(store, folder) as aggregator:
        for name, read in READS.items():
            say(name)
            one = read(store, aggregator)
            found[name] = one.ratio
            found[f"{name}_s"] = {"took": one.took_s, "bare": one.bare_s}
            found[f"{name}_mb"] = one.size / 1e6
            if name == "scrape":
                found["scrape_samples"] = one.samples
        say("scrapes while runs are pushed")
        with watched() as most_mb:
            found["scrape_memory_mb"], found["scrape_while_runs_per_s"] = reads.scrape_memory_mb(
                store, aggregator
            )
        found["memory_mb"] = most_mb()
    return found


def wrong_statistics(store: Store) -> int:
    """Return how many series have other statistics than a full refresh gives them."""
    return len(rolling.refresh_all(store.pool, now=store.now, window=WINDOW).changed)


if __name__ == "__main__":
    main()
