"""Secrets from the environment: in the variable itself, or in a file that NAME_FILE names."""

from collections.abc import Mapping
from pathlib import Path

from pacewatch.words.errors import SettingsError


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
        held = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not text"
        raise SettingsError(f"{name}_FILE: {path} cannot be read: {why}") from error
    if not held:
        raise SettingsError(f"{name}_FILE: {path} is empty; the secret must stand in it")
    return held
