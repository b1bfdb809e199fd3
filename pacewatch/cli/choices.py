"""Options with a few words to choose from, and numbers of things, refused in words like everything
else.
"""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import TypeVar

import typer

Word = TypeVar("Word", bound=StrEnum)


def choice_of(words: type[Word]) -> Callable[[str], Word]:
    """Return what reads one of the words; it raises BadParameter for any other."""

    def read(told: str) -> Word:
        if told not in set(words):
            known = ", ".join(words)
            raise typer.BadParameter(f'unknown word "{told}" (known: {known})')
        return words(told)

    return read


def number_of(what: str) -> Callable[[str], int]:
    """Return what reads the number of an incident, or of a silence; it raises BadParameter for what
    is none.
    """

    def read(told: str) -> int:
        if not re.fullmatch(r"[1-9][0-9]{0,17}", told):
            form = "allowed: a whole number from 1 on"
            raise typer.BadParameter(f'"{told}" is no number of {what} ({form})')
        return int(told)

    return read


def metavar_of(words: type[StrEnum]) -> str:
    """Return the words as `--help` shows them."""
    return f"[{'|'.join(words)}]"
