"""Whether the fleet itself is well: regions, dispatch, endpoints that fail now."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from aggregator.advice import Advice, advice_text, read_advice
from aggregator.db import Connection, queries
from aggregator.incident_texts import lasted_text, state_of, title_of
from aggregator.incident_views import Incident, read_open
from aggregator.rows import (
    DeclinedRow,
    EndpointRow,
    LastRun,
    SeriesRow,
    StoreRow,
    UntoldRow,
    WorkerRow,
    read_rows,
    read_store,
)
from aggregator.standing import (
    FailingSeries,
    RegionStanding,
    RegionState,
    failing_endpoints,
    failing_series,
    region_standings,
)
from pacewatch.words.fleet import Fleet
from pacewatch.words.outcome import DECLINE_MEANINGS, Decline, outcome_text
from pacewatch.words.slot import SENTINEL
from pacewatch.words.text import age_text, plural, span_text, word_text

DISPATCH_SILENT_AFTER = timedelta(minutes=2)
"""Without a finished tick for longer, nothing is being dispatched."""

GIVEN_UP_SHOWN = timedelta(days=1)
"""A notice that nobody took is told for so long after it was given up."""

MOST_DECLINED = 8
"""Lines of what workers did not run at most, those of most runs first."""

LATE_TOLD_FROM, LATE_SHARE_TOLD_FROM = 3, 0.1
"""Runs of a provider in a region that came too late are a problem from so many on, and from such a
share of all."""

_UNASKED = [f"declined:{why}" for why in Decline if why is not Decline.PAUSED]
"""Reasons that nobody has chosen."""

_NOTHING_PLANNED = (
    "dispatch: no endpoint is planned, so nothing is sent "
    "(a centre has no keys: endpoints of its pacewatch.toml says what is probed)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingEndpoint:
    """An endpoint with series whose latest runs failed."""

    facts: EndpointRow
    series: tuple[FailingSeries, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The fleet at one moment."""

    at: datetime
    simulated: bool
    catalog: str | None
    """Hash of the centre's catalog."""
    ticked_at: datetime | None
    """The dispatcher's latest finished tick."""
    regions: tuple[RegionStanding, ...]
    endpoints: int
    """Endpoints that are probed."""
    measured: int
    """Those of them with a run in the window."""
    failing: tuple[FailingEndpoint, ...]
    declined: tuple[DeclinedRow, ...]
    """What workers did not run within a day of the schedule."""
    day: timedelta
    untold: tuple[UntoldRow, ...] = ()
    """Channels that do not take what they are told, or did not within a day."""
    judged_at: datetime | None = None
    """The judge's latest finished round."""
    incidents: tuple[Incident, ...] = ()
    """Those that are open, the latest first."""
    advice: tuple[Advice, ...] = ()
    """What somebody must set right."""

    @property
    def problems(self) -> tuple[str, ...]:
        """Return what is wrong, a sentence each; none: all is well."""
        return (
            *_dispatch_problems(self),
            *_judging_problems(self),
            *(_incident_problem(one, self.at) for one in self.incidents),
            *(sentence for one in self.regions for sentence in _region_problems(one, self.at)),
            *(_failing_problem(one) for one in _failing_alone(self)),
            *_advice_problems(self),
            *_declined_problems(self),
            *(_untold_problem(one, self.at) for one in self.untold),
        )


def read_status(connection: Connection, fleet: Fleet, now: datetime) -> Status:
    """Return how the fleet stands at the connection's one moment; raises StoreError."""
    window = timedelta(seconds=fleet.schedule.window_s)
    endpoints = read_rows(connection, EndpointRow, "select_endpoints", endpoints=None)
    active = {row.endpoint: row for row in endpoints if row.active}
    asked = {"regions": list(fleet.regions)}
    planned = [*fleet.schedule.workloads, SENTINEL]
    series = read_rows(connection, SeriesRow, "select_suspect_series", **asked, workloads=planned)
    counted = connection.execute(
        queries("read")["count_measured"], {**asked, "since": now - window}
    ).fetchone()
    last = read_rows(
        connection,
        LastRun,
        "select_last_runs",
        series=[row.series_id for row in series],
        after=now - window,
    )
    day = timedelta(seconds=fleet.schedule.day_s)
    return make_status(
        read_store(connection),
        regions=region_standings(
            fleet.regions, read_rows(connection, WorkerRow, "select_workers"), now
        ),
        active=active,
        series=series,
        measured=counted["endpoints"] if counted else 0,
        failing=failing_series(last),
        declined=read_rows(
            connection, DeclinedRow, "select_declined", since=now - day, reasons=_UNASKED
        ),
        untold=read_rows(connection, UntoldRow, "select_untold", since=now - GIVEN_UP_SHOWN),
        incidents=read_open(connection),
        advice=read_advice(connection),
        day=day,
        now=now,
    )


