"""Reads the one file, `pacewatch.toml`, and the catalog into a Fleet; refuses in words.

All faults are told at once, each with its key path. Nothing is sent.
"""

import tomllib
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from pacewatch.amounts import (
    Account,
    read_accounts,
    read_retention,
    read_schedule,
    read_spending,
    read_workloads,
)
from pacewatch.blanks import allow, filled, simulate
from pacewatch.catalog import Catalog, read_catalog
from pacewatch.channels import read_centre, read_channels
from pacewatch.facts import why_no_base_url, why_no_proxy
from pacewatch.judged import read_false_pages, read_limits
from pacewatch.own import read_own
from pacewatch.picks import Wish, give_importance, pick, priced
from pacewatch.tables import Table, secrets_in, suggestion
from pacewatch.words.endpoint import PART, Endpoint, RateLimit
from pacewatch.words.errors import SettingsError
from pacewatch.words.fleet import (
    DEFAULT_REGION,
    QUANTILES,
    Fleet,
    Region,
    Spending,
)

CONFIG_VARIABLE = "PACEWATCH_CONFIG"
CONFIG_NAME = "pacewatch.toml"
MOST_BYTES = 1024 * 1024
"""A file may be so long; a parser takes its time over more."""


def config_path(environment: Mapping[str, str]) -> Path | None:
    """Return the file to read: PACEWATCH_CONFIG, else ./pacewatch.toml where it is, else None."""
    if named := environment.get(CONFIG_VARIABLE):
        return Path(named)
    here = Path(CONFIG_NAME)
    return here if here.is_file() else None


def load_fleet(
    path: Path | None, environment: Mapping[str, str], *, today: date | None = None
) -> Fleet:
    """Return what file and catalog say; without a file, the catalog's endpoints with a key.

    `today` decides which endpoints have ended; the UTC day where it is None. Raises SettingsError
    with every fault.
    """
    place = CONFIG_NAME if path is None else path.name
    try:
        return read_fleet(
            {} if path is None else _read_file(path),
            place=place,
            folder=Path() if path is None else path.parent,
            environment=environment,
            today=today or datetime.now(UTC).date(),
        )
    except RecursionError as error:
        raise SettingsError(
            f"{place}: is nested too deeply (allowed: tables of tables, as documented)"
        ) from error


def _read_file(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            held = file.read(MOST_BYTES + 1)
        if len(held) > MOST_BYTES:
            raise SettingsError(f"{path}: is too long (allowed: {MOST_BYTES} bytes)")
        return tomllib.loads(held.decode("utf-8-sig").replace("\r\n", "\n"))
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path.name}: is no text in UTF-8") from error
    except ValueError as error:  # of the parser, or of Python for a number of thousands of digits
        raise SettingsError(f"{path.name}: no TOML: {error}") from error


def read_fleet(
    raw: dict[str, Any],
    *,
    place: str,
    folder: Path,
    environment: Mapping[str, str],
    today: date,
) -> Fleet:
    """Return the fleet of a parsed file; raises SettingsError with every fault.

    `folder` is where relative paths of the file begin.
    """
    catalog = read_catalog()
    faults = secrets_in(raw, place)
    table = Table(raw, place=place, path="", faults=faults)
    simulated = table.has("simulator")
    regions = _regions(table, folder)
    workloads = read_workloads(table)
    known = _known(table, catalog, simulated=simulated)
    accounts = read_accounts(table, catalog, {endpoint.provider for endpoint in known.values()})
    schedule = read_schedule(table, workloads, simulated=simulated)
    spending = read_spending(table, accounts)
    retention = read_retention(table, schedule)
    quantiles = table.texts("quantiles", allowed=tuple(QUANTILES)) or ()
    centre, channels = read_centre(table), read_channels(table)
    known = {
        key: _settled(one, accounts, spending, simulated=simulated) for key, one in known.items()
    }
    known = give_importance(table, known)
    false_pages, limits = read_false_pages(table), read_limits(table, known)
    wish = Wish(globs=table.texts("endpoints"), simulated=simulated, today=today)
    endpoints, skipped = pick(table, known, wish, environment)
    table.close()
    if faults:
        raise SettingsError(faults)
    if not simulated:
        known = priced(catalog, known, endpoints, today, environment)
        endpoints = tuple(known[endpoint.id] for endpoint in endpoints)
    return Fleet(
        regions=regions,
        catalog=known,
        endpoints=endpoints,
        skipped=skipped,
        workloads=workloads,
        schedule=schedule,
        spending=spending,
        retention=retention,
        rate_limits=_rate_limits(accounts, catalog),
        simulated=simulated,
        false_pages_a_month=false_pages,
        limits=limits,
        quantiles=tuple(QUANTILES[name] for name in quantiles if name in QUANTILES),
        centre=centre,
        channels=channels,
    )


