"""What a backtest found, as a document and on a terminal. Pure."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from aggregator.backtest.plain import REGIONS, THRESHOLD
from aggregator.backtest.replay import Incident, Replay
from aggregator.fleet_file import Orders
from pacewatch.cli.render import Column, listed, table
from pacewatch.words.endpoint import Importance
from pacewatch.words.slot import to_rfc3339
from pacewatch.words.text import UNKNOWN, hours_text, minute_text, plural, word_text

Document = dict[str, Any]

_INCIDENTS = (
    Column(name="When (UTC)"),
    Column(name="Would"),
    Column(name="Class"),
    Column(name="Trouble"),
    Column(name="Slower", right=True),
    Column(name="From", narrow=False),
    Column(name="Endpoints", gives_way=True),
)
_PLAIN = (
    Column(name="Simpler rule", gives_way=True),
    Column(name="Alarms", right=True),
    Column(name="Endpoint days with one", right=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """The runs of the time that is told of."""

    runs: int
    first_at: datetime | None
    """When the first of them was due; None: there are none."""


def document(
    orders: Orders, replay: Replay, played: Played, *, since: datetime, until: datetime
) -> Document:
    """Return what would have been, from `since` on."""
    begin = since.timestamp()
    incidents = [_incident(one) for one in replay.incidents if one.at >= begin]
    return {
        "since": to_rfc3339(since),
        "until": to_rfc3339(until),
        "simulated": orders.fleet.simulated,
        "endpoints": len(orders.fleet.endpoints),
        "regions": sorted(orders.fleet.regions),
        "runs": played.runs,
        "first_at": None if played.first_at is None else to_rfc3339(played.first_at),
        "incidents": incidents,
        "pages": sum(one["would"] == "page" for one in incidents),
        "plain": [_plain(rule, replay, begin) for rule in (THRESHOLD, REGIONS)],
    }


def _incident(one: Incident) -> Document:
    would = "page" if one.pages else "tell"
    return {
        "at": _moment(one.at),
        "since": _moment(one.since),
        "would": "show" if one.importance is Importance.WATCH else would,
        "class": str(one.blame),
        "provider": one.provider,
        "region": one.region,
        "trouble": str(one.trouble),
        "ratio": one.ratio,
        "endpoints": sorted(one.endpoints),
        "eased_at": None if one.eased_at is None else _moment(one.eased_at),
    }


def _plain(rule: str, replay: Replay, begin: float) -> Document:
    rises = [one for one in replay.rises if one.rule == rule and one.at >= begin]
    return {
        "rule": rule,
        "alarms": [
            {"at": _moment(one.at), "endpoint": one.endpoint, "workload": one.workload}
            for one in rises
        ],
        "days": len({(one.endpoint, int(one.at / 86_400)) for one in rises}),
    }


def _moment(seconds: float) -> str:
    return to_rfc3339(datetime.fromtimestamp(int(seconds), UTC))


def parts(told: Document) -> list[RenderableType]:
    """Return the screen of stored history."""
    first = f" (the first of {minute_text(told['first_at'])})" if told["first_at"] else ""
    head = (
        f"{minute_text(told['since'])} to {minute_text(told['until'])}: "
        f"{plural(told['runs'], 'run')}{first} of {plural(told['endpoints'], 'endpoint')} "
        f"from {plural(len(told['regions']), 'region')}, judged by today's rules"
    )
    if told["simulated"]:
        head = f"SIMULATED. {head}"
    would = Counter(one["would"] for one in told["incidents"])
    found: list[RenderableType] = [Text(head), Text()]
    if told["incidents"]:
        found += [table(_INCIDENTS, [_cells(one) for one in told["incidents"]]), Text()]
    found.append(Text(_summary(would) if told["runs"] else "Nothing is stored of this time."))
    if told["runs"]:
        rows = [(one["rule"], str(len(one["alarms"])), str(one["days"])) for one in told["plain"]]
        found += [Text(), table(_PLAIN, rows)]
    return found


def _cells(one: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        minute_text(one["at"]),
        one["would"],
        word_text(one["class"]),
        word_text(one["trouble"]),
        UNKNOWN if one["ratio"] is None else f"{one['ratio']:.1f} times",
        one["region"] or "everywhere",
        listed(one["endpoints"]),
    )


def _summary(would: Mapping[str, int]) -> str:
    pages, told, shown = (would.get(word, 0) for word in ("page", "tell", "show"))
    return f"{plural(pages, 'page')}, {told:,} told without waking anybody, {shown:,} only shown"


_SYNTHETIC = (
    Column(name="Trouble", gives_way=True),
    Column(name="Median", right=True),
    Column(name="90 %", right=True),
    Column(name="Not in a day", right=True),
    Column(name="Class right", right=True),
)
_CALM = (
    Column(name="Rule", gives_way=True),
    Column(name="Endpoint years", right=True),
    Column(name="False-alarm days a year", right=True),
)


def synthetic_parts(told: Document) -> list[RenderableType]:
    """Return the screen of generated histories."""
    found: list[RenderableType] = [
        Text(
            f"Generated histories of assumed noise, seed {told['seed']}, "
            f"{told['regions']} regions, 8 single and 2 parallel runs a day of each: "
            "the figures compare rules."
        ),
        Text(),
        table(_CALM, [_calm_cells(one) for one in told["quiet"]]),
    ]
    for rule in dict.fromkeys(one["rule"] for one in told["troubles"]):
        rows = [_delay_cells(one) for one in told["troubles"] if one["rule"] == rule]
        found += [Text(), table(_SYNTHETIC, rows, title=f"Found after: {rule}")]
    return found


def _calm_cells(one: Mapping[str, Any]) -> tuple[str, ...]:
    return one["rule"], f"{one['years']:.1f}", f"{one['false_days'] / one['years']:.1f}"


def _delay_cells(one: Mapping[str, Any]) -> tuple[str, ...]:
    named = one["named_right"]
    return (
        one["trouble"],
        hours_text(one["median_h"]),
        hours_text(one["late_h"]),
        f"{one['missed']:.0%}",
        UNKNOWN if named is None else f"{named} of {one['found']}",
    )
