"""Where a region's worker finds its part of the world, from the environment. No file is read but
those that a `*_FILE` variable names.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pacewatch.secret import read_secret
from pacewatch.words.address import BROKER_SCHEMES, WEB_SCHEMES, refuse_address
from pacewatch.words.errors import SettingsError

DEFAULT_AGGREGATOR = "http://127.0.0.1:8420"
_REGION = re.compile(r"[a-z0-9_][a-z0-9._-]{0,62}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The environment of a probe worker."""

    region: str
    """PACEWATCH_REGION"""
    broker_url: str = field(repr=False)
    """PACEWATCH_BROKER_URL; it may hold a password."""
    aggregator_url: str
    """PACEWATCH_AGGREGATOR_URL, without a slash at its end."""
    token: str = field(repr=False)
    """PACEWATCH_REGION_TOKEN: shows the aggregator which region pushes."""
    state: Path
    """The state folder; the worker's own lies in it."""

    @property
    def folder(self) -> Path:
        """Return the worker's own folder."""
        return self.state / f"worker-{self.region}"


def read_settings(
    environment: Mapping[str, str], *, state: Path, region: str | None = None
) -> Settings:
    """Return the settings; a region given goes before the environment's.

    Raises SettingsError with every fault at once.
    """
    faults: list[str] = []
    settings = Settings(
        region=_region(region or environment.get("PACEWATCH_REGION", ""), faults),
        broker_url=_broker(environment, faults),
        aggregator_url=_aggregator(environment, faults),
        token=_token(environment, faults),
        state=state,
    )
    if faults:
        raise SettingsError(faults)
    return settings


def _region(region: str, faults: list[str]) -> str:
    if not region:
        faults.append("PACEWATCH_REGION is not set; it names the region the worker stands in")
    elif not _REGION.fullmatch(region):
        faults.append(f'PACEWATCH_REGION: "{region}" is no region (a name of a-z 0-9 . _ -)')
    return region


def _broker(environment: Mapping[str, str], faults: list[str]) -> str:
    name = "PACEWATCH_BROKER_URL"
    try:
        url = read_secret(name, environment) or ""
    except SettingsError as error:
        faults.extend(error.faults)
        return ""
    if not url:
        faults.append(f"{name} is not set; it names the Redis or Valkey of the fleet")
        return url
    if fault := refuse_address(name, url, BROKER_SCHEMES, environment):
        faults.append(fault)
    return url


def _aggregator(environment: Mapping[str, str], faults: list[str]) -> str:
    name = "PACEWATCH_AGGREGATOR_URL"
    url = (environment.get(name) or DEFAULT_AGGREGATOR).rstrip("/")
    if fault := refuse_address(name, url, WEB_SCHEMES, environment):
        faults.append(fault)
    return url


def _token(environment: Mapping[str, str], faults: list[str]) -> str:
    name = "PACEWATCH_REGION_TOKEN"
    try:
        token = read_secret(name, environment)
    except SettingsError as error:
        faults.extend(error.faults)
        return ""
    if token is None:
        faults.append(f"{name} is not set; `pacewatch token issue REGION` makes one at the centre")
    elif not token.isascii() or not token.isprintable() or " " in token:
        faults.append(f"{name}: not a token (letters, digits and signs without a space)")
    return token or ""