def _regions(table: Table, folder: Path) -> dict[str, Region]:
    simulator = table.table("simulator")
    urls: dict[str, str] = {}
    for name in simulator.raw:
        url = simulator.text(name)
        if url is None:
            continue
        if fault := why_no_base_url(url):
            simulator.fault(name, fault)
        urls[name] = url.rstrip("/")
    if table.has("simulator") and not urls and not simulator.raw:
        table.fault("simulator", 'names no region (form: eu-west = "http://127.0.0.1:41001")')
    named = table.table("regions")
    regions: dict[str, Region] = {}
    for name in dict.fromkeys([*urls, *named.raw]):
        if not PART.fullmatch(name):
            named.fault(name, "is no name of a region (form: a-z 0-9 . _ -)")
        if urls and name not in urls:
            named.fault(name, f"has no address in [simulator]{suggestion(name, urls)}")
        regions[name] = _region(named.table(name), name, folder, urls.get(name))
    return regions or {DEFAULT_REGION: Region(name=DEFAULT_REGION)}


def _region(table: Table, name: str, folder: Path, simulator_url: str | None) -> Region:
    proxy = table.text("proxy_url")
    if proxy is not None and (fault := why_no_proxy(proxy)):
        table.fault("proxy_url", fault)
    ca_file = table.text("ca_file")
    paused = table.flag("paused")
    table.close()
    return Region(
        name=name,
        proxy_url=proxy,
        paused=paused or False,
        ca_file=None if ca_file is None else str((folder / ca_file).absolute()),
        simulator_url=simulator_url,
    )


def _rate_limits(accounts: Mapping[str, Account], catalog: Catalog) -> dict[str, RateLimit]:
    """Return the rate limits of whole providers; the file's go before the catalog's."""
    shipped = {name: one.rate_limit for name, one in catalog.providers.items()}
    given = {name: one.rate_limit for name, one in accounts.items() if one.rate_limit}
    return {name: limit for name, limit in (shipped | given).items() if limit is not None}


def _known(table: Table, catalog: Catalog, *, simulated: bool) -> dict[str, Endpoint]:
    """Return every endpoint, ours and the user's, by id, the blanks of addresses not filled."""
    known = dict(catalog.endpoints)
    if simulated:
        if table.has("endpoint"):
            table.fault("endpoint", "a simulated fleet has no endpoints of one's own")
        return known
    for one in table.tables("endpoint"):
        own = read_own(one, catalog)
        if own is None:
            continue
        if own.id in known:
            whose = "another table" if known[own.id].own else "the catalog"
            one.fault("", f"its id {own.id} is taken by {whose} (give variant, provider or id)")
            continue
        known[own.id] = own
    return known


def _settled(
    endpoint: Endpoint,
    accounts: Mapping[str, Account],
    spending: Spending,
    *,
    simulated: bool,
) -> Endpoint:
    """Return the endpoint with what the file says of its provider."""
    account = accounts.get(endpoint.provider)
    if account is not None:
        endpoint = filled(endpoint, account.filling)
    return simulate(endpoint) if simulated else allow(endpoint, spending.ambient_credentials)
