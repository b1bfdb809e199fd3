"""Who says something, for a timeline."""

import os

_LONGEST = 100


def author(told: str) -> str:
    """Return the name that was told, else the login name; empty where there is none."""
    name = told or os.environ.get("LOGNAME") or os.environ.get("USER") or ""
    return "".join(letter for letter in name if letter.isprintable())[:_LONGEST]
