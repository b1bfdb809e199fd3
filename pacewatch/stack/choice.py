"""Decides what `up` runs: the real endpoints that it was given the means for, or the demo."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pacewatch.channels import VARIABLE
from pacewatch.config import config_path, load_fleet
from pacewatch.environment import ambient_variables, environment_faults
from pacewatch.picks import has_key
from pacewatch.stack.demo import DEMO_REGIONS
from pacewatch.words.endpoint import Endpoint, secret_names
from pacewatch.words.errors import SettingsError
from pacewatch.words.fleet import Fleet

_NOTHING = "no provider key in the environment and no [[endpoint]] in pacewatch.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is run: the demo where there is no fleet."""

    fleet: Fleet | None
    """None: the demo's, which is known when the simulator has its ports."""
    regions: tuple[str, ...]
    """Whose workers run on this machine."""
    config: Path | None = None
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Key variables of the probed endpoints that are set, and their values."""
    notify: str | None = None
    """In the demo, the variable that holds the address which is told of incidents."""
    addresses: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables of the channels that are set, and their values."""
    notes: tuple[str, ...] = ()
    """Sentences for the person who started it."""


def choose(
    environment: Mapping[str, str], *, demo: bool, region: str | None, notify: str | None = None
) -> Choice:
    """Return what the environment and its file ask for.

    `notify` names the variable of the demo's channel. Raises SettingsError for a file that cannot
    be, for a region that it does not name, and for a channel of the demo that cannot be.
    """
    if demo:
        return _demo(environment, notify)
    path = config_path(environment)
    fleet = load_fleet(path, environment)
    if faults := environment_faults(environment, fleet.catalog.values(), fleet.channels):
        raise SettingsError(faults)
    if path is not None and fleet.simulated:
        raise SettingsError(
            f"{path}: [simulator] is what the demo writes for itself "
            "(allowed: `up --demo`, or a file without it)"
        )
    if not any(endpoint.own or has_key(endpoint, environment) for endpoint in fleet.endpoints):
        return _demo(environment, notify, _why_demo(path, fleet))
    if notify is not None:
        raise SettingsError(
            "--notify: is of the demo alone (allowed: [notify.<name>] in the file, with url_env)"
        )
    here, notes = _region(fleet, region)
    return Choice(
        fleet=fleet,
        regions=(here,),
        config=None if path is None else path.absolute(),
        keys=keys_of(fleet.endpoints, environment),
        addresses=_held((one.url_env for one in fleet.channels), environment),
        notes=notes,
    )


def _demo(environment: Mapping[str, str], notify: str | None, *notes: str) -> Choice:
    """Return the demo, with the channel of that variable."""
    addresses = {} if notify is None else _held([notify], environment)
    if notify is not None and not VARIABLE.fullmatch(notify):  # it may be the address itself
        raise SettingsError("--notify: is no name of a variable (form: DEMO_URL)")
    if notify is not None and not addresses:
        raise SettingsError(f"--notify: {notify} is not set; it names the variable of an address")
    return Choice(fleet=None, regions=DEMO_REGIONS, notify=notify, addresses=addresses, notes=notes)


def _held(names: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of these names that are set, or that name a file; its path is made
    absolute.
    """
    found: dict[str, str] = {}
    for name in names:
        if value := environment.get(name):
            found[name] = value
        if path := environment.get(f"{name}_FILE"):
            found[f"{name}_FILE"] = str(Path(path).absolute())
    return found


def keys_of(endpoints: tuple[Endpoint, ...], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the key variables of the endpoints that are set; the paths of key files are made
    absolute.
    """
    names = {name for endpoint in endpoints for name in secret_names(endpoint)}
    clouds = {endpoint.ambient for endpoint in endpoints}
    return _held(names, environment) | ambient_variables(clouds, environment)


def _why_demo(path: Path | None, fleet: Fleet) -> str:
    if path is None or not (fleet.endpoints or fleet.skipped):
        return f"The demo, since there is {_NOTHING}"
    if fleet.endpoints:
        names = sorted({name for endpoint in fleet.endpoints for name in endpoint.key_names})
        more = f" and {len(names) - 2} more" if len(names) > 2 else ""
        return (
            f"The demo, since {path.name} picks endpoints and no key of theirs is set "
            f"(looked for: {', '.join(names[:2])}{more})"
        )
    first = fleet.skipped[0]
    return f"The demo, since {path.name} picks nothing to probe: {first.endpoint}: {first.reason}"


def _region(fleet: Fleet, wanted: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the region whose worker runs here, and what is said of the others."""
    names = tuple(fleet.regions)
    if wanted is not None and wanted not in names:
        known = ", ".join(names)
        raise SettingsError(f'region "{wanted}": the file names none such (known: {known})')
    here = wanted or names[0]
    others = [name for name in names if name != here]
    if not others:
        return here, ()
    return here, (
        f"This machine stands in {here}; nobody probes from {', '.join(others)} here, whose slots "
        "will be missed (a fleet of several regions: docker-compose.yml)",
    )
