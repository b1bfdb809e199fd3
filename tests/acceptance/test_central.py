"""Two central workers and two beats as processes, over a store that they find empty, and over a
broker and a Postgres that die.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
from support.broker import Broker
from support.servers import PostgresServer, short_folder

from aggregator import db
from pacewatch.words.wire import probe_queue

PACEWATCH = (sys.executable, "-m", "pacewatch")
CONFIG = '[simulator]\nlocal = "http://127.0.0.1:9"\n'
NAMES = ("central", "central", "beat", "beat")


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """A Postgres of the test's own."""
    with short_folder() as folder:
        server = PostgresServer(folder)
        try:
            server.start()
            yield server
        finally:
            server.kill()


def wait_for(what: str, happens: Callable[[], object], timeout_s: float = 60) -> None:
    end = time.monotonic() + timeout_s
    while not happens():
        assert time.monotonic() < end, f"{what} did not happen in {timeout_s} s"
        time.sleep(0.1)


def sent(server: PostgresServer) -> Counter[str]:
    """How often each slot was sent, as the store knows."""
    with psycopg.connect(server.url) as connection:
        rows = connection.execute("select run_id::text, sends from slot where sends > 0")
        return Counter(dict(rows.fetchall()))


def in_queue(broker: Broker) -> set[str]:
    return {message["args"][0]["run"] for message in broker.waiting(probe_queue("local"))}


def test_on_an_empty_store_ticks_begin_go_on_after_broker_and_postgres_died_and_send_a_slot_once(
    server: PostgresServer, broker: Broker, tmp_path: Path
) -> None:
    (tmp_path / "pacewatch.toml").write_text(CONFIG)
    environment = {
        **os.environ,
        "PACEWATCH_CONFIG": str(tmp_path / "pacewatch.toml"),
        "PACEWATCH_DATABASE_URL": server.url,
        "PACEWATCH_BROKER_URL": broker.url,
    }
    logs = [tmp_path / f"{n}.log" for n in range(len(NAMES))]
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    (*PACEWATCH, name),
                    env=environment,
                    stdout=stack.enter_context(log.open("w")),
                    stderr=subprocess.STDOUT,
                )
            )
            for name, log in zip(NAMES, logs, strict=True)
        ]
        stack.callback(lambda: [process.kill() for process in processes])
        wait_for("the first task", lambda: in_queue(broker))

        before = in_queue(broker)
        broker.kill()
        broker.start()
        wait_for("a task in the new broker", lambda: in_queue(broker))
        assert not before & in_queue(broker), "nothing is sent again without a heartbeat"

        server.kill()
        server.start()
        known = set(sent(server))
        wait_for("a task after Postgres came back", lambda: in_queue(broker) - known)

        assert broker.traces_of_open_celery() == []

        for process in processes:
            process.send_signal(signal.SIGTERM)
        assert [process.wait(30) for process in processes] == [0] * len(NAMES)

    assert set(sent(server).values()) == {1}
    made = []
    for name, log in zip(NAMES, logs, strict=True):
        lines: list[dict[str, Any]] = [json.loads(line) for line in log.read_text().splitlines()]
        assert {line["process"] for line in lines} == {name}
        if lines[0]["event"] == "store.migrated":
            made.append(lines.pop(0)["made"])
        assert lines[0]["event"] == f"{name}.ready"
        assert "critical" not in {line["level"] for line in lines}
    assert made == [list(db.migrations())], "they began at once, and one made the tables"
