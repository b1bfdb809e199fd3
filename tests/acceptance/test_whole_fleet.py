"""A region falls silent, a provider slows down, another one retires a model: every part as a
process, three regions, the alert rules and the Alertmanager's configuration as shipped, to those
who are told.

The heartbeats are the demo's, and the ten minutes of the rule are scaled as they are. A day is a
minute, so that what is usual is known after one.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from support.alertmanager import Told, running_alertmanager
from support.broker import Broker, embedded_broker
from support.prometheus import Prometheus, running_prometheus
from support.servers import fresh_database, short_folder
from support.simulator import RunningSimulator, running_simulator
from support.stack import free_port, until
from support.workers import WorkerProcess, simulated_endpoints, worker_process

from aggregator import db
from aggregator.regions import Scope, issue_token

REGIONS = ("eu-west", "us-east", "ap-south")
SILENT = "ap-south"
WORKERS = ("eu-west", "us-east", SILENT, SILENT)
SILENT_AFTER_S = 15
SLOWED = "together/gpt-oss-120b"
LEFT, KEPT = "groq/llama-3.3-70b", "groq/gpt-oss-120b"
"""Two models of a provider, of which it retires the first."""
OF_LEFT = f'endpoint="{LEFT}"'
PICKS = (SLOWED, LEFT, KEPT)
SCHEDULE = """
[importance]
"together/*" = "page"

[schedule]
day_s = 60
window_s = 180
single_per_day = 12
parallel_per_day = 0
validity_s = 15
resend_s = 5
"""
SEEN = "pacewatch_worker_last_seen_timestamp_seconds"
MISSED = 'sum by (region) (pacewatch_runs_missed_total{reason="no_worker"})'
VERDICT = "sum by (region) (pacewatch_region_verdict{{verdict=~'{}'}})"
BUSY_S = 400.0
"""What starting every part, or learning what is usual, may take on a busy machine."""
TRIED = "sum by (region) (pacewatch_requests_tried_total)"


def scaled(rules: str) -> str:
    """The shipped rules with the ten minutes of a region's silence shortened."""
    if "RegionSilent" not in rules:
        return rules
    found = "pacewatch:region_unheard_seconds > 600\n        for: 1m\n"
    assert rules.count(found) == 1
    return rules.replace(found, f"pacewatch:region_unheard_seconds > {SILENT_AFTER_S}\n")


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """The running parts."""

    database_url: str
    listen: str
    """Where the aggregator listens."""
    aggregator: Callable[[], subprocess.Popen[bytes]]
    """Starts the aggregator, at the same address each time."""
    serving: subprocess.Popen[bytes]
    workers: tuple[WorkerProcess, ...]
    prometheus: Prometheus
    simulator: RunningSimulator
    told: Told
    """What Alertmanager tells people."""


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
        alertmanager, told = stack.enter_context(running_alertmanager(folder))
        watching = running_prometheus(folder, listen, scaled=scaled, alertmanager=alertmanager)
        yield Fleet(
            database_url=database_url,
            listen=listen,
            aggregator=lambda: start("aggregator"),
            serving=start("aggregator"),
            workers=tuple(workers),
            prometheus=stack.enter_context(watching),
            simulator=simulator,
            told=told,
        )


@pytest.fixture(scope="module")
def fleet(postgres_url: str) -> Iterator[Fleet]:
    with (
        fresh_database(postgres_url) as database_url,
        embedded_broker() as broker,
        short_folder() as folder,
    ):
        db.migrate(database_url)
        with running_fleet(folder, database_url, broker) as running:
            yield running


def silent_regions(prometheus: Prometheus) -> set[str | None]:
    """The regions that the rule calls silent; a busy machine may make workers suspect besides."""
    return {region for alert, region in prometheus.firing() if alert == "RegionSilent"}


