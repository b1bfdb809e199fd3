"""How often, how much, for how much and for how long: the file's schedule, workloads, accounts,
spending and store.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pacewatch.blanks import read_filling
from pacewatch.catalog import Catalog
from pacewatch.facts import read_rate_limit
from pacewatch.tables import Table, suggestion
from pacewatch.words.endpoint import PART, RateLimit
from pacewatch.words.fleet import DEMO_SCHEDULE, Schedule, Spending
from pacewatch.words.retention import Retention
from pacewatch.words.slot import SENTINEL, WORKLOADS, Workload
from pacewatch.words.spending import Caps

CLOUDS = ("aws", "azure", "google")
DAY_S = 86_400

LEAST_INPUT_TOKENS = 16
"""A shorter prompt has no room for what it asks."""

LEAST_SENTINEL_S = 10
"""A slot of a shorter spacing would be over before its task is in its region."""

_MOST = 1_000_000_000_000
_MOST_DAYS = 36_500


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What one table of `[providers.<id>]` says."""

    filling: Mapping[str, str]
    """What fills the blanks of the provider's address."""
    caps: Caps
    rate_limit: RateLimit | None


def read_accounts(table: Table, catalog: Catalog, own: Iterable[str]) -> dict[str, Account]:
    """Return what the file says of providers: the catalog's, and those of endpoints of its own."""
    named = table.table("providers")
    providers = {*catalog.providers, *own}
    found: dict[str, Account] = {}
    for name in named.raw:
        rows, known = named.table(name), catalog.providers.get(name)
        if name not in providers:
            named.fault(name, f"unknown provider{suggestion(name, providers)}")
            continue
        found[name] = Account(
            filling={} if known is None else read_filling(rows, known),
            caps=_caps(rows),
            rate_limit=read_rate_limit(rows),
        )
        rows.close()
    return found


def _caps(table: Table) -> Caps:
    requests, tokens = (
        table.whole(f"{unit}_per_day", low=0, high=_MOST) for unit in ("requests", "tokens")
    )
    usd = table.number("usd_per_day", low=0, high=1_000_000)
    return Caps(requests_per_day=requests, tokens_per_day=tokens, usd_per_day=usd)


def read_workloads(table: Table) -> dict[str, Workload]:
    """Return the workloads that ship, and those of the file, by name."""
    named = table.table("workload")
    found = dict(WORKLOADS)
    for name in named.raw:
        rows = named.table(name)
        into = rows.whole("input_tokens", low=LEAST_INPUT_TOKENS, high=200_000)
        out = rows.whole("output_tokens", low=1, high=100_000)
        for key, value in (("input_tokens", into), ("output_tokens", out)):
            if value is None and not rows.has(key):
                rows.fault(key, "is missing")
        rows.close()
        if not PART.fullmatch(name):
            named.fault(name, "is no name of a workload (form: a-z 0-9 . _ -)")
        elif name in WORKLOADS:
            named.fault(name, "ships with Pacewatch (allowed: a name of its own)")
        elif into is not None and out is not None:
            found[name] = Workload(name=name, input_tokens=into, output_tokens=out)
    return found


def read_schedule(table: Table, known: Mapping[str, Workload], *, simulated: bool) -> Schedule:
    """Return the schedule; the demo's where the fleet is simulated, as far as the file lets it."""
    base = DEMO_SCHEDULE if simulated else Schedule()
    usual = [name for name in known if name != SENTINEL]
    workloads = table.texts("workloads", allowed=usual)
    if workloads == ():
        table.fault("workloads", f"names none (known: {', '.join(usual)})")
    rows = table.table("schedule")
    read: dict[str, Any] = {
        key: rows.whole(key, low=low, high=high)
        for key, low, high in (
            ("day_s", 60, DAY_S),
            ("single_per_day", 0, 288),
            ("parallel_per_day", 0, 48),
            ("parallel_requests", 2, 10),
            ("window_s", 60, 60 * DAY_S),
            ("validity_s", 10, DAY_S),
            ("resend_s", 1, DAY_S),
            ("late_s", 1, 60 * DAY_S),
        )
    }
    read["tick_s"] = rows.number("tick_s", low=0.2, high=60)
    if read["day_s"] and DAY_S % read["day_s"]:
        rows.fault(
            "day_s", f"{read['day_s']} does not divide {DAY_S} (allowed: 480, 3600, 86400, ...)"
        )
    rows.close()
    read["sentinel_s"] = _sentinel_s(table)
    given = {key: value for key, value in read.items() if value is not None}
    return replace(base, workloads=workloads or base.workloads, **given)


def _sentinel_s(table: Table) -> int | None:
    """Return how far apart an endpoint's sentinels are, seconds; 0: there are none."""
    rows = table.table("sentinels")
    every_s = rows.whole("every_s", low=0, high=DAY_S)
    if every_s and every_s < LEAST_SENTINEL_S:
        rows.fault("every_s", f"{every_s} is too often (allowed: {LEAST_SENTINEL_S} or more, or 0)")
    rows.close()
    return every_s


def read_retention(table: Table, schedule: Schedule) -> Retention:
    """Return how long the centre keeps what it has."""
    rows, base = table.table("store"), Retention()
    timelines = rows.whole("timelines_days", low=1, high=_MOST_DAYS)
    timings = rows.whole("timings_days", low=1, high=_MOST_DAYS)
    rollups = rows.whole("rollups_days", low=1, high=_MOST_DAYS)
    size_gb = rows.number("size_gb", low=0.1, high=1_000_000)
    rows.close()
    found = Retention(
        timelines_days=timelines or base.timelines_days,
        timings_days=timings or base.timings_days,
        rollups_days=rollups,
        size_gb=size_gb,
    )
    least = schedule.window_s // DAY_S + 2  # a day's rows go as a whole, when the last one is old
    if found.timings_days < least:
        rows.fault(
            "timings_days",
            f"{found.timings_days} is too short for the window (allowed: {least} or more)",
        )
    if found.timelines_days > found.timings_days:
        rows.fault("timelines_days", "is longer than timings_days (allowed: as long, or less)")
    return found


def read_spending(table: Table, accounts: Mapping[str, Account]) -> Spending:
    """Return the caps, of the fleet and of its providers, and what the file accepts."""
    rows = table.table("spending")
    caps = _caps(rows)
    region_usd = rows.number("region_usd_per_day", low=0, high=1_000_000)
    accept = rows.flag("accept_spending")
    clouds = rows.texts("ambient_credentials", allowed=CLOUDS)
    rows.close()
    usd = caps.usd_per_day
    return Spending(
        usd_per_day=Spending().usd_per_day if usd is None else usd,
        requests_per_day=caps.requests_per_day,
        tokens_per_day=caps.tokens_per_day,
        region_usd_per_day=region_usd,
        providers={name: one.caps for name, one in accounts.items() if one.caps != Caps()},
        accept_spending=accept or False,
        ambient_credentials=frozenset(clouds or ()),
    )
