"""An incident from the store to those who are told: a real aggregator, Prometheus by the shipped
rules, Alertmanager by the shipped configuration. Rows say what a judge would have written.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import psycopg
import pytest
from support.alertmanager import Told, running_alertmanager
from support.believed import Made, add_incident, add_verdict
from support.prometheus import Prometheus, running_prometheus
from support.seed import add_endpoint, prepare
from support.servers import short_folder
from support.stack import free_port, until

from aggregator import db

CONFIG = 'endpoints = []\n[[endpoint]]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'


@pytest.fixture
def store(database_url: str) -> Iterator[db.Connection]:
    """A store in which groq is slow and cerebras is as usual, and nothing has been confirmed."""
    db.migrate(database_url)
    now = datetime.now(UTC)
    with psycopg.connect(database_url, autocommit=True, row_factory=db.dict_row) as connection:
        prepare(connection, now)
        for endpoint, verdict, ratio in (("groq/a", "slow", 2.04), ("cerebras/a", "ok", 1.3)):
            add_endpoint(connection, endpoint, now, importance="page")
            add_verdict(connection, endpoint, verdict, now, speed_ratio=ratio)
        yield connection


@contextmanager
def aggregator(database_url: str, listen: str) -> Iterator[None]:
    environment = {
        "PATH": os.environ["PATH"],
        "PACEWATCH_CONFIG": "pacewatch.toml",
        "PACEWATCH_DATABASE_URL": database_url,
        "PACEWATCH_LISTEN": listen,
    }
    with short_folder() as folder:
        (folder / "pacewatch.toml").write_text(CONFIG)
        command = (sys.executable, "-P", "-m", "pacewatch", "aggregator")
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(command, env=environment, cwd=folder, stderr=log)
        try:
            yield
        except AssertionError as failed:
            failed.add_note(
                f"the aggregator ({process.poll()}) said: {(folder / 'log').read_text()}"
            )
            raise
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def watched() -> Iterator[tuple[str, Prometheus, Told]]:
    """Where the aggregator is to listen, and who watches it."""
    listen = f"127.0.0.1:{free_port()}"
    with (
        short_folder() as folder,
        running_alertmanager(folder) as (alertmanager, told),
        running_prometheus(folder, listen, alertmanager=alertmanager) as prometheus,
    ):
        yield listen, prometheus, told


def test_an_incident_is_one_page_with_its_figures_until_it_closes_and_not_before(
    store, database_url, watched
):
    listen, prometheus, told = watched
    line = "groq is slow: a 2.0 times slower in output speed"

    with aggregator(database_url, listen):
        until(lambda: prometheus.rows("pacewatch_verdict == 1"))
        made = Made(fields={"importance": "page", "simulated": False})
        number = add_incident(store, made, datetime.now(UTC))
        (page,) = until(lambda: told.to("pagerduty"))
    assert page["event_action"] == "trigger"
    assert page["payload"]["summary"] == line
    assert page["payload"]["severity"] == "critical"
    assert page["client_url"] == f"http://{listen}/incidents/{number}"
    assert page["links"][1]["href"] == f"http://{listen}/runbooks/ProviderSlow.md"
    until(lambda: line in told.titles())

    # the aggregator is away, and its series with it: nothing ends
    until(lambda: prometheus.rows("pacewatch_incident_open") == [])
    prometheus.evaluate()
    assert ("ProviderSlow", None) in prometheus.firing()

    with aggregator(database_url, listen):
        until(lambda: prometheus.rows("pacewatch_incident_open"))
        store.execute("update incident set state = 'closed', ended_at = now()")
        until(lambda: len(told.to("pagerduty")) > 1)
        until(lambda: f"Over: {line}" in told.titles())
    opened, closed = told.to("pagerduty")
    assert (closed["event_action"], closed["dedup_key"]) == ("resolve", opened["dedup_key"])
    assert not any("cerebras" in title for title in told.titles())
