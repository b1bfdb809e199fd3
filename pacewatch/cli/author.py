"""Who says something, for a timeline."""

import getpass

_LONGEST = 100


def author(told: str) -> dict[str, str]:
    """Return the member of a body that names who says it: the name that was told, else that of the
    login; empty where there is none.
    """
    said = "".join(letter for letter in told or _login() if letter.isprintable())[:_LONGEST]
    return {"by": said} if said else {}


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as a container may have
        return ""
