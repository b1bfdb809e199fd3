"""How soon trouble is expected to be found, and what sentinels cost, as `plan` shows it. Pure."""

from collections.abc import Iterable
from typing import Any

from rich.console import RenderableType

from aggregator.backtest.times import Expected, Measured, Pace, expected, source
from aggregator.plan import DAY_S, MONTH_DAYS, Plan, Row
from pacewatch.cli.render import Column, listed, table
from pacewatch.words.fleet import Fleet
from pacewatch.words.text import UNKNOWN, hours_text, usd_text

SHOWN = {
    "outage, refusing": "Outage",
    "speed halved": "Half the speed",
    "TTFT five times": "TTFT x5",
}
"""Troubles with a column of their own."""

SLIGHT, LOCAL = "speed x0.7", "speed halved, one region"

LATEST_H = 48.0
"""Nothing is waited for longer in the table."""

_COLUMNS = (
    Column(name="Endpoints", gives_way=True),
    Column(name="Sentinels"),
    Column(name="Their US$/month", right=True, narrow=False),
    *(Column(name=name, right=True) for name in SHOWN.values()),
)


def find_table(fleet: Fleet, plan: Plan) -> RenderableType:
    """Return a row for all endpoints that are probed equally often."""
    rows = []
    for group in _groups(plan):
        found = _measured(fleet, group[0])
        times = {} if found is None else found.found
        rows.append(
            (
                listed([row.endpoint for row in group]),
                _every(group[0].sentinel_s),
                usd_text(_usd_per_month(group)) if group[0].sentinel_s else UNKNOWN,
                *(_after(fleet, times.get(trouble)) for trouble in SHOWN),
            )
        )
    return table(_COLUMNS, rows, title="Trouble would be found after")


def find_notes(fleet: Fleet, plan: Plan) -> list[str]:
    """Return where the times come from, and what is not to be counted on."""
    found = [one for group in _groups(plan) if (one := _measured(fleet, group[0])) is not None]
    if not found:
        return ["So few runs a day were not measured: how soon trouble is found is not known"]
    notes = [
        f"Times to find are medians, {source()}, at no more runs a day than these: what is "
        "possible, not what will be",
        f"Not to be counted on: a speed at 0.7 of the usual ({_missed(found, SLIGHT)} of them not "
        "found within a day)",
    ]
    if len(fleet.regions) > 1:
        latest = max(found, key=lambda one: one.found[LOCAL].missed).found[LOCAL]
        notes.append(
            f"Half the speed in one region alone: {_after(fleet, latest)} at the median, "
            f"{_missed(found, LOCAL)} not within a day"
        )
    return notes


def find_json(fleet: Fleet, plan: Plan) -> dict[str, Any]:
    """Return the same as JSON; times in seconds."""
    return {
        "source": source(),
        "groups": [
            {
                "endpoints": [row.endpoint for row in group],
                "sentinel_s": group[0].sentinel_s or None,
                "sentinel_usd_per_month": _usd_per_month(group),
                "found": None if found is None else _found_json(fleet, found),
            }
            for group in _groups(plan)
            for found in [_measured(fleet, group[0])]
        ],
    }


def _found_json(fleet: Fleet, found: Measured) -> dict[str, Any]:
    return {
        trouble: {"median_s": _seconds(fleet, one), "missed_within_a_day": one.missed}
        for trouble, one in found.found.items()
    }


def _groups(plan: Plan) -> Iterable[list[Row]]:
    """Return the endpoints that are probed equally often, the most often first."""
    groups: dict[tuple[float, float, float], list[Row]] = {}
    for row in plan.rows.values():
        key = (-row.sentinels_per_day, -row.single.mean, -row.parallel.mean)
        groups.setdefault(key, []).append(row)
    return [group for _, group in sorted(groups.items(), key=lambda item: item[0])]


def _measured(fleet: Fleet, row: Row) -> Measured | None:
    workloads = len(fleet.schedule.workloads)
    return expected(
        Pace(
            regions=len(fleet.regions),
            single_per_day=row.single.mean * workloads,
            parallel_per_day=row.parallel.mean * workloads,
            sentinel_s=row.sentinel_s * DAY_S / fleet.schedule.day_s,
        )
    )


def _every(sentinel_s: int) -> str:
    return f"each {sentinel_s:,} s" if sentinel_s else "none"


def _usd_per_month(group: Iterable[Row]) -> float | None:
    known = [row.sentinel_usd_per_day for row in group if row.sentinel_usd_per_day is not None]
    return sum(known) * MONTH_DAYS if known else None


def _seconds(fleet: Fleet, one: Expected) -> float | None:
    scale = 3_600 * fleet.schedule.day_s / DAY_S
    return None if one.median_h is None else one.median_h * scale


def _after(fleet: Fleet, one: Expected | None) -> str:
    """Return a median; the demo's hours are as short as its day."""
    if one is None:
        return UNKNOWN
    seconds = _seconds(fleet, one)
    if seconds is None:
        return f">{hours_text(LATEST_H * fleet.schedule.day_s / DAY_S)}"
    return f"{seconds:.0f} s" if seconds < 120 else hours_text(seconds / 3_600)


def _missed(found: Iterable[Measured], trouble: str) -> str:
    shares = sorted({round(100 * one.found[trouble].missed) for one in found})
    if len(shares) == 1:
        return f"{shares[0]} %"
    return f"{shares[0]} to {shares[-1]} %"
