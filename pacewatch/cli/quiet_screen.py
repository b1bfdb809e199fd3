"""What the fleet's quiet time says of the thresholds, as a document and on a terminal. Pure."""

from typing import Any

from rich.console import RenderableType
from rich.text import Text

from aggregator.quiet import LEARNT_DAYS, LEAST_WEEKS, Calibration
from pacewatch.cli.render import Column, table
from pacewatch.words.slot import to_rfc3339
from pacewatch.words.text import minute_text, plural

Document = dict[str, Any]

_HIGHEST = (
    Column(name="Highest of the quiet days", gives_way=True),
    Column(name="Day from (UTC)"),
    Column(name="Share of the threshold", right=True),
)


def document(found: Calibration, *, before: float) -> Document:
    """Return what was found; `before` is what thresholds were multiplied by until now."""
    return {
        "endpoints": list(found.endpoints),
        "quiet_days": found.quiet_days,
        "quiet_weeks": found.weeks,
        "left_out_days": found.left_out_days,
        "false_pages_a_month": found.false_pages_a_month,
        "multiplier_before": before,
        "multiplier": found.multiplier,
        "highest": [
            {"endpoint": endpoint, "day": to_rfc3339(day), "share": share}
            for endpoint, day, share in found.highest
        ],
    }


def parts(told: Document) -> list[RenderableType]:
    """Return the screen."""
    if not told["endpoints"]:
        return [Text('No endpoint pages: [importance] names none as "page" (nothing is stored)')]
    found: list[RenderableType] = [Text(_head(told)), Text()]
    if told["highest"]:
        rows = [
            (o["endpoint"], minute_text(o["day"]), f"{o['share']:.2f}") for o in told["highest"]
        ]
        found += [table(_HIGHEST, rows), Text()]
    found.append(Text(_verdict(told)))
    return found


def _head(told: Document) -> str:
    left_out = told["left_out_days"]
    without = f", without {plural(left_out, 'day')} of real incidents" if left_out else ""
    days = plural(told["quiet_days"], "quiet day")
    endpoints = plural(len(told["endpoints"]), "endpoint")
    pages = "1 false page" if (n := told["false_pages_a_month"]) == 1 else f"{n:g} false pages"
    return (
        f"{days} of {endpoints} of importance page{without}; "
        f"allowed: {pages} a month over all of them"
    )


def _verdict(told: Document) -> str:
    if told["multiplier"] is None:
        return (
            f"Too little quiet history: {told['quiet_weeks']:.1f} weeks of each endpoint (needed: "
            f"{LEAST_WEEKS}, after the {LEARNT_DAYS} days in which its usual day is learnt); "
            f"thresholds stay {told['multiplier_before']:.2f} times those of the code"
        )
    return (
        f"Thresholds: {told['multiplier']:.2f} times those of the code, "
        f"{told['multiplier_before']:.2f} before; stored, the judge goes by it from now on"
    )
