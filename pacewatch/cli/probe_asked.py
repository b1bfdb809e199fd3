"""What `probe` is asked to measure, from the command line's words and the file."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pacewatch.catalog import read_catalog
from pacewatch.config import config_path, load_fleet
from pacewatch.own import read_own
from pacewatch.secret import read_secret
from pacewatch.tables import Table, shown, suggestion
from pacewatch.words.endpoint import Auth, Endpoint, Limits, Protocol, why_not_probed
from pacewatch.words.errors import PacewatchError, SettingsError
from pacewatch.words.fleet import DEFAULT_REGION, Fleet, Region
from pacewatch.words.slot import WORKLOADS, Workload
from probe.keys import Key, key_of, why_no_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is measured, and from where."""

    endpoint: Endpoint
    region: Region
    key: Key | None
    fleet: Fleet | None = None
    """None: a server that no file knows."""


def of_address(
    base_url: str,
    protocol: str,
    model: str | None,
    key_env: str | None,
    environment: Mapping[str, str],
) -> Asked:
    """Return a server that no file knows; raises SettingsError with every fault."""
    told = {"base_url": base_url, "protocol": protocol, "model": model, "key_env": key_env}
    faults: list[str] = []
    table = Table(
        {name: value for name, value in told.items() if value is not None},
        place="probe",
        path="",
        faults=faults,
    )
    endpoint = read_own(table, read_catalog())
    if faults or endpoint is None:
        raise SettingsError([_as_option(fault) for fault in faults])
    if (why := why_not_probed(endpoint)) is not None:
        raise SettingsError(f"--protocol: {why}")
    key = None
    if key_env is not None:
        secret = read_secret(key_env, environment)
        if secret is None:
            raise SettingsError(f"--key-env: {key_env} is not set, and neither is {key_env}_FILE")
        key = Key(secret)
        if endpoint.auth is Auth.NONE:
            is_bearer = endpoint.protocol is not Protocol.ANTHROPIC
            endpoint = replace(endpoint, auth=Auth.BEARER if is_bearer else Auth.X_API_KEY)
    return Asked(endpoint=endpoint, region=Region(name=DEFAULT_REGION), key=key)


def _as_option(fault: str) -> str:
    """Return a fault of a table as one of the command line's options."""
    text = fault.removeprefix("probe: ")
    name, colon, rest = text.partition(":")
    return f"--{name.replace('_', '-')}{colon}{rest}" if colon else text


def of_catalog(name: str | None, region: str | None, environment: Mapping[str, str]) -> Asked:
    """Return an endpoint that the catalog or the file knows; raises SettingsError."""
    if name is None:
        raise SettingsError("probe: names no endpoint (give its id, or --base-url and --model)")
    fleet = load_fleet(config_path(environment), environment)
    endpoint = fleet.catalog.get(name)
    if endpoint is None:
        provider = f"{name.partition('/')[0]}/"
        known = [one for one in fleet.catalog if one.startswith(provider)] or fleet.catalog
        raise SettingsError(f"probe: no endpoint {shown(name)} is known{suggestion(name, known)}")
    if (why := why_not_probed(endpoint)) is not None:
        raise SettingsError(f"probe: {endpoint.id}: {why}")
    place = region or min(fleet.regions)
    if place not in fleet.regions:
        raise SettingsError(f"--region: {shown(place)} is none{suggestion(place, fleet.regions)}")
    if not fleet.simulated and (why := why_no_key(endpoint, environment)) is not None:
        raise SettingsError(f"probe: {endpoint.id}: {why}{_in_the_demo(environment)}")
    key = None if fleet.simulated else key_of(endpoint, environment)
    return Asked(
        endpoint=endpoint,
        region=fleet.regions[place],
        key=key,
        fleet=fleet,
    )


def _in_the_demo(environment: Mapping[str, str]) -> str:
    """Return how the demo that runs here is asked instead; empty where none runs."""
    from pacewatch.sim.address import read_address
    from pacewatch.stack.state import state_folder

    try:
        folder = state_folder(environment, simulated=True, uid=os.getuid())
        region = min(read_address(folder).regions)
    except (PacewatchError, ValueError):
        return ""
    return f"; the demo that runs here simulates it (--from {region})"


def with_limits(
    asked: Asked, first_token: float | None, stall: float | None, total: float | None
) -> Asked:
    """Return the same with these limits, seconds; None leaves one as it is."""
    told = {"first_token_s": first_token, "stall_s": stall, "total_s": total}
    limits: Limits = replace(
        asked.endpoint.limits, **{name: value for name, value in told.items() if value is not None}
    )
    return replace(asked, endpoint=replace(asked.endpoint, limits=limits))


def workload_of(name: str | None, fleet: Fleet | None) -> Workload:
    """Return the workload of that name, or the fleet's first; raises SettingsError."""
    known = WORKLOADS if fleet is None else fleet.workloads
    if name is None:
        name = "standard" if fleet is None else fleet.schedule.workloads[0]
    if name not in known:
        raise SettingsError(f"--workload: {shown(name)} is none{suggestion(name, known)}")
    return known[name]
