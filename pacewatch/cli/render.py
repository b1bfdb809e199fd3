"""Tables, lines and JSON on the terminal: the only place of the command line that prints."""

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

NARROWEST = 40
"""Columns a table is laid out for where the terminal says less."""

WIDTH_OF_A_PIPE = 100
"""Columns of what is written to no terminal, where COLUMNS does not say."""

WIDE = 110
"""Columns from which on a table has all its columns."""

_CLEAR = "\r\x1b[2K"
"""Goes to the start of the line and empties it."""

_EIGHTHS = " ▏▎▍▌▋▊▉"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of a table."""

    name: str
    right: bool = False
    """True for figures: they stand under one another."""
    narrow: bool = True
    """False: left out where the screen has under 110 columns."""
    gives_way: bool = False
    """True: folds its text where the screen is too narrow; the others keep their width."""


Cell = str | Text


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[Cell]], *, title: str = "", width: int = 0
) -> Table:
    """Return a table of plain rules; texts are taken as they are, never as markup."""
    room = width or screen_width()
    kept = [i for i, column in enumerate(columns) if column.narrow or room >= WIDE]
    made = Table(
        box=box.SIMPLE_HEAD,
        title=Text(title, style="bold") if title else None,
        title_justify="left",
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="dim",
        show_edge=False,
    )
    for column in (columns[i] for i in kept):
        justify: Literal["left", "right"] = "right" if column.right else "left"
        made.add_column(
            Text(column.name),
            justify=justify,
            no_wrap=not column.gives_way,
            min_width=len(column.name),
            overflow="fold",
        )
    for row in rows:
        made.add_row(*(as_text(row[i]) for i in kept))
    return made


def as_text(cell: Cell) -> Text:
    """Return the cell as text without control characters, so that no name moves the cursor."""
    if isinstance(cell, Text):
        return cell
    return Text("".join(letter if letter.isprintable() else "\ufffd" for letter in cell))


def bar(value: float | None, most: float, *, cells: int) -> str:
    """Return a bar of block characters, `cells` wide at `most`; empty for an unknown value."""
    if value is None or most <= 0:
        return ""
    eighths = round(min(max(value / most, 0), 1) * cells * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def screen_width() -> int:
    """Return the columns there are to write on."""
    if sys.stdout.isatty():
        return max(shutil.get_terminal_size().columns, NARROWEST)
    return max(shutil.get_terminal_size((WIDTH_OF_A_PIPE, 24)).columns, NARROWEST)


def to_string(*parts: RenderableType, width: int) -> str:
    """Return what `show` would print on a screen of that width, without colours."""
    console = Console(width=width, color_system=None, force_terminal=False, highlight=False)
    with console.capture() as captured:
        console.print(Group(*parts))
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"


def show(*parts: RenderableType) -> None:
    """Print tables and texts, in colours on a terminal."""
    Console(width=screen_width(), highlight=False).print(Group(*parts), markup=False)


def terminal() -> Console | None:
    """Return the terminal behind standard error, for what passes; None where there is none."""
    if not sys.stderr.isatty():
        return None
    console = Console(stderr=True, highlight=False)
    return None if console.is_dumb_terminal else console


def show_line(text: str, *, error: bool = False) -> None:
    """Print one sentence, to standard error where it tells a problem."""
    print(as_text(text).plain, file=sys.stderr if error else sys.stdout)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Give what shows how far a long command is: a line of the terminal, each in place of the one
    before, and none in the end. Where standard error is no terminal it shows nothing.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return

    def tell(text: str) -> None:
        line = as_text(text).plain[: screen_width() - 1]
        print(f"{_CLEAR}{line}", end="", file=sys.stderr, flush=True)

    try:
        yield tell
    finally:
        print(_CLEAR, end="", file=sys.stderr, flush=True)


def show_json(value: Any) -> None:
    """Print a value as JSON, indented on a terminal and for a reader alike."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


MOST_NAMED = 6
"""Names that one sentence lists at most."""


def listed(names: Sequence[str]) -> str:
    """Return names in a row, no more than MOST_NAMED of them."""
    row = ", ".join(names[:MOST_NAMED])
    left = len(names) - MOST_NAMED
    return row if left <= 0 else f"{row} and {left} more"
