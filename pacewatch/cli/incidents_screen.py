"""Incidents on a terminal. Pure: the aggregator's document in, tables out."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from pacewatch.cli.board_screen import SIMULATED
from pacewatch.cli.incident_words import lasts_text, state_text
from pacewatch.cli.render import Cell, Column, as_text, table
from pacewatch.words.outcome import outcome_text
from pacewatch.words.slot import from_rfc3339
from pacewatch.words.text import UNKNOWN, ago_text, seconds_text, speed_text, word_text
from pacewatch.words.verdict import BLAME_MEANINGS, Blame

Document = dict[str, Any]

LIST_COLUMNS = (
    Column(name="ID", right=True),
    Column(name="What", gives_way=True),
    Column(name="Fault"),
    Column(name="Importance", narrow=False),
    Column(name="Lasts", right=True),
    Column(name="State", gives_way=True),
)
PART_COLUMNS = (
    Column(name="Endpoint", gives_way=True),
    Column(name="Trouble"),
    Column(name="Times slower", right=True),
    Column(name="Began", right=True),
    Column(name="Eased", right=True),
)
EVENT_COLUMNS = (Column(name="When"), Column(name="What"), Column(name="", gives_way=True))
RUN_COLUMNS = (
    Column(name="Run", narrow=False),
    Column(name="Endpoint", gives_way=True),
    Column(name="Region"),
    Column(name="Outcome", gives_way=True),
    Column(name="Speed", right=True),
    Column(name="TTFT", right=True),
)


def list_parts(document: Document, *, width: int) -> list[RenderableType]:
    """Return what to print of a list of incidents."""
    now = from_rfc3339(document["at"])
    found: list[RenderableType] = [_simulated()] if document["simulated"] else []
    if not document["incidents"]:
        return [*found, Text("No incident is open.", style="green")]
    rows = [
        (
            str(one["incident"]),
            one["title"],
            word_text(one["class"]),
            one["importance"],
            lasts_text(one, now),
            state_text(one),
        )
        for one in document["incidents"]
    ]
    return [*found, Text(), table(LIST_COLUMNS, rows, width=width)]


def show_parts(document: Document, *, width: int) -> list[RenderableType]:
    """Return what to print of one incident."""
    now = _now(document)
    found: list[RenderableType] = [_simulated()] if document["simulated"] else []
    head = f"Incident {document['incident']}: {document['title']}"
    found += [Text(as_text(head).plain, style="bold"), *_about(document, now)]
    parts = [_part(part, now) for part in document["endpoints"]]
    if parts:
        found += [Text(), table(PART_COLUMNS, parts, width=width)]
    found += _events(document, width)
    runs = [_run(run) for run in document["confirming_runs"]]
    if runs:
        found += [Text(), table(RUN_COLUMNS, runs, width=width, title="Confirming runs")]
    return found


def _about(document: Document, now: datetime) -> Iterator[Text]:
    state = state_text(document)
    state.append(f", {lasts_text(document, now)}; importance {document['importance']}", style="")
    if document["pages"]:
        state.append(", wakes somebody")
    yield state
    yield as_text(f"{word_text(document['class'])}: {BLAME_MEANINGS[Blame(document['class'])]}")
    yield from (as_text(f"  for      {text}") for text in document["speaks_for"])
    yield from (as_text(f"  against  {text}") for text in document["speaks_against"])


def _events(document: Document, width: int) -> list[RenderableType]:
    rows: list[tuple[Cell, ...]] = [
        (f"{event['at'][:10]} {event['at'][11:19]}", event["kind"], event["text"])
        for event in document["timeline"]
    ]
    if not rows:
        return []
    return [Text(), table(EVENT_COLUMNS, rows, width=width, title="Timeline, UTC")]


def _part(part: Document, now: datetime) -> tuple[Cell, ...]:
    eased = part["eased_at"]
    return (
        part["endpoint"],
        word_text(part["trouble"]),
        _times(part["slower"]),
        ago_text(from_rfc3339(part["since"]), now),
        UNKNOWN if eased is None else ago_text(from_rfc3339(eased), now),
    )


def _times(slower: Document | None) -> str:
    if slower is None:
        return UNKNOWN
    if slower["low"] is None or slower["high"] is None:
        return f"{slower['times']:.1f}"
    return f"{slower['times']:.1f} ({slower['low']:.1f}\u2013{slower['high']:.1f})"


def _run(run: Document) -> tuple[Cell, ...]:
    outcome = run["outcome"]
    state = run["state"] or "no longer kept"
    return (
        run["run"],
        run["endpoint"],
        run["region"],
        state if outcome is None else outcome_text(outcome),
        speed_text(run["output_tokens_per_s"]),
        seconds_text(run["ttft_s"]),
    )


def _now(document: Document) -> datetime:
    return from_rfc3339(document["at"])


def _simulated() -> Text:
    return Text(SIMULATED, style="yellow")
