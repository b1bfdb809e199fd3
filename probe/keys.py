"""Provider keys, from the environment or from files that it names; never printed.

A key goes only to the host that the catalog binds it to: its variables stand in the endpoint.
Credentials of a cloud's own tools in the shell are not looked at here.
"""

from collections.abc import Mapping
from typing import NoReturn

from pacewatch.secret import read_secret
from pacewatch.words.endpoint import Endpoint
from pacewatch.words.errors import SettingsError


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
        return "Key(hidden)"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: a key goes into no task and no file."""
        raise TypeError("a key cannot be pickled")


def key_of(endpoint: Endpoint, environment: Mapping[str, str]) -> Key | None:
    """Return the endpoint's key: the first of its variables that is set, or its _FILE.

    None where there is none that can be used; `why_no_key` says why. Reads a key file each time,
    so that a changed key is taken up without a restart.
    """
    value, _ = _found(endpoint, environment)
    return None if value is None else Key(value)


def why_no_key(endpoint: Endpoint, environment: Mapping[str, str]) -> str | None:
    """Return in words, without any key, why the endpoint has no usable key; None where it has
    one or needs none.
    """
    if not endpoint.key_names:
        return None
    return _found(endpoint, environment)[1]


def _found(endpoint: Endpoint, environment: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Return the key, or why there is none."""
    for name in endpoint.key_names:
        try:
            value = read_secret(name, environment)
        except SettingsError as error:
            return None, str(error)
        if value is not None:
            return _checked(value, name)
    return None, f"no key is set (looked for: {', '.join(endpoint.key_names)}, or with _FILE)"


def _checked(value: str, name: str) -> tuple[str | None, str | None]:
    if not value.isascii() or not value.isprintable() or " " in value:
        return None, f"{name}: holds a character that no key has (allowed: one word of ASCII)"
    return value, None
