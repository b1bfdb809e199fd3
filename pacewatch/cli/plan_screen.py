"""What the plan says on a screen and as JSON, before anything is sent.

`pacewatch up` prints it too: `show_plan`, and `plan_usd_per_day` for what it asks about.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from aggregator.peaks import peaks_of
from aggregator.plan import MONTH_DAYS, Plan, Row, make_plan
from aggregator.thin import MetCap, Rate
from pacewatch.cli.find_screen import find_json, find_notes, find_table
from pacewatch.cli.peaks_screen import peak_notes, peaks_json, peaks_table
from pacewatch.cli.render import Column, listed, show, table
from pacewatch.environment import ambient_found, key_names_found
from pacewatch.words.fleet import Fleet
from pacewatch.words.text import UNKNOWN, count_text, usd_text

MOST_THINNED = 20
"""Rows of the table of thinned endpoints at most."""


def show_plan(fleet: Fleet, environment: Mapping[str, str]) -> None:
    """Print what the fleet is planned to ask and to cost, and what it found in the shell."""
    show(*plan_screen(fleet, make_plan(fleet), environment))


def plan_usd_per_day(fleet: Fleet) -> float:
    """Return what the plan expects to spend a day, US$; endpoints without a price count nothing."""
    return make_plan(fleet).usd_per_day


def plan_screen(fleet: Fleet, plan: Plan, environment: Mapping[str, str]) -> list[RenderableType]:
    """Return the parts of the screen."""
    parts: list[RenderableType] = [Text(line) for line in _head(fleet, plan)]
    if plan.rows:
        parts += [Text(), _by_provider(plan), Text(), find_table(fleet, plan)]
    if thinned := _thinned(fleet, plan):
        parts += [Text(), thinned]
    if peaks := peaks_of(fleet, plan):
        parts += [Text(), peaks_table(peaks)]
    found = find_notes(fleet, plan) if plan.rows else []
    if lines := [*found, *plan_notes(fleet, plan), *shell_notes(fleet, environment)]:
        parts += [Text(), note_lines(lines)]
    return parts


def note_lines(notes: Iterable[str]) -> RenderableType:
    """Return notes one under another, each hanging from a dash."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    for note in notes:
        grid.add_row(Text("-"), Text(note))
    return grid


def _head(fleet: Fleet, plan: Plan) -> Iterable[str]:
    if not plan.rows:
        yield "Nothing is planned: no provider key is set, and no file names an endpoint."
        return
    if fleet.simulated:
        yield "SIMULATED: every endpoint is the simulator's; nothing is sent to a provider or paid."
    schedule = fleet.schedule
    day = "a day" if schedule.day_s == 86_400 else f"in {schedule.day_s:,} s"
    yield (
        f"{_counted(len(plan.rows), 'endpoint')} from {_counted(len(fleet.regions), 'region')}, "
        f"{_counted(len(schedule.workloads), 'workload')} ({', '.join(schedule.workloads)}): "
        f"each {schedule.single_per_day} single and {schedule.parallel_per_day} parallel runs {day}"
    )
    if not fleet.simulated:
        yield (
            f"Expected: {usd_text(plan.usd_per_day)} a day of a cap of "
            f"{usd_text(plan.cap_usd_per_day)}"
        )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


_COLUMNS = (
    Column(name="Provider", gives_way=True),
    Column(name="Endpoints", right=True),
    Column(name="Requests/day", right=True),
    Column(name="Tokens in/day", right=True, narrow=False),
    Column(name="Tokens out/day", right=True, narrow=False),
    Column(name="Requests/month", right=True, narrow=False),
    Column(name="US$/day", right=True),
    Column(name="US$/month", right=True),
)


def _by_provider(plan: Plan) -> RenderableType:
    rows = [_cells(sums) for sums in provider_sums(plan)]
    return table(_COLUMNS, [*rows, _cells(_sum("all", list(plan.rows.values())))])


def _cells(sums: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        sums["provider"],
        count_text(sums["endpoints"]),
        count_text(round(sums["requests_per_day"])),
        count_text(round(sums["input_tokens_per_day"])),
        count_text(round(sums["output_tokens_per_day"])),
        count_text(round(sums["requests_per_day"] * MONTH_DAYS)),
        usd_text(sums["usd_per_day"]),
        usd_text(sums["usd_per_month"]),
    )


def provider_sums(plan: Plan) -> list[dict[str, Any]]:
    """Return the sums of each provider, the dearest first."""
    providers: dict[str, list[Row]] = {}
    for row in plan.rows.values():
        providers.setdefault(row.provider, []).append(row)
    sums = [_sum(provider, rows) for provider, rows in providers.items()]
    return sorted(sums, key=lambda s: (-(s["usd_per_day"] or 0.0), s["provider"]))


def _sum(provider: str, rows: list[Row]) -> dict[str, Any]:
    priced = [row.usd_per_day for row in rows if row.usd_per_day is not None]
    usd = sum(priced) if priced else None
    return {
        "provider": provider,
        "endpoints": len(rows),
        "requests_per_day": sum(row.requests_per_day for row in rows),
        "input_tokens_per_day": sum(row.input_tokens_per_day for row in rows),
        "output_tokens_per_day": sum(row.output_tokens_per_day for row in rows),
        "usd_per_day": usd,
        "usd_per_month": None if usd is None else usd * MONTH_DAYS,
    }