def make_status(  # noqa: PLR0913 - the rows of nine tables
    store: StoreRow | None,
    *,
    regions: tuple[RegionStanding, ...],
    active: Mapping[str, EndpointRow],
    series: Sequence[SeriesRow],
    measured: int,
    failing: frozenset[int],
    declined: Sequence[DeclinedRow],
    untold: Sequence[UntoldRow] = (),
    incidents: Sequence[Incident] = (),
    advice: Sequence[Advice] = (),
    day: timedelta,
    now: datetime,
) -> Status:
    """Return the status of active endpoints, with their series that may fail. Pure."""
    return Status(
        at=now,
        simulated=store is not None and store.simulated,
        catalog=None if store is None else store.catalog_hash,
        ticked_at=None if store is None else store.ticked_at,
        regions=regions,
        endpoints=len(active),
        measured=measured,
        failing=tuple(
            FailingEndpoint(facts=active[endpoint], series=rows)
            for endpoint, rows in failing_endpoints(series, failing).items()
        ),
        declined=tuple(declined),
        day=day,
        untold=tuple(untold),
        judged_at=None if store is None else store.judged_at,
        incidents=tuple(incidents),
        advice=tuple(advice),
    )


def _dispatch_problems(status: Status) -> tuple[str, ...]:
    if status.ticked_at is None:
        return ("dispatch: no central worker has made a tick yet, so nothing is sent",)
    if status.at - status.ticked_at <= DISPATCH_SILENT_AFTER:
        return () if status.endpoints else (_NOTHING_PLANNED,)
    age = age_text(status.ticked_at, status.at)
    return (f"dispatch: no central worker has made a tick for {age}, so nothing is sent",)


def _judging_problems(status: Status) -> tuple[str, ...]:
    """Return that nobody judges, where somebody dispatches: else that is told already."""
    ticked, judged = status.ticked_at, status.judged_at
    if ticked is None or status.at - ticked > DISPATCH_SILENT_AFTER or not status.endpoints:
        return ()
    if judged is None:
        return ("judging: no round has ended yet, so nothing is believed of any endpoint",)
    if status.at - judged <= DISPATCH_SILENT_AFTER:
        return ()
    return (f"judging: no round has ended for {age_text(judged, status.at)}; verdicts are as old",)


def _incident_problem(one: Incident, now: datetime) -> str:
    lasts = lasted_text(one, now)
    told = f"{word_text(one.blame)}; {state_of(one, now)}"
    return f"incident {one.incident_id}: {title_of(one)}, for {lasts} ({told})"


def _advice_problems(status: Status) -> Iterator[str]:
    """Give what is to be set right of endpoints that are not told to be failing already."""
    failing = {one.facts.endpoint for one in _failing_alone(status)}
    for one in status.advice:
        if one.endpoint not in failing:
            yield f"endpoint {one.endpoint}: {advice_text(one, status.at)}"


def _region_problems(region: RegionStanding, now: datetime) -> tuple[str, ...]:
    if region.state is RegionState.UNSEEN:
        return (f"region {region.region}: no worker has reported yet",)
    if region.state is RegionState.SILENT:
        return (f"region {region.region}: silent for {age_text(region.last_seen_at, now)}",)
    return ()


def _declined_problems(status: Status) -> Iterator[str]:
    told = [row for row in status.declined if not _gave_way(row)]
    for row in told[:MOST_DECLINED]:
        why = DECLINE_MEANINGS[Decline(row.reason.removeprefix("declined:"))]
        yield (
            f"region {row.region}: {plural(row.runs, 'run')} of {row.provider} not made in "
            f"{span_text(status.day.total_seconds())}: {why}"
        )
    if (left := len(told) - MOST_DECLINED) > 0:
        yield f"and {left} more of that kind"


def _gave_way(row: DeclinedRow) -> bool:
    """Whether few runs gave way to others of their worker: the next one is made in their place."""
    late = row.reason == f"declined:{Decline.LATE}"
    return late and row.runs < max(LATE_TOLD_FROM, LATE_SHARE_TOLD_FROM * row.ended)


def _failing_alone(status: Status) -> list[FailingEndpoint]:
    """Return the endpoints whose failing no open incident tells."""
    told = {
        part.endpoint for one in status.incidents for part in one.parts if part.eased_at is None
    }
    return [one for one in status.failing if one.facts.endpoint not in told]


def _failing_problem(endpoint: FailingEndpoint) -> str:
    outcomes = " and ".join(sorted({outcome_text(one.outcome) for one in endpoint.series}))
    regions = ", ".join(sorted({one.region for one in endpoint.series}))
    return f"endpoint {endpoint.facts.endpoint}: failing in {regions}: {outcomes}"


def _untold_problem(row: UntoldRow, now: datetime) -> str:
    return (
        f"channel {row.channel}: {plural(row.notices, 'notice')} of incidents not delivered, "
        f"the first for {age_text(row.since, now)}: {row.error}"
    )
