"""Silences on a terminal. Pure: the aggregator's document in, tables out."""

from typing import Any

from rich.console import RenderableType
from rich.text import Text

from pacewatch.cli.render import Column, table

Document = dict[str, Any]

COLUMNS = (
    Column(name="ID", right=True),
    Column(name="Endpoints", gives_way=True),
    Column(name="Region"),
    Column(name="Until"),
    Column(name="By"),
    Column(name="Why", gives_way=True),
)


def parts(document: Document, *, width: int) -> list[RenderableType]:
    """Return what to print of the silences."""
    if not document["silences"]:
        return [Text("No silence holds: whoever is to be told is told.")]
    rows = [
        (
            str(one["silence"]),
            one["endpoints"],
            one["region"] or "all",
            _minute(one["ends_at"]) if one["holds"] else f"ended {_minute(one['ends_at'])}",
            one["by"],
            one["why"],
        )
        for one in document["silences"]
    ]
    return [table(COLUMNS, rows, width=width)]


def line(one: Document) -> str:
    """Return one silence in a sentence."""
    where = f" from {one['region']}" if one["region"] else ""
    about = f"silence {one['silence']}: {one['endpoints']}{where}"
    if not one["holds"]:
        return f"{about}: ended"
    until = _minute(one["ends_at"])
    return f"{about}: nobody is told until {until} (pacewatch silence end {one['silence']})"


def _minute(moment: str) -> str:
    return f"{moment[:10]} {moment[11:16]} UTC"
