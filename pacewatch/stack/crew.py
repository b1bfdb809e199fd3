"""Which processes make up the stack, and what each of them is told.

Each is told no more than it needs: provider keys go to the worker alone, the database to the centre
alone.
"""

import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pacewatch.stack import postgres
from pacewatch.stack.part import Part, Stop
from pacewatch.stack.postgres import Postgres
from pacewatch.stack.pulse import Pulse
from pacewatch.stack.valkey import Valkey

WORKER_STOPS = (Stop(signal=signal.SIGTERM, patience_s=25.0),)
"""Runs in hand may end; they cost money."""

HELD_BY_WORKER = "held-by-the-worker"
"""Stands at the centre for a provider key, which decides there what is probed and is never used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where everything is, for one `up`."""

    state: Path
    config: Path | None
    listen: str
    """host:port of the aggregator."""
    aggregator_url: str
    """Its address for processes of this machine."""
    pulse: Pulse
    """Tells who has finished work lately."""
    broker: Valkey
    ordinary: Mapping[str, str]
    """What every process may know of the shell's environment."""
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Key variables of the probed endpoints, and their values."""
    addresses: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables of whom the central worker tells of incidents, and their values."""

    def _command(self, *words: str) -> tuple[str, ...]:
        # -P: a folder of that name where `up` was called is not taken for ours
        return (sys.executable, "-P", "-m", "pacewatch", *words)

    def _environment(self, **told: str) -> dict[str, str]:
        config = {} if self.config is None else {"PACEWATCH_CONFIG": str(self.config)}
        return {**self.ordinary, **config, "PACEWATCH_STATE": str(self.state), **told}

    def _part(
        self,
        name: str,
        command: tuple[str, ...],
        is_ready: Callable[[], bool],
        **told: str,
    ) -> Part:
        return Part(
            name=name,
            command=command,
            environment=self._environment(**told),
            folder=self.state,
            is_ready=is_ready,
            is_well=lambda: self.pulse.is_unknown() or is_ready(),
        )

    def simulator(self, ports: Mapping[str, int]) -> Part:
        """Return the simulator, on the port of each region."""
        address = self.state / "simulator.json"
        regions = [word for name, port in ports.items() for word in ("--region", f"{name}={port}")]
        command = self._command("simulate", "serve", "--state", str(self.state), *regions)
        part = self._part("simulator", command, address.exists)
        return replace(part, prepare=lambda: address.unlink(missing_ok=True))

    def aggregator(self, database_url: str) -> Part:
        """Return the aggregator."""
        part = self._part(
            "aggregator",
            self._command("aggregator"),
            self.pulse.is_serving,
            PACEWATCH_DATABASE_URL=database_url,
            PACEWATCH_LISTEN=self.listen,
            **dict.fromkeys(self.keys, HELD_BY_WORKER),
        )
        return replace(part, is_well=self.pulse.is_alive)

    def centre(self, name: str, database_url: str) -> Part:
        """Return the central worker (`central`) or the ticker (`beat`); the former alone knows
        where people are told of incidents.
        """
        telling = {"PACEWATCH_AGGREGATOR_URL": self.aggregator_url, **self.addresses}
        return self._part(
            name,
            self._command(name),
            self.pulse.has_ticked,
            PACEWATCH_DATABASE_URL=database_url,
            PACEWATCH_BROKER_URL=self.broker.url,
            **dict.fromkeys(self.keys, HELD_BY_WORKER),
            **(telling if name == "central" else {}),
        )

    def worker(self, region: str, token_file: Path) -> Part:
        """Return the region's worker; it alone is given provider keys."""
        part = self._part(
            f"worker-{region}",
            self._command("worker", "--region", region),
            lambda: self.pulse.has_reported(region),
            PACEWATCH_BROKER_URL=self.broker.url,
            PACEWATCH_AGGREGATOR_URL=self.aggregator_url,
            PACEWATCH_REGION_TOKEN_FILE=str(token_file),
            **self.keys,
        )
        return replace(part, stops=WORKER_STOPS)


def local_url(host: str, port: int) -> str:
    """Return the address of what listens on that host and port, for processes of this machine."""
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - it is asked
    return f"http://{f'[{local}]' if ':' in local else local}:{port}"


def postgres_part(ready: Postgres) -> Part:
    """Return the database."""
    return Part(
        name="postgres",
        command=ready.command,
        environment=postgres.server_environment(),
        folder=ready.data,
        is_ready=ready.answers,
        is_well=ready.answers,
        prepare=ready.clear_way,
        stops=postgres.STOPS,
        orphan_signal=postgres.ORPHAN_SIGNAL,
        uid=ready.uid,
        gid=ready.gid,
    )


def valkey_part(ready: Valkey) -> Part:
    """Return the broker."""
    return Part(
        name="valkey",
        command=ready.command,
        environment={"PATH": os.defpath},
        folder=ready.folder,
        is_ready=ready.answers,
        is_well=ready.answers,
    )
