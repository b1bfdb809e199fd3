"""How near the plan comes to each known rate limit, on a screen and as JSON."""

from collections.abc import Sequence
from typing import Any

from rich.console import RenderableType

from aggregator.peaks import Peak
from pacewatch.cli.render import Column, listed, table
from pacewatch.words.text import count_text

MOST_PEAKS = 20
"""Rows of the table at most, the tightest limits first."""

_COLUMNS = (
    Column(name="Rate limit of", gives_way=True),
    Column(name="A minute"),
    Column(name="Allowed", right=True),
    Column(name="Planned", right=True),
    Column(name="At, UTC", right=True, narrow=False),
    Column(name=""),
)


def peaks_table(peaks: Sequence[Peak]) -> RenderableType:
    """Return the table of the fullest minutes."""
    rows = [
        (
            peak.whose,
            peak.unit,
            count_text(peak.allowed),
            count_text(peak.planned),
            f"{peak.at:%H:%M}",
            f"met, {peak.planned / peak.allowed:.1f} times" if peak.is_met else "fits",
        )
        for peak in peaks[:MOST_PEAKS]
    ]
    return table(_COLUMNS, rows)


def peak_notes(peaks: Sequence[Peak]) -> list[str]:
    """Return what the limits that are met will do."""
    met = list(dict.fromkeys(peak.whose for peak in peaks if peak.is_met))
    if not met:
        return []
    return [
        f"{listed(met)}: some requests will be refused (429), since the fullest minute asks for "
        "more than the rate limit lets through ([schedule] parallel_requests, fewer parallel runs "
        "or smaller workloads lower it)"
    ]


def peaks_json(peaks: Sequence[Peak]) -> list[dict[str, Any]]:
    """Return the fullest minutes as `plan --json` prints them."""
    return [
        {
            "of": peak.whose,
            "unit": peak.unit,
            "allowed_per_minute": peak.allowed,
            "planned_per_minute": peak.planned,
            "at": f"{peak.at:%H:%M:%S}",
            "is_met": peak.is_met,
            "source": peak.source,
        }
        for peak in peaks
    ]
