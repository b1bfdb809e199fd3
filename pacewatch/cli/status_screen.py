"""The fleet's status on a terminal. Pure: the aggregator's document in, tables out."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from pacewatch.cli.board_screen import SIMULATED
from pacewatch.cli.render import Cell, Column, as_text, table
from pacewatch.words.slot import from_rfc3339
from pacewatch.words.text import UNKNOWN, age_text, plural, seconds_text, usd_text, word_text

Document = dict[str, Any]

REGION_COLUMNS = (
    Column(name="Region"),
    Column(name="Heartbeat", right=True),
    Column(name="Worker", gives_way=True),
    Column(name="Version", narrow=False),
    Column(name="Clock", right=True),
    Column(name="Timings", narrow=False),
    Column(name="Outbox", right=True),
    Column(name="In hand", right=True),
    Column(name="Budget left", right=True, narrow=False),
    Column(name="Catalog"),
)

FAILING_COLUMNS = (
    Column(name="Failing", gives_way=True),
    Column(name="Region"),
    Column(name="Load", narrow=False),
    Column(name="Outcome", gives_way=True),
    Column(name="Latest", right=True),
    Column(name="Last well", right=True),
)


def parts(document: Document, *, width: int) -> list[RenderableType]:
    """Return what to print of a status: what is wrong, the regions, the failing endpoints."""
    now = from_rfc3339(document["at"])
    found: list[RenderableType] = []
    if document["simulated"]:
        found.append(Text(SIMULATED, style="yellow"))
    found += _summary(document)
    rows = [row for region in document["regions"] for row in _region_rows(region, now)]
    found += [Text(), table(REGION_COLUMNS, rows, width=width)]
    failing = [row for endpoint in document["failing"] for row in _failing_rows(endpoint, now)]
    if failing:
        found += [Text(), table(FAILING_COLUMNS, failing, width=width)]
    return found


def _summary(document: Document) -> list[RenderableType]:
    counts = (
        f"{plural(document['endpoints'], 'endpoint')}, {document['measured']} of them measured, "
        f"from {plural(len(document['regions']), 'region')}"
    )
    problems = document["problems"]
    if not problems:
        return [Text(f"All is well: {counts}.", style="green")]
    head = f"{plural(len(problems), 'problem')}. {counts}."
    return [Text(head, style="bold red"), *(as_text(f"  {problem}") for problem in problems)]


def _region_rows(region: Document, now: datetime) -> list[Sequence[Cell]]:
    if not region["workers"]:
        return [(region["region"], Text("none yet", style="red"), *[UNKNOWN] * 8)]
    return [
        (
            region["region"],
            Text(
                age_text(from_rfc3339(worker["last_seen_at"]), now),
                style="red" if region["state"] == "silent" else "",
            ),
            worker["worker"],
            worker["version"],
            clock_text(worker["clock_offset_s"]),
            _exactness(worker["exactness"]),
            str(worker["outbox_runs"]),
            str(worker["in_hand"]),
            usd_text(worker["budget_left_usd"]),
            _catalog(worker["catalog_mismatch"]),
        )
        for worker in region["workers"]
    ]


def clock_text(offset_s: float) -> str:
    """Return how far a worker's clock is ahead of the centre's (+) or behind it (-)."""
    ms = round(abs(offset_s) * 1000)
    size = f"{ms} ms" if ms < 1000 else seconds_text(abs(offset_s))
    return f"{'-' if offset_s < 0 and ms else '+'}{size}"


def _exactness(word: str) -> Text:
    """Return what the worker's own calibration says of its timings."""
    return Text(word, style="dim" if word == "exact" else "yellow")


def _catalog(mismatch: bool | None) -> Text:
    if mismatch is None:
        return Text(UNKNOWN)
    return Text("differs", style="yellow") if mismatch else Text("same", style="dim")


def _failing_rows(endpoint: Document, now: datetime) -> list[Sequence[Cell]]:
    """Return one row for each region that the endpoint fails in."""
    regions: dict[str, list[Document]] = {}
    for series in endpoint["series"]:
        regions.setdefault(series["region"], []).append(series)
    return [
        (
            endpoint["endpoint"],
            region,
            _joined(series["load"] for series in found),
            Text(_joined(word_text(series["outcome"]) for series in found), style="red"),
            _age(max(series["latest_at"] for series in found), now),
            _age(max(s["last_success_at"] or "" for s in found), now),
        )
        for region, found in regions.items()
    ]


def _joined(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(words))


def _age(moment: str, now: datetime) -> str:
    return age_text(from_rfc3339(moment), now) if moment else "never"
