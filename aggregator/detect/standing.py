"""What trouble an endpoint is in by its charts, each kind once. Pure."""

from dataclasses import dataclass

from aggregator.detect.chart import SLOW_CHARTS, TROUBLES, Chart
from aggregator.detect.turn import POOLED
from aggregator.detect.watch import Watch
from pacewatch.words.verdict import Trouble


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """A trouble that stands."""

    trouble: Trouble
    region: str
    """'': not of one region alone."""
    since: float
    """When it is thought to have begun, seconds since 1970."""
    told_at: float = 0.0
    """When the latest of its charts began to tell it."""


def troubles_of(watch: Watch) -> tuple[Met, ...]:
    """Return the troubles that the endpoint is in. One that all regions' chart and a region's tell
    is one; a model that is gone is in no other; what is not heard from is in none.
    """
    if not watch.heard:
        return ()
    if watch.service.gone_since is not None:
        gone_since = watch.service.gone_since
        return (Met(trouble=Trouble.GONE, region=POOLED, since=gone_since, told_at=gone_since),)
    found: dict[Trouble, dict[str, float]] = {}
    told_at: dict[Trouble, float] = {}
    for scope in (POOLED, *watch.heard):
        for chart in watch.alarms(scope):
            trouble, standing = TROUBLES[chart], watch.charts[scope][chart]
            scopes = found.setdefault(trouble, {})
            scopes[scope] = min(standing.since, scopes.get(scope, standing.since))
            told_at[trouble] = max(told_at.get(trouble, 0.0), standing.alarmed_at or 0.0)
    return tuple(
        Met(
            trouble=trouble,
            region=next(iter(scopes)) if len(scopes) == 1 else POOLED,
            since=min(scopes.values()),
            told_at=told_at[trouble],
        )
        for trouble, scopes in sorted(found.items())
    )


def is_lasting(watch: Watch, met: Met) -> bool:
    """Tell whether the latest runs speak for a trouble that stands: a chart of it is at its
    threshold. On the way down from there they are runs of its end.
    """
    return any(
        watch.charts[scope][chart].s >= level[chart]
        for scope in (POOLED, *watch.heard)
        for level in (watch.rules.regional if scope else watch.rules.pooled,)
        for chart in watch.alarms(scope)
        if TROUBLES[chart] is met.trouble
    )


def suspected_of(watch: Watch) -> Met | None:
    """Return what is suspected and not settled yet; None: nothing."""
    suspicion = watch.suspicion
    if suspicion is None or suspicion.over:
        return None
    if suspicion.hard:
        since = watch.charts[POOLED][Chart.FAILURES].since
        return Met(trouble=Trouble.FAILURES, region=suspicion.region, since=since)
    standings = [
        (charts[chart].s, chart, charts[chart].since)
        for charts in (watch.charts[POOLED], watch.charts.get(suspicion.region, []))
        if charts
        for chart in SLOW_CHARTS
    ]
    _, chart, since = max(standings)
    return Met(trouble=TROUBLES[chart], region=suspicion.region, since=since)
