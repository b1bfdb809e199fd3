"""Provider keys, from the environment or from files that it names; never printed.

A key goes only to the host that the catalog binds it to: its variables stand in the endpoint. What
a cloud's own tools find in a shell counts only where the file lets it.
"""

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from pacewatch.secret import read_plain_file, read_secret
from pacewatch.words.endpoint import Auth, Endpoint, pair_names, secret_names
from pacewatch.words.errors import SettingsError

GOOGLE_FILE = "GOOGLE_APPLICATION_CREDENTIALS"
"""Names the file in which Google's own tools look for credentials."""

_SERVICE_ACCOUNT = "service_account"


class Key:
    """A secret that shows itself only to who asks by name."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        """Keep the secret."""
        self._value = value

    def reveal(self) -> str:
        """Return the secret, to be put into a request and nowhere else."""
        return self._value

    def __repr__(self) -> str:
        """Return a text without the secret."""
        return f"{type(self).__name__}(hidden)"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: a key goes into no task and no file."""
        raise TypeError("a key cannot be pickled")


class AwsKey(Key):
    """An access key of AWS: the secret, whose it is, and the token of a session."""

    __slots__ = ("access_key_id", "session_token")

    def __init__(self, secret: str, access_key_id: str, session_token: str | None) -> None:
        """Keep the three."""
        super().__init__(secret)
        self.access_key_id = access_key_id
        self.session_token = session_token


class AmbientKey(Key):
    """Whatever a cloud's own tools find, looked for when it is needed; holds nothing itself."""

    __slots__ = ()

    def __init__(self) -> None:
        """Hold nothing."""
        super().__init__("")


def key_of(endpoint: Endpoint, environment: Mapping[str, str]) -> Key | None:
    """Return the endpoint's key: the first of its variables that is set, or its _FILE.

    None where there is none that can be used; `why_no_key` says why. Reads a key file each time,
    so that a changed key is taken up without a restart.
    """
    return _found(endpoint, environment)[0]


def key_name(endpoint: Endpoint, environment: Mapping[str, str]) -> str | None:
    """Return the variable that the key is taken from, its `_FILE` where that is set; None where it
    is the shell's own credentials, or none at all.
    """
    names = (name for one in secret_names(endpoint) for name in (one, f"{one}_FILE"))
    return next((name for name in names if environment.get(name)), None)


def why_no_key(endpoint: Endpoint, environment: Mapping[str, str]) -> str | None:
    """Return in words, without any key, why the endpoint has no usable key; None where it has
    one or needs none.
    """
    if not endpoint.key_names:
        return None
    return _found(endpoint, environment)[1]


_Found = tuple[Key | None, str | None]


def _found(endpoint: Endpoint, environment: Mapping[str, str]) -> _Found:
    """Return the key, or why there is none."""
    try:
        for name in endpoint.key_names:
            if (value := read_secret(name, environment)) is not None:
                return _checked(endpoint, value, name)
        if endpoint.auth is Auth.AWS and (pair := _pair(endpoint, environment)) != (None, None):
            return pair
        if endpoint.ambient is not None:
            return _ambient(endpoint, environment)
    except SettingsError as error:
        return None, str(error)
    return None, _nothing(endpoint)


def _nothing(endpoint: Endpoint, *others: str) -> str:
    names = ", ".join((*endpoint.key_names, *others))
    return f"no key is set (looked for: {names}, or with _FILE)"


def _checked(endpoint: Endpoint, value: str, name: str) -> _Found:
    if endpoint.auth is Auth.GOOGLE:
        return _service_account(value, name)
    if not _is_word(value):
        return None, f"{name}: holds a character that no key has (allowed: one word of ASCII)"
    return Key(value), None


def _is_word(value: str) -> bool:
    return value.isascii() and value.isprintable() and " " not in value


def _pair(endpoint: Endpoint, environment: Mapping[str, str]) -> _Found:
    """Return the access key that variables of our own hold; twice None where none is set."""
    names = pair_names(endpoint)
    values = [read_secret(name, environment) for name in names]
    if not any(values):
        return None, None
    for name, value in zip(names, values, strict=True):
        if value is not None and not _is_word(value):
            return None, f"{name}: holds a character that no key has (allowed: one word of ASCII)"
    access_key_id, secret, session_token = values
    if access_key_id is None or secret is None:
        missing = names[0] if access_key_id is None else names[1]
        return None, f"{missing} is not set, and an access key needs both of its parts"
    return AwsKey(secret, access_key_id, session_token), None


def _ambient(endpoint: Endpoint, environment: Mapping[str, str]) -> _Found:
    """Return what the file lets be used of the shell's own credentials."""
    if endpoint.auth is Auth.AWS:
        return AmbientKey(), None
    if endpoint.auth is not Auth.GOOGLE:
        return None, f"{_nothing(endpoint)}; Entra credentials cannot be used yet"
    path = environment.get(GOOGLE_FILE)
    if not path:
        return None, _nothing(endpoint, GOOGLE_FILE)
    try:
        held = read_plain_file(path)
    except SettingsError as error:
        return None, f"{GOOGLE_FILE}: {error}"
    return _service_account(held, GOOGLE_FILE)


def _service_account(value: str, name: str) -> _Found:
    """Return the key of a service account of Google, which is a JSON object."""
    try:
        told: Any = json.loads(value)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        return None, f"{name}: holds no key of a service account (form: the JSON file of Google)"
    if (kind := told.get("type")) != _SERVICE_ACCOUNT:
        shown = f'"{kind}"' if isinstance(kind, str) and len(kind) < 40 else "that type"
        return None, f"{name}: credentials of {shown} cannot be used yet (allowed: service_account)"
    for field in ("client_email", "private_key"):
        if not isinstance(told.get(field), str):
            return None, f"{name}: {field} is missing in the key of the service account"
    return Key(value), None