def _thinned(fleet: Fleet, plan: Plan) -> RenderableType | None:
    schedule = fleet.schedule
    rows = [
        (
            row.endpoint,
            f"{schedule.single_per_day} → {rate_text(row.single)}",
            f"{schedule.parallel_per_day} → {rate_text(row.parallel)}",
            _sentinels_text(row),
            usd_text(row.asked_usd_per_day),
            usd_text(row.usd_per_day),
        )
        for row in plan.rows.values()
        if row.is_thinned
    ]
    if not rows:
        return None
    if len(rows) > MOST_THINNED:
        left = len(rows) - MOST_THINNED
        rows = [*rows[:MOST_THINNED], (f"and {left} more", "", "", "", "", "")]
    columns = (
        Column(name="Thinned", gives_way=True),
        Column(name="Single/day", right=True),
        Column(name="Parallel/day", right=True),
        Column(name="Sentinels each", right=True, narrow=False),
        Column(name="Asked/day", right=True, narrow=False),
        Column(name="US$/day", right=True),
    )
    return table(columns, rows)


def _sentinels_text(row: Row) -> str:
    if not row.asked_sentinel_s:
        return UNKNOWN
    return f"{row.asked_sentinel_s:,} s → " + (
        f"{row.sentinel_s:,} s" if row.sentinel_s else "none"
    )


def rate_text(rate: Rate) -> str:
    """Return a rate as people say it: `4`, or `1 in 3 days`."""
    if rate.every_days == 1 or not rate.per_day:
        return str(rate.per_day)
    return f"{rate.per_day} in {rate.every_days} days"


def plan_notes(fleet: Fleet, plan: Plan) -> list[str]:
    """Return what is to be known of the plan: thinning, crowded rings, unknown prices."""
    notes = [_met_note(met) for met in plan.met]
    asked = fleet.schedule.parallel_per_day
    notes += [
        f"{ring.provider}: one parallel run of each series takes {ring.needed_s:,} s in a row, "
        f"too long for {asked} times a day; planned: "
        f"{rate_text(Rate(per_day=ring.turns, every_days=ring.groups))}"
        for ring in plan.rings.values()
        if ring.turns and ring.turns / ring.groups < asked
    ]
    notes += peak_notes(peaks_of(fleet, plan))
    if plan.unpriced and not fleet.simulated:
        notes.append(
            f"No price is known of {listed(plan.unpriced)}; counted as US$ 0 "
            "(price of an [[endpoint]] table sets one)"
        )
    return notes


def _met_note(met: MetCap) -> str:
    cap = met.cap
    if cap.unit == "usd":
        would = f"cost {usd_text(met.asked)}"
    else:
        would = f"ask for {count_text(round(met.asked))} {cap.unit}"
    first = "the dearest endpoints" if cap.unit == "usd" else "those that ask for most"
    of = "" if cap.provider is None else f" of {cap.provider}"
    place = "spending" if cap.provider is None else f"providers.{cap.provider}"
    return (
        f"The schedule as set would {would} a day{of}; whole slots were left out, evenly over the "
        f"day, {first} first ([{place}] {cap.unit}_per_day raises the cap)"
    )


def shell_notes(fleet: Fleet, environment: Mapping[str, str]) -> list[str]:
    """Return which keys and cloud credentials the shell holds, by name, and whether they count."""
    if fleet.simulated:
        return []
    notes = []
    if names := key_names_found(environment, fleet.catalog.values()):
        notes.append(f"Keys found in the environment: {', '.join(names)}")
    for cloud, names in ambient_found(environment).items():
        use = (
            "the file lets them be used"
            if cloud in fleet.spending.ambient_credentials
            else f'not used ([spending] ambient_credentials = ["{cloud}"] would allow it)'
        )
        notes.append(f"Credentials of {cloud} found: {', '.join(names)}; {use}")
    return notes


def plan_json(fleet: Fleet, plan: Plan, environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the plan as `plan --json` prints it."""
    return {
        "simulated": fleet.simulated,
        "regions": sorted(fleet.regions),
        "workloads": list(fleet.schedule.workloads),
        "day_s": fleet.schedule.day_s,
        "cap_usd_per_day": plan.cap_usd_per_day,
        "usd_per_day": plan.usd_per_day,
        "usd_per_month": plan.usd_per_day * MONTH_DAYS,
        "asked_usd_per_day": plan.asked_usd_per_day,
        "unpriced": list(plan.unpriced),
        "providers": provider_sums(plan),
        "time_to_find": find_json(fleet, plan),
        "rate_limits": peaks_json(peaks_of(fleet, plan)),
        "endpoints": [_endpoint_json(row) for row in plan.rows.values()],
        "notes": [*(find_notes(fleet, plan) if plan.rows else []), *plan_notes(fleet, plan)],
        "keys_found": list(key_names_found(environment, fleet.catalog.values())),
        "ambient_found": {k: list(v) for k, v in ambient_found(environment).items()},
    }


def _endpoint_json(row: Row) -> dict[str, Any]:
    return {
        "endpoint": row.endpoint,
        "single_per_day": row.single.mean,
        "parallel_per_day": row.parallel.mean,
        "sentinel_s": row.sentinel_s or None,
        "sentinel_usd_per_day": row.sentinel_usd_per_day,
        "requests_per_day": row.requests_per_day,
        "input_tokens_per_day": row.input_tokens_per_day,
        "output_tokens_per_day": row.output_tokens_per_day,
        "usd_per_day": row.usd_per_day,
        "asked_usd_per_day": row.asked_usd_per_day,
    }
