"""One endpoint as a person reads it: medians of each region, charts, changes, runs. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from aggregator.advice import advice_text
from aggregator.board import BoardSeries
from aggregator.endpoint_charts import Place, places_of
from aggregator.figure_lines import FigureLine, figure_line, series_tabs
from aggregator.one_endpoint import EndpointIncident, OneEndpoint, Point
from aggregator.page import Moment, moment_of
from aggregator.places import endpoint_address, incident_address, model_address, run_address
from aggregator.remarks import remarks_of
from aggregator.request_facts import Fact
from aggregator.tabs import Tab
from aggregator.tones import Remark
from aggregator.verdict_remarks import verdict_remark
from pacewatch.words.fleet import Fleet
from pacewatch.words.outcome import outcome_text
from pacewatch.words.slot import Load
from pacewatch.words.text import (
    seconds_text,
    span_text,
    speed_text,
    usd_text,
    word_text,
)
from pacewatch.words.verdict import TROUBLE_MEANINGS, Trouble

MOST_NEWEST = 20
"""Runs that are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """One of the newest runs."""

    address: str
    at: Moment
    region: str
    purpose: str
    outcome: str
    good: bool
    speed: str
    ttft: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeLine:
    """One thing that the provider changed."""

    at: Moment
    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentLine:
    """One incident of the endpoint."""

    address: str
    since: Moment
    text: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointPage:
    """All that stands on the page of an endpoint."""

    endpoint: str
    provider: str
    model: str
    model_address: str
    simulated: bool
    facts: tuple[Fact, ...]
    workloads: tuple[Tab, ...]
    loads: tuple[Tab, ...]
    verdict: Remark | None
    advice: tuple[str, ...]
    """What somebody must set right, a sentence each."""
    """Over all regions; None before the first judgement."""
    empty: str
    """What stands in place of figures where there are none."""
    lines: tuple[FigureLine, ...]
    places: tuple[Place, ...]
    window: str
    changes: tuple[ChangeLine, ...]
    incidents: tuple[IncidentLine, ...]
    newest: tuple[RunLine, ...]


def endpoint_page(found: OneEndpoint, fleet: Fleet, workload: str, load: Load) -> EndpointPage:
    """Return the page of an endpoint whose series of the workload and load were read."""
    now, facts, over_all = found.board.at, found.facts, found.believed.get("")
    workloads, loads = series_tabs(
        partial(endpoint_address, facts.endpoint), found.board, fleet, workload, load
    )
    return EndpointPage(
        endpoint=facts.endpoint,
        provider=facts.provider_name,
        model=facts.model,
        model_address=model_address(facts.model, workload=workload, load=str(load)),
        simulated=found.board.simulated,
        facts=tuple(_facts(found)),
        workloads=workloads,
        loads=loads,
        verdict=verdict_remark(over_all, now) if over_all is not None else None,
        advice=tuple(f"To be set right: {advice_text(one, now)}." for one in found.advice),
        empty=_empty(found, workload, load),
        lines=tuple(_lines(found, now)),
        places=places_of(found, load),
        window=span_text(found.board.window.total_seconds()),
        changes=tuple(_changes(found, now)),
        incidents=tuple(_incident(one, now) for one in found.incidents),
        newest=_newest(found, now),
    )


def _facts(found: OneEndpoint) -> Iterator[Fact]:
    facts = found.facts
    told = {
        "provider": facts.provider_name,
        "precision": facts.precision,
        "location": facts.location,
        "account": facts.account,
        "tier": facts.tier,
        "protocol": facts.protocol,
        "host": facts.base_host,
        "importance": facts.importance,
        "price of a million tokens in": usd_text(facts.price_input_usd),
        "out": usd_text(facts.price_output_usd),
        "probed": "yes" if facts.active else "no longer",
    }
    yield from (Fact(name=name, text=text) for name, text in told.items() if text)


def _empty(found: OneEndpoint, workload: str, load: Load) -> str:
    if found.shown is None:
        return f"It is not measured with workload {workload} and load {load}."
    if not any(cell.runs for cell in found.shown.series[0].regions.values()):
        return "Nothing measured within the window."
    return ""


def _lines(found: OneEndpoint, now: datetime) -> Iterator[FigureLine]:
    if found.shown is None:
        return
    series = found.shown.series[0]
    if len(series.regions) > 1:
        over_all = remarks_of(found.facts, series, now, believed=found.believed.get(""))
        yield figure_line("all regions", series.pooled, over_all, now)
    for region, cell in series.regions.items():
        alone = BoardSeries(
            workload=series.workload, load=series.load, pooled=cell, regions={region: cell}
        )
        said = remarks_of(found.facts, alone, now, believed=found.believed.get(region))
        yield figure_line(region, cell, said, now)


def _changes(found: OneEndpoint, now: datetime) -> Iterator[ChangeLine]:
    for change in found.changes:
        yield ChangeLine(
            at=moment_of(change.changed_at, now),
            what=change.facet,
            before=change.before,
            after=change.value,
        )


def _incident(one: EndpointIncident, now: datetime) -> IncidentLine:
    known = one.trouble in set(Trouble)
    trouble = TROUBLE_MEANINGS[Trouble(one.trouble)] if known else word_text(one.trouble)
    times = "" if one.ratio is None else f", {one.ratio:.1f} times"
    return IncidentLine(
        address=incident_address(one.incident_id),
        since=moment_of(one.since, now),
        text=f"{trouble}{times} ({word_text(one.class_)})",
        state=one.state,
    )


def _newest(found: OneEndpoint, now: datetime) -> tuple[RunLine, ...]:
    points: Sequence[Point] = sorted(
        (point for points in found.points.values() for point in points),
        key=lambda point: (point.slot_at, str(point.run_id)),
        reverse=True,
    )
    return tuple(
        RunLine(
            address=run_address(point.run_id),
            at=moment_of(point.slot_at, now),
            region=point.region,
            purpose=point.purpose,
            outcome=outcome_text(point.outcome),
            good=point.outcome == "ok",
            speed=speed_text(point.output_tokens_per_s),
            ttft=seconds_text(point.ttft_s),
        )
        for point in points[:MOST_NEWEST]
    )
