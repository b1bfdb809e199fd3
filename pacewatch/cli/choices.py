"""Options with a few words to choose from, refused in words like everything else."""

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


def metavar_of(words: type[StrEnum]) -> str:
    """Return the words as `--help` shows them."""
    return f"[{'|'.join(words)}]"