def test_a_silent_region_is_told_until_it_speaks_and_nobody_else_is_touched(fleet):
    prometheus = fleet.prometheus
    until(lambda: all_regions_tried(prometheus), patience_s=BUSY_S)
    until(lambda: silent_regions(prometheus) == set(), patience_s=BUSY_S)

    silenced_at = time.time()
    silenced = [one for one, region in zip(fleet.workers, WORKERS, strict=True) if region == SILENT]
    for worker in silenced:
        worker.process.send_signal(signal.SIGTERM)
    assert [worker.process.wait(BUSY_S) for worker in silenced] == [0, 0]
    seen_at = prometheus.values(f"max by (region) ({SEEN})", "region")[SILENT]
    tried, missed = (prometheus.values(query, "region") for query in (TRIED, MISSED))

    until(lambda: silent_though_heard(prometheus) == {SILENT})
    until(lambda: prometheus.values(MISSED, "region")[SILENT] > missed[SILENT])
    others = set(REGIONS) - {SILENT}
    until(
        lambda: all(prometheus.values(TRIED, "region").get(one, 0) > tried[one] for one in others)
    )
    missed_now = prometheus.values(MISSED, "region")
    for one in heard_all_along(prometheus):
        assert missed_now[one] == missed[one]
    assert prometheus.values(f"max by (region) ({SEEN})", "region")[SILENT] <= seen_at + 10

    fleet.serving.kill()
    until(lambda: prometheus.rows(SEEN) == [])
    prometheus.evaluate()
    assert silent_though_heard(prometheus) == {SILENT}

    fleet.aggregator()
    assert silent_though_heard(prometheus) == {SILENT}
    is_silent = {one: len(PICKS) * (one == SILENT) for one in REGIONS}
    until(lambda: prometheus.values(VERDICT.format("silent"), "region") == is_silent)
    assert set(prometheus.values(VERDICT.format("failing"), "region").values()) == {0}
    called = 'pacewatch_region_verdict{verdict=~"slow|failing"}'
    called_in = held_since(prometheus, called, silenced_at, "region")
    assert not called_in & {SILENT, *heard_all_along(prometheus)}
    silenced[0].start(wait=False)
    until(lambda: silent_regions(prometheus) == set())
    until(lambda: prometheus.values(VERDICT.format("silent"), "region")[SILENT] == 0)
    assert prometheus.values(MISSED, "region")[SILENT] > 0

    until(lambda: told(fleet)[-1:] and told(fleet)[-1].startswith("Over: "))
    first, *_, last = told(fleet)
    assert first.startswith(f"Region {SILENT}: no worker has been heard of for ")
    assert last.startswith(f"Over: Region {SILENT}: no worker has been heard of for ")
    assert not any("heard of" in page["payload"]["summary"] for page in fleet.told.to("pagerduty"))
    until(lambda: fleet.told.to("watchdog"))
    assert fleet.told.to("watchdog")[0]["alerts"][0]["labels"]["alertname"] == "Watchdog"


def heard_all_along(prometheus: Prometheus) -> set[str]:
    """The regions whose heartbeats never came too late, as they may on a busy machine."""
    longest = prometheus.values("max_over_time(pacewatch:region_unheard_seconds[1h])", "region")
    return {region for region, unheard_s in longest.items() if unheard_s < SILENT_AFTER_S}


def silent_though_heard(prometheus: Prometheus) -> set[str | None]:
    """The regions that are told to be silent, without those of late heartbeats."""
    late = set(REGIONS) - {SILENT} - heard_all_along(prometheus)
    return silent_regions(prometheus) - late


def all_regions_tried(prometheus: Prometheus) -> bool:
    tried = prometheus.values(TRIED, "region")
    return set(tried) == set(REGIONS) and all(tried.values())


def told(fleet: Fleet) -> list[str]:
    """What was told of regions, in order."""
    return [title for title in fleet.told.titles() if f"Region {SILENT}" in title]


def wait_until_usual(fleet: Fleet, *endpoints: str) -> None:
    """Return once these are as usual; a worker that a busy machine made suspect tries itself again
    within minutes.
    """
    usual = 'pacewatch_verdict{verdict="ok"} == 1 unless on (provider) pacewatch_incident_open'
    until(
        lambda: set(endpoints) <= fleet.prometheus.values(usual, "endpoint").keys(), patience_s=600
    )


def believed(prometheus: Prometheus, query: str) -> set[str]:
    """The verdicts that hold, of those that the query chooses."""
    return set(prometheus.values(f"{query} == 1", "verdict"))


def test_a_slow_provider_is_told_with_its_figures_until_it_is_as_usual(fleet):
    told = fleet.told
    wait_until_usual(fleet, SLOWED)
    before, titles_before = len(told.to("pagerduty")), len(told.titles())

    def pages() -> list[dict[str, Any]]:
        """What was told since of the provider by a page."""
        return [
            page
            for page in told.to("pagerduty")[before:]
            if "together" in page["payload"]["summary"]
        ]

    fleet.simulator.switch_on("slow", "together", factor=0.5)
    page = until(pages, patience_s=BUSY_S)[0]
    fleet.simulator.clear()
    until(lambda: len(pages()) > 1, patience_s=BUSY_S)
    until(
        lambda: any(t.startswith("Over: together is slow") for t in told.titles()[titles_before:])
    )

    line = page["payload"]["summary"]
    # a busy machine delays first tokens besides
    found = re.search(r"[:;] gpt-oss-120b (\d\.\d) times slower in output speed", line)
    assert line.startswith("together is slow: ")
    assert found, line
    assert 1.7 <= float(found[1]) <= 2.3
    assert line in told.titles()
    assert re.search(r"/incidents/\d+$", page["client_url"])
    assert page["links"][1]["href"].endswith("/runbooks/ProviderSlow.md")
    # one page, opened and closed; of the other provider nobody is told
    assert [one["event_action"] for one in pages()] == ["trigger", "resolve"]
    assert len({one["dedup_key"] for one in pages()}) == 1
    assert not any("groq" in title for title in told.titles()[titles_before:])


