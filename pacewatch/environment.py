"""The environment variables Pacewatch knows, and what of the shell `check` and `plan` name.

Names only: no value of a variable leaves this file.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from pacewatch.tables import suggestion
from pacewatch.words.address import BROKER_SCHEMES, WEB_SCHEMES, refuse_address
from pacewatch.words.channel import Channel
from pacewatch.words.endpoint import Endpoint, secret_names

VARIABLES: Mapping[str, str] = {
    "PACEWATCH_CONFIG": "Path of the file; without it ./pacewatch.toml, where that is.",
    "PACEWATCH_STATE": "Folder of all state; by default ~/.local/state/pacewatch, "
    "for root /var/lib/pacewatch.",
    "PACEWATCH_DATABASE_URL": "Postgres of the centre.",
    "PACEWATCH_BROKER_URL": "Redis or Valkey of the fleet.",
    "PACEWATCH_AGGREGATOR_URL": "Where workers and the reading commands find the aggregator; "
    "by default http://127.0.0.1:8420, and for those commands where an `up` of yours has it.",
    "PACEWATCH_LISTEN": "Host and port the aggregator listens on; by default 127.0.0.1:8420.",
    "PACEWATCH_REGION": "Region of a worker.",
    "PACEWATCH_REGION_TOKEN": "Token by which a worker pushes its region's runs.",
    "PACEWATCH_ADMIN_TOKEN": "Token of scope `admin` or `run`, for what is asked of the centre "
    "over HTTP.",
    "PACEWATCH_ALLOW_UNENCRYPTED": "`yes` lets broker and aggregator be reached without TLS "
    "beyond this host.",
    "PACEWATCH_GRAFANA_TOKEN": "Token by which dashboards are pushed to a Grafana.",
    "PACEWATCH_DEBUG": "Set to anything, a fault shows its traceback.",
}
"""By name; the tokens, and the addresses that may hold a password, may also come from a file that
NAME_FILE names.
"""

_SECRETS = (
    "PACEWATCH_DATABASE_URL",
    "PACEWATCH_BROKER_URL",
    "PACEWATCH_REGION_TOKEN",
    "PACEWATCH_ADMIN_TOKEN",
    "PACEWATCH_GRAFANA_TOKEN",
)
_ADDRESSES = {
    "PACEWATCH_BROKER_URL": BROKER_SCHEMES,
    "PACEWATCH_AGGREGATOR_URL": WEB_SCHEMES,
}
_OF_SCRIPTS = ("PACEWATCH_PYTHON", "PACEWATCH_POSTGRES_PASSWORD")
_KEY_NAME = re.compile(r"PACEWATCH_[A-Z0-9_]+_API_KEY(_FILE)?")

AMBIENT: Mapping[str, tuple[str, ...]] = {
    "aws": (
        *("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"),
        *("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
    ),
    "azure": ("AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE"),
    "google": ("GOOGLE_APPLICATION_CREDENTIALS",),
}
"""Variables by which a cloud's own tools find credentials in a shell."""

AMBIENT_FILES: Mapping[str, str] = {
    "aws": ".aws/credentials",
    "azure": ".azure/msal_token_cache.json",
    "google": ".config/gcloud/application_default_credentials.json",
}
"""Below the home folder."""


def environment_faults(
    environment: Mapping[str, str],
    endpoints: Iterable[Endpoint],
    channels: Iterable[Channel] = (),
) -> list[str]:
    """Return what is wrong with our own variables, a sentence each."""
    known = set(VARIABLES) | {f"{name}_FILE" for name in _SECRETS} | set(_OF_SCRIPTS)
    keys = {name for endpoint in endpoints for name in secret_names(endpoint)}
    keys |= {channel.url_env for channel in channels}
    known |= keys | {f"{name}_FILE" for name in keys}
    faults = []
    for name in sorted(environment):
        if not name.startswith("PACEWATCH_") or name in known:
            continue
        what = "no provider has that name" if _KEY_NAME.fullmatch(name) else "unknown variable"
        faults.append(f"{name}: {what}{suggestion(name, known)}")
    for name, schemes in _ADDRESSES.items():
        if url := environment.get(name):
            faults += [fault] if (fault := refuse_address(name, url, schemes, environment)) else []
    for name in (*_SECRETS, *sorted(keys)):
        if environment.get(name) and environment.get(f"{name}_FILE"):
            faults.append(f"{name} and {name}_FILE are both set; one of them is enough")
    return faults


def key_names_found(
    environment: Mapping[str, str], endpoints: Iterable[Endpoint]
) -> tuple[str, ...]:
    """Return the variables of provider keys that are set, as themselves or with _FILE."""
    names = {name for endpoint in endpoints for name in secret_names(endpoint)}
    names |= {f"{name}_FILE" for name in names}
    return tuple(sorted(name for name in names if environment.get(name)))


def ambient_variables(
    clouds: Collection[str | None], environment: Mapping[str, str]
) -> dict[str, str]:
    """Return all by which the clouds' own tools find credentials in this shell; a path is made
    absolute.
    """
    found: dict[str, str] = {}
    if "aws" in clouds:
        found |= {name: text for name, text in environment.items() if name.startswith("AWS_")}
    if "google" in clouds and (path := environment.get(AMBIENT["google"][0])):
        found[AMBIENT["google"][0]] = str(Path(path).absolute())
    return found


def ambient_found(environment: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return by cloud what of its credentials is in the shell or the home folder; names only."""
    found: dict[str, tuple[str, ...]] = {}
    home = environment.get("HOME")
    for cloud, names in AMBIENT.items():
        here = [name for name in names if environment.get(name)]
        if home and (Path(home) / AMBIENT_FILES[cloud]).is_file():
            here.append(f"~/{AMBIENT_FILES[cloud]}")
        if here:
            found[cloud] = tuple(here)
    return found
