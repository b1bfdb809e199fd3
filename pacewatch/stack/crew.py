"""Which processes make up the stack, and what each of them is told.

Each is told no more than it needs: provider keys go to the worker alone, the database to the centre
alone.
"""

import http.client
import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pacewatch.stack import postgres
from pacewatch.stack.part import Part, Stop
from pacewatch.stack.postgres import Postgres
from pacewatch.stack.valkey import Valkey

WORKER_STOPS = (Stop(signal=signal.SIGTERM, patience_s=25.0),)
"""Runs in hand may end; they cost money."""

HELD_BY_WORKER = "held-by-the-worker"
"""Stands at the centre for a provider key, which decides there what is probed and is never used."""

_ANSWER_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where everything is, for one `up`."""

    state: Path
    config: Path | None
    host: str
    port: int
    broker: Valkey
    ordinary: Mapping[str, str]
    """What every process may know of the shell's environment."""
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Key variables of the probed endpoints, and their values."""

    @property
    def aggregator_url(self) -> str:
        """Return the aggregator's address for processes of this machine."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    def _command(self, *words: str) -> tuple[str, ...]:
        # -P: a folder of that name where `up` was called is not taken for ours
        return (sys.executable, "-P", "-m", "pacewatch", *words)

    def _environment(self, **told: str) -> dict[str, str]:
        config = {} if self.config is None else {"PACEWATCH_CONFIG": str(self.config)}
        return {**self.ordinary, **config, "PACEWATCH_STATE": str(self.state), **told}

    def _part(
        self, name: str, command: tuple[str, ...], is_ready: Callable[[], bool], **told: str
    ) -> Part:
        return Part(
            name=name,
            command=command,
            environment=self._environment(**told),
            folder=self.state,
            is_ready=is_ready,
        )

    def simulator(self, ports: Mapping[str, int]) -> Part:
        """Return the simulator, on the port of each region."""
        address = self.state / "simulator.json"
        address.unlink(missing_ok=True)
        regions = [word for name, port in ports.items() for word in ("--region", f"{name}={port}")]
        command = self._command("simulate", "serve", "--state", str(self.state), *regions)
        return self._part("simulator", command, address.exists)

    def aggregator(self, database_url: str) -> Part:
        """Return the aggregator."""
        return self._part(
            "aggregator",
            self._command("aggregator"),
            lambda: is_answered(self.aggregator_url, "/readyz"),
            PACEWATCH_DATABASE_URL=database_url,
            PACEWATCH_LISTEN=f"{self.host}:{self.port}",
            **dict.fromkeys(self.keys, HELD_BY_WORKER),
        )

    def centre(self, name: str, database_url: str) -> Part:
        """Return the central worker (`central`) or the ticker (`beat`)."""
        return self._part(
            name,
            self._command(name),
            lambda: True,
            PACEWATCH_DATABASE_URL=database_url,
            PACEWATCH_BROKER_URL=self.broker.url,
            **dict.fromkeys(self.keys, HELD_BY_WORKER),
        )

    def worker(self, region: str, token_file: Path) -> Part:
        """Return the region's worker; it alone is given provider keys."""
        part = self._part(
            f"worker-{region}",
            self._command("worker", "--region", region),
            lambda: True,
            PACEWATCH_BROKER_URL=self.broker.url,
            PACEWATCH_AGGREGATOR_URL=self.aggregator_url,
            PACEWATCH_REGION_TOKEN_FILE=str(token_file),
            **self.keys,
        )
        return replace(part, stops=WORKER_STOPS)


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


def is_answered(url: str, path: str) -> bool:
    """Tell whether a GET of the path is answered with 200 within two seconds."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=_ANSWER_S)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
