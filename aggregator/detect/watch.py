"""The judge of one endpoint: takes evidence in order, tells what changed. Touches nothing else.

Its fields are its whole state; `state.py` writes them down.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf, log

from aggregator.detect import failing, slow
from aggregator.detect.baseline import FEWEST, Baseline
from aggregator.detect.chart import EASED, SLOW_CHARTS, Chart, Standing, vote_of
from aggregator.detect.evidence import Evidence
from aggregator.detect.recent import Loaded, Recent, remember
from aggregator.detect.rules import CLEARED, MOST_ORDERED, Rules, suspected_at
from aggregator.detect.season import Season
from aggregator.detect.suspicion import (
    ENDS_AFTER_S,
    HARD_ROUND_S,
    SOFT_ROUND_S,
    Order,
    Suspicion,
    next_round,
)
from aggregator.detect.turn import POOLED, Change, Turn
from pacewatch.words.slot import ROLLING_PURPOSES, Load, Purpose

NEW_LEVEL_DAYS = 14
"""A level that lasts for so long is the usual one from then on."""


def fresh_charts() -> list[Standing]:
    """Return the bank of a scope, at rest."""
    return [Standing() for _ in Chart]


@dataclass(slots=True)
class Watch:
    """One endpoint under judgement."""

    rules: Rules
    baselines: dict[tuple[str, str, str], Baseline] = field(default_factory=dict)
    """By region, workload and load."""
    seasons: tuple[Season, Season] = field(default_factory=lambda: (Season(), Season()))
    """Of first token and speed."""
    charts: dict[str, list[Standing]] = field(default_factory=lambda: {POOLED: fresh_charts()})
    """By scope."""
    recent: dict[str, list[Recent]] = field(default_factory=dict)
    """By region."""
    loaded: dict[str, list[Loaded]] = field(default_factory=dict)
    """Parallel runs, by region."""
    service: failing.Service = field(default_factory=failing.Service)
    row: int = 0
    """Failures in a row, over all regions."""
    suspicion: Suspicion | None = None
    away: dict[str, float] = field(default_factory=dict)
    """Regions from which nothing is heard, and since when that is known."""

    @property
    def heard(self) -> tuple[str, ...]:
        """Return the regions from which the endpoint is heard."""
        return tuple(region for region in self.rules.regions if region not in self.away)

    def take(self, runs: Iterable[Evidence], now: float) -> list[Change]:
        """Take runs in, those of one moment in an order of their own; return what changed."""
        changes: list[Change] = []
        for run in sorted(runs, key=_order):
            if now - run.at <= self.rules.late_s:
                changes += self._take(run, now)
        return changes

    def pass_time(self, now: float) -> list[Change]:
        """End a suspicion that is old enough, though no run came; return what changed."""
        return [] if self.suspicion is None else self._follow(self.suspicion, now)

    @property
    def due_at(self) -> float | None:
        """Return when the watch is to be looked at again though no run comes; None: never."""
        if self.suspicion is None:
            return None
        lasts = self.rules.scaled(ENDS_AFTER_S)
        if self.suspicion.over:
            return self.suspicion.since + 2 * lasts + 1.0
        ends_at = self.suspicion.since + lasts
        return min(ends_at, self.suspicion.due_at or ends_at) + 1.0

    def orders(self, now: float, allowed: int) -> list[Order]:
        """Return the confirming probes that should go out now, at most as many as are allowed;
        the last of those are for failures.
        """
        if self.suspicion is None:
            return []
        if not self.suspicion.hard:
            allowed -= MOST_ORDERED
        gap_s = min(self.rules.scaled(SOFT_ROUND_S), self.rules.spacing_s / 3)
        return next_round(self.suspicion, self.heard, now, gap_s=gap_s, allowed=allowed)

    def alarms(self, scope: str) -> list[Chart]:
        """Return the charts of a scope that stand on alarm."""
        charts = self.charts.get(scope, ())
        return [Chart(k) for k, one in enumerate(charts) if one.alarmed_at is not None]

    def forget_limits(self) -> None:
        """Put charts to rest whose limit is no longer set: no run votes in them any more."""
        limits = self.rules.limits
        unset = {
            Chart.TTFT_LIMIT: limits.slow_ttft_s is None,
            Chart.SPEED_LIMIT: limits.slow_tokens_per_s is None,
        }
        for charts in self.charts.values():
            for chart, is_unset in unset.items():
                if is_unset:
                    charts[chart] = Standing()

    def accept(self) -> None:
        """Take the level of now as the usual one, and end every slow alarm."""
        for baseline in self.baselines.values():
            baseline.adopt()
        for charts in self.charts.values():
            for chart in SLOW_CHARTS:
                charts[chart] = Standing()

    def _take(self, run: Evidence, now: float) -> list[Change]:
        changes = []
        if self.service.take(run, len(self.heard)):
            turn = Turn.EASED if self.service.gone_since is None else Turn.ALARM
            changes.append(Change(turn=turn, at=run.at, scope=POOLED, chart=None, since=run.at))
        run = failing.counted(run, self.rules.limits)
        self.row = failing.row_after(run, self.row)
        z_ttft, z_speed = self._usual(run)
        votes = failing.failure_votes(run)
        if run.ttft_s is not None:
            votes += slow.ttft_excesses(run.ttft_s, z_ttft, self.rules.limits)
        if run.speed is not None:
            votes += slow.speed_excesses(run.speed, z_speed, self.rules.limits)
        for chart, said in votes:
            for scope in (POOLED, run.region):
                changes += self._vote(chart, said, run.at, scope)
        remember(self.recent, self.loaded, run, z_ttft, z_speed)
        return changes + self._suspect(run, now)

    def _usual(self, run: Evidence) -> tuple[float | None, float | None]:
        """Return z of both figures, and let the run become part of what is usual."""
        key = (run.region, run.workload, str(run.load))
        baseline = self.baselines.get(key)
        if baseline is None:
            baseline = self.baselines[key] = Baseline()
        xs = (
            None if run.ttft_s is None else round(log(run.ttft_s), 3),
            None if run.speed is None else -round(log(run.speed), 3),
        )
        usual = baseline.usual(FEWEST[run.load])
        enters = run.purpose in ROLLING_PURPOSES and xs != (None, None)
        frozen = bool(self.alarms(POOLED) or self.alarms(run.region))
        zs: list[float | None] = [None, None]
        for k, (x, median, season) in enumerate(zip(xs, usual, self.seasons, strict=True)):
            if x is not None and median is not None:
                zs[k] = round(x - median - season.at(run.at, self.rules.day_s), 4)
                if enters and not frozen:
                    season.take(run.at, round(x - median, 4), self.rules.day_s)
        if enters:
            baseline.take((float(round(run.at)), *xs), self.rules.window_s, frozen=frozen)
        return zs[0], zs[1]

    def _vote(self, chart: Chart, said: float, at: float, scope: str) -> list[Change]:
        """Let a run vote in one chart: by its excess in a slow one, else by the vote as said."""
        if scope not in self.charts:
            self.charts[scope] = fresh_charts()
        standing, vote = self.charts[scope][chart], said
        if chart in SLOW_CHARTS:
            vote = vote_of(said, alarmed=standing.alarmed_at is not None)
        level = self.rules.regional if scope else self.rules.pooled
        if chart is Chart.FAILURES and not scope and self.row >= failing.IN_A_ROW:
            vote = level[chart] + said
        changed = standing.take(vote, at, inf if self.rules.muted else level[chart])
        since = standing.since
        if changed and standing.alarmed_at is None:
            eased = [scope, *([] if scope else self._ease_regions(chart))]
            self.thaw()
            return [
                Change(turn=Turn.EASED, at=at, scope=one, chart=chart, since=since) for one in eased
            ]
        if changed:
            return [Change(turn=Turn.ALARM, at=at, scope=scope, chart=chart, since=since)]
        lasts_s = NEW_LEVEL_DAYS * self.rules.day_s
        alarmed_at = standing.alarmed_at
        if chart in SLOW_CHARTS and alarmed_at is not None and at - alarmed_at > lasts_s:
            self.accept()
            return [Change(turn=Turn.NEW_LEVEL, at=at, scope=scope, chart=chart, since=since)]
        return []

    def _ease_regions(self, chart: Chart) -> list[str]:
        """End the alarms of regions whose latest vote was good, where that over all regions has
        ended; return those regions. A good vote weighs so little in the charts of failures and
        quota that a region alone would need days.
        """
        if chart in SLOW_CHARTS:
            return []
        level, eased = self.rules.regional[chart], []
        for region in self.rules.regions:
            standing = self.charts[region][chart] if region in self.charts else Standing()
            if standing.alarmed_at is not None and standing.s < level:
                standing.s, standing.alarmed_at = round(level * EASED, 4), None
                eased.append(region)
        return eased

    def thaw(self) -> None:
        """Let the baselines follow again that nothing freezes any more."""
        if not self.alarms(POOLED):
            for (region, _, _), baseline in self.baselines.items():
                if not self.alarms(region):
                    baseline.thaw()

    def _suspect(self, run: Evidence, now: float) -> list[Change]:
        """Begin, follow or end a suspicion with a run, by the time that it is known."""
        gone = run.gone and self.service.worked
        hard, worst = run.failed is True or gone, self._worst(run.region)
        suspicion = self.suspicion
        is_asked = run.purpose is Purpose.CONFIRM
        is_new = hard and not is_asked
        if suspicion is None or (is_new and (suspicion.over or not suspicion.hard)):
            if not self._is_suspect(hard=hard, worst=worst, region=run.region):
                return []
            return self._begin(run, now, hard=hard)
        if hard:
            suspicion.good = 0
        elif run.failed is False and (is_asked or run.region == suspicion.region):
            suspicion.good += 1
        if hard and not suspicion.over:
            suspicion.hard = True
            waits = is_asked and self.row < failing.HURRIED
            wait_s = self.rules.scaled(HARD_ROUND_S) if waits else 0
            soon = now + wait_s
            suspicion.due_at = min(suspicion.due_at or soon, soon)
        return self._follow(suspicion, now)

    def _is_suspect(self, *, hard: bool, worst: float, region: str) -> bool:
        return not self._is_confirmed(region, hard=hard) and (hard or worst > 1)

    def _is_confirmed(self, region: str, *, hard: bool) -> bool:
        """Tell whether trouble there is known already, so that nothing is to be suspected; what is
        slow may still begin to fail.
        """
        known = {*self.alarms(POOLED), *self.alarms(region)}
        if hard:
            known -= set(SLOW_CHARTS)
        return self.service.gone_since is not None or bool(known)

    def _begin(self, run: Evidence, now: float, *, hard: bool) -> list[Change]:
        self.suspicion = Suspicion(
            since=now, region=run.region, workload=run.workload, hard=hard, due_at=now
        )
        return [self._told(Turn.SUSPECTED, now)]

    def _follow(self, suspicion: Suspicion, at: float) -> list[Change]:
        """End the suspicion where it is confirmed, cleared, or older than two hours."""
        if self._is_confirmed(suspicion.region, hard=suspicion.hard):
            self.suspicion = None
            return []
        hard_cleared = suspicion.hard and suspicion.good >= min(3, suspicion.ordered or 3)
        if hard_cleared or (not suspicion.hard and self._worst(suspicion.region) < CLEARED):
            turn = Turn.UNCONFIRMED if suspicion.over else Turn.CLEARED
            told = [] if suspicion.over else [self._told(turn, at)]
            self.suspicion = None
            return told
        age_s, ends_s = at - suspicion.since, self.rules.scaled(ENDS_AFTER_S)
        if age_s > 2 * ends_s:
            self.suspicion = None
        elif age_s > ends_s and not suspicion.over:
            suspicion.over = True
            return [self._told(Turn.UNCONFIRMED, at)]
        return []

    def _told(self, turn: Turn, at: float) -> Change:
        charts = self.charts[POOLED]
        chart = max(SLOW_CHARTS, key=lambda one: charts[one].s)
        if self.suspicion is not None and self.suspicion.hard:
            chart = Chart.FAILURES
        return Change(turn=turn, at=at, scope=POOLED, chart=chart, since=charts[chart].since)

    def _worst(self, region: str) -> float:
        """Return the highest S of the slow charts over all regions and in this one, as a share of
        what is suspect.
        """
        shares = [
            charts[chart].s / suspected_at(level[chart])
            for charts, level in (
                (self.charts[POOLED], self.rules.pooled),
                (self.charts.get(region, ()), self.rules.regional),
            )
            if charts
            for chart in SLOW_CHARTS
        ]
        return max(shares)


def _order(run: Evidence) -> tuple[float, str, str, Load, Purpose]:
    return run.at, run.region, run.workload, run.load, run.purpose
