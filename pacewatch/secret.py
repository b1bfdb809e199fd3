"""Secrets from the environment: in the variable itself, or in a file that NAME_FILE names."""

import os
import stat
from collections.abc import Mapping

from pacewatch.words.errors import SettingsError

MOST_BYTES = 64 * 1024
"""A file of a secret may be so long."""


def read_secret(name: str, environment: Mapping[str, str]) -> str | None:
    """Return the secret of that name, stripped; None where neither NAME nor NAME_FILE is set.

    Raises SettingsError where both are set, or the file cannot be read or is empty.
    """
    value, path = environment.get(name, ""), environment.get(f"{name}_FILE", "")
    if value and path:
        raise SettingsError(f"{name} and {name}_FILE are both set; one of them is enough")
    if not path:
        return value.strip() or None
    try:
        held = read_plain_file(path).strip()
    except SettingsError as error:
        raise SettingsError(f"{name}_FILE: {error}") from error
    if not held:
        raise SettingsError(f"{name}_FILE: {path} is empty; the secret must stand in it")
    return held


def read_plain_file(path: str) -> str:
    """Return the text of a small plain file, never waiting for a pipe or reading a device on and
    on; raises SettingsError with why it cannot be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise SettingsError(f"{path} cannot be read: it is no plain file")
            held = file.read(MOST_BYTES + 1)
        if len(held) > MOST_BYTES:
            raise SettingsError(f"{path} cannot be read: too long (allowed: {MOST_BYTES} bytes)")
        return held.decode()
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} cannot be read: not text") from error
