"""Where the centre's processes find each other, from the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from pacewatch.words.address import refuse_unencrypted
from pacewatch.words.errors import SettingsError

DEFAULT_LISTEN = "127.0.0.1:8420"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The environment of aggregator, central worker and beat."""

    database_url: str
    """PACEWATCH_DATABASE_URL"""
    broker_url: str
    """PACEWATCH_BROKER_URL"""
    listen_host: str
    """PACEWATCH_LISTEN, host:port"""
    listen_port: int


def read_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings; raises SettingsError with every fault at once."""
    faults = [
        f"{name} is not set; it names the {what}"
        for name, what in (
            ("PACEWATCH_DATABASE_URL", "Postgres of the centre"),
            ("PACEWATCH_BROKER_URL", "Redis or Valkey of the fleet"),
        )
        if not environment.get(name)
    ]
    broker = environment.get("PACEWATCH_BROKER_URL", "")
    if broker and (fault := refuse_unencrypted("PACEWATCH_BROKER_URL", broker, environment)):
        faults.append(fault)
    listen = environment.get("PACEWATCH_LISTEN", DEFAULT_LISTEN)
    parts = urlsplit(f"//{listen}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not port:
        faults.append(f'PACEWATCH_LISTEN: "{listen}" is no address (form: host:port)')
    if faults or host is None or port is None:
        raise SettingsError(faults)
    return Settings(
        database_url=environment["PACEWATCH_DATABASE_URL"],
        broker_url=broker,
        listen_host=host,
        listen_port=port,
    )
