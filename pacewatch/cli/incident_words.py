"""How an incident stands, in words on a terminal. Pure."""

from datetime import datetime
from typing import Any

from rich.text import Text

from pacewatch.words.slot import from_rfc3339
from pacewatch.words.text import age_text
from pacewatch.words.verdict import UNUSUAL_ENDS, UnusualEnd

Document = dict[str, Any]


def state_text(one: Document) -> Text:
    """Return how an incident stands."""
    if one["state"] == "confirmed":
        held = ", acknowledged" if one["acknowledged_at"] else ""
        return Text(f"open{held}", style="bold red" if one["pages"] else "yellow")
    if one["state"] == "eased" and one["unusual_end"] is not None:
        return Text(UNUSUAL_ENDS[UnusualEnd(one["unusual_end"])], style="dim")
    return Text("as usual again" if one["state"] == "eased" else one["state"], style="dim")


def lasts_text(one: Document, now: datetime) -> str:
    """Return how long an incident has gone on, or went on."""
    end = one["eased_at"] or one["ended_at"]
    return age_text(from_rfc3339(one["since"]), now if end is None else from_rfc3339(end))
