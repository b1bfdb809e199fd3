"""A whole fleet of real endpoints on one machine, at its own pace, with days of history.

The providers are a simulator, outside of what is measured: to the fleet it is some host.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from centre.store import Size, fill
from support.simulator import make_endpoint, running_simulator

from aggregator import db
from aggregator.regions import Scope, issue_token
from pacewatch.stack import postgres, valkey
from pacewatch.stack.crew import Site, postgres_part, valkey_part
from pacewatch.stack.part import ordinary_environment
from pacewatch.stack.ports import kept_port
from pacewatch.stack.pulse import Pulse
from pacewatch.stack.state import make_folder, write_private
from pacewatch.stack.supervise import Supervisor

RULES = Path(__file__).parents[2] / "deploy/prometheus/rules"
SPEEDS = (60.0, 90.0, 150.0, 320.0, 480.0)
"""Tokens per second of the simulated endpoints, in turns."""

DOOR = "region-01"

_PROMETHEUS = """
global: {{scrape_interval: 15s, evaluation_interval: 15s}}
rule_files: ["{rules}/*.yml"]
scrape_configs: [{{job_name: pacewatch, static_configs: [{{targets: ["{target}"]}}]}}]
"""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What runs."""

    url: str
    outside: frozenset[int]
    """Processes that are no part of the fleet: the simulator."""


@contextmanager
def staged(folder: Path, size: Size) -> Iterator[Stage]:
    """Give a fleet that runs, its store filled with the size's days; it ends with the context."""
    names = [(f"provider-{n % 20}", f"model-{n // 5}") for n in range(size.endpoints)]
    served = [
        make_endpoint(
            f"{provider}/{model}",
            base_url="https://api.example/v1",
            tokens_per_s=SPEEDS[n % len(SPEEDS)],
        )
        for n, (provider, model) in enumerate(names)
    ]
    make_folder(folder / "logs", 0o700)
    regions = [f"region-{n:02}" for n in range(1, size.regions + 1)]
    with (
        running_simulator(*served, regions=(DOOR,), exact=False) as simulator,
        Supervisor(folder / "logs", tell=say) as supervisor,
    ):
        config = folder / "pacewatch.toml"
        config.write_text(_config(names, regions, simulator.address.regions[DOOR]))
        site = _site(folder, config)
        _begin(supervisor, site, size, regions)
        with _prometheus(folder, site.listen):
            yield Stage(url=site.aggregator_url, outside=frozenset({simulator.pid}))


def _config(names: list[tuple[str, str]], regions: list[str], door: str) -> str:
    endpoints = [
        f'[[endpoint]]\nid = "{provider}/{model}"\nbase_url = "{door}/{provider}/v1"\n'
        f'model = "{model}"\nprice = {{ input_usd = 0.01, output_usd = 0.02 }}\n'
        for provider, model in names
    ]
    return "\n".join([*endpoints, *(f"[regions.{region}]" for region in regions), ""])


def _site(folder: Path, config: Path) -> Site:
    port = kept_port(folder / "port")
    url = f"http://127.0.0.1:{port}"
    return Site(
        state=folder,
        config=config,
        listen=f"127.0.0.1:{port}",
        aggregator_url=url,
        pulse=Pulse(url),
        broker=valkey.prepare(folder / "valkey"),
        ordinary=ordinary_environment(os.environ),
    )


def _begin(supervisor: Supervisor, site: Site, size: Size, regions: list[str]) -> None:
    database = postgres.prepare(site.state / "postgres")
    supervisor.begin(valkey_part(site.broker), postgres_part(database))
    supervisor.wait_until_ready()
    db.migrate(database.url)
    with db.open_pool(database.url, size=2) as pool:
        with pool.connection() as connection:
            db.require_store(connection, simulated=False)
        fill(pool, database.url, size, datetime.now(UTC).replace(microsecond=0))
    supervisor.begin(site.aggregator(database.url))
    supervisor.begin(
        site.centre("central", database.url),
        site.centre("beat", database.url),
        *(site.worker(region, _token(site.state, database.url, region)) for region in regions),
    )
    supervisor.wait_until_ready()


def _token(state: Path, url: str, region: str) -> Path:
    file = state / "tokens" / region
    make_folder(file.parent, 0o700)
    with db.connect(url) as connection:
        write_private(file, issue_token(connection, region, Scope.REGION, datetime.now(UTC)))
    return file


@contextmanager
def _prometheus(folder: Path, target: str) -> Iterator[None]:
    (folder / "prometheus.yml").write_text(_PROMETHEUS.format(rules=RULES, target=target))
    command = (
        "prometheus",
        f"--config.file={folder}/prometheus.yml",
        f"--storage.tsdb.path={folder}/prometheus",
        f"--web.listen-address=127.0.0.1:{kept_port(folder / 'prometheus-port')}",
    )
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


def say(text: str) -> None:
    """Tell how far it is, beside the figures."""
    sys.stderr.write(text + "\n")
