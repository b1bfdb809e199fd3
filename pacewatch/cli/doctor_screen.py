"""What `doctor` found, on a terminal. Pure: its document in, tables out."""

from collections.abc import Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from pacewatch.cli.board_screen import SIMULATED
from pacewatch.cli.render import Cell, Column, as_text, table
from pacewatch.words.text import plural

COLUMNS = (
    Column(name="Table", gives_way=True),
    Column(name="Rows", right=True),
    Column(name="Now", right=True),
    Column(name="In a year", right=True),
)

_SMALL = 1_000_000
"""Tables under so many bytes, now and in a year, are one line."""

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def parts(document: dict[str, Any], *, width: int) -> list[RenderableType]:
    """Return what to print: what is wrong, then the tables, the largest first."""
    found: list[RenderableType] = []
    if document["simulated"]:
        found.append(Text(SIMULATED, style="yellow"))
    problems = document["problems"]
    if problems:
        found.append(Text(f"{plural(len(problems), 'problem')}:", style="bold red"))
        found += [as_text(f"  {problem}") for problem in problems]
    else:
        found.append(Text("All is well.", style="green"))
    if document["recounted"] is not None:
        found.append(
            Text(f"{document['recounted']:,} series recounted, {document['wrong']:,} were wrong.")
        )
    return [*found, Text(), table(COLUMNS, _rows(document), width=width)]


def _rows(document: dict[str, Any]) -> list[Sequence[Cell]]:
    large = [one for one in document["tables"] if _most(one) >= _SMALL]
    small = [one for one in document["tables"] if _most(one) < _SMALL]
    rows: list[Sequence[Cell]] = [
        (
            one["name"],
            f"{one['rows']:,}",
            size_text(one["bytes"]),
            size_text(one["in_a_year_bytes"]),
        )
        for one in large
    ]
    if small:
        now, later = (
            size_text(sum(one[name] for one in small)) for name in ("bytes", "in_a_year_bytes")
        )
        rows.append((plural(len(small), "small table"), "", now, later))
    catalogs = size_text(document["catalogs_bytes"])
    rows.append(("Postgres' own catalogs", "", catalogs, catalogs))
    whole = size_text(document["bytes"]), size_text(document["in_a_year_bytes"])
    return [*rows, (Text("database", style="bold"), "", *whole)]


def _most(one: dict[str, Any]) -> int:
    return max(int(one["bytes"]), int(one["in_a_year_bytes"]))


def size_text(size: int) -> str:
    """Return a size in bytes with its unit, in three digits."""
    value, unit = float(size), 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    digits = 0 if unit == 0 or value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f} {_UNITS[unit]}"
