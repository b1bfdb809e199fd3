"""Decides what `up` runs: the real endpoints that it was given the means for, or the demo."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

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
    notes: tuple[str, ...] = ()
    """Sentences for the person who started it."""


def choose(environment: Mapping[str, str], *, demo: bool, region: str | None) -> Choice:
    """Return what the environment and its file ask for.

    Raises SettingsError for a file that cannot be, and for a region that it does not name.
    """
    if demo:
        return Choice(fleet=None, regions=DEMO_REGIONS)
    path = config_path(environment)
    fleet = load_fleet(path, environment)
    if faults := environment_faults(environment, fleet.catalog.values()):
        raise SettingsError(faults)
    if path is not None and fleet.simulated:
        raise SettingsError(
            f"{path}: [simulator] is what the demo writes for itself "
            "(allowed: `up --demo`, or a file without it)"
        )
    if not any(endpoint.own or has_key(endpoint, environment) for endpoint in fleet.endpoints):
        return Choice(fleet=None, regions=DEMO_REGIONS, notes=(_why_demo(path, fleet),))
    here, notes = _region(fleet, region)
    return Choice(
        fleet=fleet,
        regions=(here,),
        config=None if path is None else path.absolute(),
        keys=keys_of(fleet.endpoints, environment),
        notes=notes,
    )


def keys_of(endpoints: tuple[Endpoint, ...], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the key variables of the endpoints that are set; the paths of key files are made
    absolute.
    """
    names = {name for endpoint in endpoints for name in secret_names(endpoint)}
    found = {name: environment[name] for name in names if environment.get(name)}
    found |= ambient_variables({endpoint.ambient for endpoint in endpoints}, environment)
    for name in names:
        if path := environment.get(f"{name}_FILE"):
            found[f"{name}_FILE"] = str(Path(path).absolute())
    return found


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