def test_a_retired_model_is_told_once_and_is_neither_slow_nor_failing_nor_silent(fleet):
    """One region is told by 400 and a code, the others by 404; another model of theirs stays."""
    prometheus, told = fleet.prometheus, fleet.told
    wait_until_usual(fleet, LEFT, KEPT)
    left_at, titles_before = time.time(), len(told.titles())
    for region in REGIONS:
        kind = "retired" if region == "eu-west" else "not-served"
        fleet.simulator.switch_on(kind, LEFT, region=region)

    for query in (f"pacewatch_verdict{{{OF_LEFT}}}", f"pacewatch_region_verdict{{{OF_LEFT}}}"):
        until(lambda query=query: set(believed(prometheus, query)) == {"not_served"})

    def lines() -> list[str]:
        """What was told since of a model that is gone."""
        return [line for line in told.titles()[titles_before:] if "no longer serves" in line]

    until(lines)
    asked = f'sum by (endpoint) (pacewatch_requests_total{{{OF_LEFT}, outcome="not_served"}})'
    told_of = prometheus.values(asked, "endpoint")[LEFT]
    # asked as often as before, as the runbook says, and nothing more is told
    until(lambda: prometheus.values(asked, "endpoint")[LEFT] >= told_of + 2 * len(REGIONS))
    until(lambda: set(refusals(fleet, left_at)) == set(REGIONS))
    assert refusals(fleet, left_at) == {
        region: {("not_served", 400, "model_decommissioned")}
        if region == "eu-west"
        else {("not_served", 404, "model_not_found")}
        for region in REGIONS
    }
    assert len(lines()) == 1
    assert lines()[0].startswith("groq no longer serves a model: llama-3.3-70b, last good answer ")

    (alert,) = prometheus.values('ALERTS{alertname="ModelNotServed"}', "incident")
    assert held_since(prometheus, f'ALERTS{{incident="{alert}"}}', left_at, "alertname") == {
        "ModelNotServed"
    }
    for gauge in ("pacewatch_verdict", "pacewatch_region_verdict"):
        seen = held_since(prometheus, f"{gauge}{{{OF_LEFT}}}", left_at, "verdict")
        assert not seen & {"slow", "failing", "silent"}
        seen = held_since(prometheus, f'{gauge}{{endpoint="{KEPT}"}}', left_at, "verdict")
        assert not seen & {"not_served", "failing", "silent"}

    (model,) = board_of(fleet, LEFT)["models"]
    figures = model["endpoints"][0]["series"][0]["pooled"]
    assert figures["output_tokens_per_s"]["median"] is not None
    assert datetime.fromisoformat(figures["last_success_at"]).timestamp() <= left_at
    page = httpx2.get(f"http://{fleet.listen}/endpoints/{LEFT}", trust_env=False).text
    assert re.search(r"not served for .*the model is gone", page)
    assert re.search(r"last well \d+ \w+ ago", page)


def refusals(fleet: Fleet, since: float) -> dict[str, set[tuple[str, int | None, str | None]]]:
    """By region how the requests to the model that is gone ended, of runs due since then: outcome,
    status, the provider's own code.
    """
    query = (
        "select region, timing.outcome, fault_status, fault_type"
        " from timing join run using (run_id) join series on series.series_id = run.series_id"
        " where endpoint = %s and run.slot_at >= to_timestamp(%s)"
    )
    found: dict[str, set[tuple[str, int | None, str | None]]] = {}
    with psycopg.connect(fleet.database_url) as connection:
        for region, *form in connection.execute(query, (LEFT, since)):
            found.setdefault(region, set()).add(tuple(form))
    return found


def held_since(prometheus: Prometheus, query: str, since: float, label: str) -> set[str]:
    """The values of a label under which a gauge of 0 or 1 has been 1 since then."""
    return {
        row["metric"][label]
        for row in prometheus.rows(f"{query}[30m]")
        if any(value == "1" for at, value in row["values"] if at >= since)
    }


def board_of(fleet: Fleet, endpoint: str) -> Any:
    """The board's document of an endpoint."""
    url = f"http://{fleet.listen}/api/board"
    return httpx2.get(url, params={"endpoint": endpoint}, trust_env=False).json()
