"""Who says something, for a timeline."""

import os

_LONGEST = 100


def author(told: str) -> dict[str, str]:
    """Return the member of a body that names who says it: the name that was told, else the login
    name; empty where there is none.
    """
    name = told or os.environ.get("LOGNAME") or os.environ.get("USER") or ""
    said = "".join(letter for letter in name if letter.isprintable())[:_LONGEST]
    return {"by": said} if said else {}
