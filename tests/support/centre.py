"""The centre's HTTP side over real sockets, and a migrated store."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from fastapi import FastAPI

from aggregator import db
from aggregator.api.app import create_app
from aggregator.api.centre import utc_now
from aggregator.api.server import listen, make_server
from pacewatch.words.fleet import DEMO_SCHEDULE, Fleet, Region

REGION = "eu-west"


def make_fleet(*, simulated: bool = True, **fields: object) -> Fleet:
    """A fleet of one region and no endpoint; the demo's schedule."""
    made = {
        "regions": {REGION: Region(name=REGION)},
        "catalog": {},
        "endpoints": (),
        "schedule": DEMO_SCHEDULE,
        "simulated": simulated,
    }
    return Fleet(**(made | fields))


@contextmanager
def migrated_pool(url: str, *, simulated: bool = True, size: int = 8) -> Iterator[db.Pool]:
    """An open pool on a migrated store of that kind."""
    with db.open_store(url, simulated=simulated, size=size) as pool:
        yield pool


@contextmanager
def served(
    pool: db.Pool, fleet: Fleet, *, clock: Callable[[], datetime] = utc_now
) -> Iterator[str]:
    """The centre on a free port of loopback; gives its base URL."""
    with running(create_app(pool, fleet, clock=clock)) as url:
        yield url


@contextmanager
def running(app: FastAPI) -> Iterator[str]:
    """An application on a free port of loopback; gives its base URL."""
    listening = listen("127.0.0.1", 0)
    server = make_server(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    port = listening.getsockname()[1]
    thread.start()
    try:
        end = time.monotonic() + 60
        while not server.started:
            assert time.monotonic() < end, "the server did not start in 60 s"
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(60)
