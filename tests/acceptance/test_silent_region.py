"""A region falls silent: every part as a process, three regions, the alert rules as shipped.

The heartbeats are the demo's, and the ten minutes of the rule are scaled as they are.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from support.broker import Broker
from support.prometheus import Prometheus, running_prometheus
from support.servers import short_folder
from support.simulator import running_simulator
from support.stack import free_port, until
from support.workers import WorkerProcess, simulated_endpoints, worker_process

from aggregator import db
from aggregator.regions import Scope, issue_token

REGIONS = ("eu-west", "us-east", "ap-south")
SILENT = "ap-south"
WORKERS = ("eu-west", "us-east", SILENT, SILENT)
SILENT_AFTER_S = 15
PICKS = ("groq/gpt-oss-120b", "cerebras/gpt-oss-120b")
SCHEDULE = """
[schedule]
single_per_day = 40
parallel_per_day = 0
validity_s = 15
resend_s = 5
"""
SEEN = "pacewatch_worker_last_seen_timestamp_seconds"
MISSED = 'sum by (region) (pacewatch_runs_missed_total{reason="no_worker"})'
VERDICT = "sum by (region) (pacewatch_region_verdict{{verdict=~'{}'}})"
TRIED = "sum by (region) (pacewatch_requests_tried_total)"


def scaled(rules: str) -> str:
    """The shipped rules with the ten minutes of the silence shortened."""
    assert rules.count("> 600") == 1
    return rules.replace("> 600", f"> {SILENT_AFTER_S}")


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """The running parts."""

    aggregator: Callable[[], subprocess.Popen[bytes]]
    """Starts the aggregator, at the same address each time."""
    serving: subprocess.Popen[bytes]
    workers: tuple[WorkerProcess, ...]
    prometheus: Prometheus


@contextmanager
def running_fleet(folder: Path, database_url: str, broker: Broker) -> Iterator[Fleet]:
    listen = f"127.0.0.1:{free_port()}"
    picks = [one for one in simulated_endpoints() if one.id in PICKS]
    with ExitStack() as stack:
        simulator = stack.enter_context(running_simulator(*picks, regions=REGIONS))
        addresses = (f'{name} = "{url}"' for name, url in simulator.address.regions.items())
        names = ", ".join(f'"{name}"' for name in PICKS)
        config = folder / "pacewatch.toml"
        config.write_text(
            "\n".join([f"endpoints = [{names}]", "[simulator]", *addresses, SCHEDULE])
        )
        environment = {
            "PATH": os.environ["PATH"],
            "PACEWATCH_CONFIG": str(config),
            "PACEWATCH_DATABASE_URL": database_url,
            "PACEWATCH_BROKER_URL": broker.url,
            "PACEWATCH_LISTEN": listen,
        }

        def start(name: str) -> subprocess.Popen[bytes]:
            log = stack.enter_context((folder / f"{name}.log").open("ab"))
            command = (sys.executable, "-m", "pacewatch", name)
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        for name in ("central", "beat"):
            start(name)
        workers = []
        for number, region in enumerate(WORKERS):
            home = folder / f"w{number}"
            home.mkdir()
            with psycopg.connect(database_url, row_factory=db.dict_row) as connection:
                token = issue_token(connection, region, Scope.REGION, datetime.now(UTC))
            worker = worker_process(
                home,
                broker=broker,
                aggregator_url=f"http://{listen}",
                token=token,
                region=region,
                config=config,
            )
            workers.append(stack.enter_context(worker).start(wait=False))
        yield Fleet(
            aggregator=lambda: start("aggregator"),
            serving=start("aggregator"),
            workers=tuple(workers),
            prometheus=stack.enter_context(running_prometheus(folder, listen, scaled=scaled)),
        )


@pytest.fixture
def fleet(database_url: str, broker: Broker) -> Iterator[Fleet]:
    db.migrate(database_url)
    with short_folder() as folder, running_fleet(folder, database_url, broker) as running:
        yield running


def test_a_silent_region_is_told_until_it_speaks_and_nobody_else_is_touched(fleet):
    prometheus = fleet.prometheus
    until(lambda: set(prometheus.values(TRIED, "region")) == set(REGIONS))
    until(lambda: all(tried > 0 for tried in prometheus.values(TRIED, "region").values()))
    assert prometheus.firing() == set()

    silenced = [one for one, region in zip(fleet.workers, WORKERS, strict=True) if region == SILENT]
    for worker in silenced:
        worker.process.send_signal(signal.SIGTERM)
    assert [worker.process.wait(30) for worker in silenced] == [0, 0]
    seen_at = prometheus.values(f"max by (region) ({SEEN})", "region")[SILENT]
    tried = prometheus.values(TRIED, "region")

    until(lambda: prometheus.firing() == {("RegionSilent", SILENT)})
    until(lambda: prometheus.values(MISSED, "region")[SILENT] > 0)
    others = set(REGIONS) - {SILENT}
    until(lambda: all(prometheus.values(TRIED, "region")[one] > tried[one] for one in others))
    assert all(prometheus.values(MISSED, "region")[one] == 0 for one in others)
    assert prometheus.values(f"max by (region) ({SEEN})", "region")[SILENT] <= seen_at + 10

    fleet.serving.kill()
    until(lambda: prometheus.rows(SEEN) == [])
    prometheus.evaluate()
    assert prometheus.firing() == {("RegionSilent", SILENT)}

    fleet.aggregator()
    assert prometheus.firing() == {("RegionSilent", SILENT)}
    is_silent = {one: len(PICKS) * (one == SILENT) for one in REGIONS}
    until(lambda: prometheus.values(VERDICT.format("silent"), "region") == is_silent)
    assert set(prometheus.values(VERDICT.format("slow|failing"), "region").values()) == {0}
    silenced[0].start(wait=False)
    until(lambda: prometheus.firing() == set())
    until(lambda: prometheus.values(VERDICT.format("silent"), "region")[SILENT] == 0)
    assert prometheus.values(MISSED, "region")[SILENT] > 0
