"""What the file says of judging: limits and floors of endpoints, and false pages."""

from collections.abc import Mapping
from dataclasses import replace

from pacewatch.picks import matches
from pacewatch.tables import Table
from pacewatch.words.endpoint import Endpoint
from pacewatch.words.judging import NO_LIMITS, Limits

_SECONDS = ("slow_ttft_s", "failing_ttft_s", "floor_ttft_s")
_SPEEDS = ("slow_tokens_per_s", "floor_tokens_per_s")


def read_false_pages(table: Table) -> float:
    """Return how many false pages a month there may be over the whole fleet."""
    rows = table.table("judging")
    pages = rows.number("false_pages_a_month", low=0.01, high=100)
    rows.close()
    return 1.0 if pages is None else pages


def read_limits(table: Table, known: Mapping[str, Endpoint]) -> dict[str, Limits]:
    """Return the limits that `[limits]` gives, by endpoint; later lines win, key by key."""
    named, found = table.table("limits"), dict[str, Limits]()
    for glob, matched in matches(named, known):
        rows = named.table(glob)
        read = {key: rows.number(key, low=0.001, high=3_600) for key in _SECONDS}
        read |= {key: rows.number(key, low=0.1, high=1_000_000) for key in _SPEEDS}
        rows.close()
        given = {key: value for key, value in read.items() if value is not None}
        for endpoint in matched:
            found[endpoint] = replace(found.get(endpoint, NO_LIMITS), **given)
    for endpoint, limits in found.items():
        if (fault := _why_not(limits)) is not None:
            named.fault(endpoint, fault)
            break
    return found


def _why_not(limits: Limits) -> str | None:
    """Return which of an endpoint's limits contradict each other; None where none do."""
    pairs = (
        ("floor_ttft_s", limits.floor_ttft_s, "slow_ttft_s", limits.slow_ttft_s),
        ("floor_ttft_s", limits.floor_ttft_s, "failing_ttft_s", limits.failing_ttft_s),
        ("slow_ttft_s", limits.slow_ttft_s, "failing_ttft_s", limits.failing_ttft_s),
        (
            *("slow_tokens_per_s", limits.slow_tokens_per_s),
            *("floor_tokens_per_s", limits.floor_tokens_per_s),
        ),
    )
    for less, low, more, high in pairs:
        if low is not None and high is not None and low > high:
            return f"{less} {low:g} is over {more} {high:g} (allowed: {less} up to {more})"
    return None
