"""Where the centre's processes find each other, from the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from pacewatch.secret import read_secret
from pacewatch.words.address import BROKER_SCHEMES, WEB_SCHEMES, refuse_address
from pacewatch.words.errors import SettingsError

DEFAULT_LISTEN = "127.0.0.1:8420"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The environment of aggregator, central worker and beat."""

    database_url: str
    """PACEWATCH_DATABASE_URL"""
    broker_url: str
    """PACEWATCH_BROKER_URL; empty for a process that has no broker."""
    listen_host: str
    """PACEWATCH_LISTEN, host:port"""
    listen_port: int


def read_settings(
    environment: Mapping[str, str] = os.environ, *, needs_broker: bool = True
) -> Settings:
    """Return the settings; raises SettingsError with every fault at once."""
    faults: list[str] = []
    database = _database(environment, faults)
    broker = _broker(environment, faults) if needs_broker else ""
    host, port = _listen(environment, faults)
    if faults:
        raise SettingsError(faults)
    return Settings(database_url=database, broker_url=broker, listen_host=host, listen_port=port)


def read_database_url(environment: Mapping[str, str] = os.environ) -> str:
    """Return where Postgres is; raises SettingsError where that is not told."""
    faults: list[str] = []
    url = _database(environment, faults)
    if faults:
        raise SettingsError(faults)
    return url


def read_broker_url(environment: Mapping[str, str] = os.environ) -> str:
    """Return where the broker is, for a process that has no store; raises SettingsError where that
    is not told, or would be reached in clear.
    """
    faults: list[str] = []
    url = _broker(environment, faults)
    if faults:
        raise SettingsError(faults)
    return url


def _database(environment: Mapping[str, str], faults: list[str]) -> str:
    name = "PACEWATCH_DATABASE_URL"
    url = _secret(name, "Postgres of the centre", environment, faults)
    try:
        conninfo_to_dict(url)
    except ProgrammingError:  # its own words repeat the address, password and all
        faults.append(
            f"{name}: is no address of Postgres (form: postgresql://user:password@host:port/name)"
        )
    return url


def _broker(environment: Mapping[str, str], faults: list[str]) -> str:
    name = "PACEWATCH_BROKER_URL"
    url = _secret(name, "Redis or Valkey of the fleet", environment, faults)
    if url and (fault := refuse_address(name, url, BROKER_SCHEMES, environment)):
        faults.append(fault)
    return url


def _secret(name: str, what: str, environment: Mapping[str, str], faults: list[str]) -> str:
    """Return the variable, or what the file of `<name>_FILE` holds."""
    try:
        told = read_secret(name, environment)
    except SettingsError as error:
        faults.extend(error.faults)
        return ""
    if told is None:
        faults.append(f"{name} is not set; it names the {what}")
    return told or ""


def read_listen(
    environment: Mapping[str, str] = os.environ, option: str | None = None
) -> tuple[str, int]:
    """Return host and port of the option --listen, else of PACEWATCH_LISTEN; raises SettingsError
    with every fault.
    """
    faults: list[str] = []
    listen = _listen(environment, faults, option)
    if faults:
        raise SettingsError(faults)
    return listen


def _listen(
    environment: Mapping[str, str], faults: list[str], option: str | None = None
) -> tuple[str, int]:
    name = "PACEWATCH_LISTEN" if option is None else "--listen"
    listen = option or environment.get("PACEWATCH_LISTEN", DEFAULT_LISTEN)
    try:
        parts = urlsplit(f"//{listen}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not port:
        faults.append(f'{name}: "{listen}" is no address (form: host:port)')
        return "", 0
    if fault := refuse_address(name, f"http://{listen}", WEB_SCHEMES, environment):
        faults.append(fault)
    return host, port
