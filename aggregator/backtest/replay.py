"""The rules over a fleet's history, run by run: what would have been paged, and when. Pure.

What the store alone knows is not in it: round trips, our own workers' calibrations, what a provider
changed. Confirming probes are those that the history holds.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import exp

from aggregator.backtest.plain import REGIONS, THRESHOLD, Regions, Threshold
from aggregator.detect.evidence import Evidence
from aggregator.detect.others import OTHERS_S, look_around, others_of
from aggregator.detect.rules import Rules
from aggregator.detect.scope import Around, classify
from aggregator.detect.slowness import zs_of
from aggregator.detect.standing import Met, troubles_of
from aggregator.detect.watch import Watch
from pacewatch.words.endpoint import Endpoint, Importance
from pacewatch.words.figures import percentile
from pacewatch.words.slot import SENTINEL
from pacewatch.words.verdict import PAGING, SLOW_FIGURES, Blame, Slowness, Trouble

CLOSES_S = 6 * 3600
"""Trouble that comes again so soon after it eased is the same incident, seconds of a whole day."""

_LOCAL = (Blame.PROBER, Blame.REGION_PATH)
_OF_NO_PROVIDER = (Blame.PROBER, Blame.OURS)


@dataclass(slots=True)
class Incident:
    """What would have been one incident."""

    at: float
    """When it would have been confirmed, seconds since 1970."""
    since: float
    """When it is thought to have begun."""
    blame: Blame
    provider: str
    region: str
    trouble: Trouble
    ratio: float | None
    """How many times slower than usual, then."""
    importance: Importance = Importance.WATCH
    """The highest of its endpoints."""
    endpoints: set[str] = field(default_factory=set)
    """All that it came to gather."""
    open: set[tuple[str, Trouble]] = field(default_factory=set)
    eased_at: float | None = None

    @property
    def pages(self) -> bool:
        """Tell whether it would have woken somebody."""
        return self.blame in PAGING and self.importance is Importance.PAGE

    def is_over(self, now: float, lasts_s: float) -> bool:
        """Tell whether it has eased for long enough."""
        return self.eased_at is not None and now - self.eased_at > lasts_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Rise:
    """When a plain rule would have alarmed."""

    rule: str
    endpoint: str
    workload: str
    at: float


@dataclass(slots=True)
class Replay:
    """A fleet under judgement; takes evidence in order of time."""

    endpoints: Mapping[str, Endpoint]
    watches: Mapping[str, Watch]
    incidents: list[Incident] = field(default_factory=list)
    rises: list[Rise] = field(default_factory=list)
    plain: dict[tuple[str, str], dict[str, Threshold | Regions]] = field(default_factory=dict)
    """By endpoint and workload."""

    def take(self, endpoint: str, run: Evidence, now: float) -> None:
        """Take what a run says that came in then."""
        watch = self.watches[endpoint]
        watch.take([run], now)
        standing = troubles_of(watch)
        for met in standing:
            self._stand(self.endpoints[endpoint], watch, met, now)
        self._ease(endpoint, {met.trouble for met in standing}, now)
        if run.workload != SENTINEL:
            self._take_plain(endpoint, run, watch.rules)

    def _stand(self, endpoint: Endpoint, watch: Watch, met: Met, now: float) -> None:
        lasts_s = watch.rules.scaled(CLOSES_S)
        alive = [one for one in self.incidents if not one.is_over(now, lasts_s)]
        member = (endpoint.id, met.trouble)
        own = next((one for one in alive if endpoint.id in one.endpoints), None)
        if own is None or (member not in own.open and met.trouble is Trouble.QUOTA):
            blame, region = self._sort(endpoint, watch, met, now)
            provider = "" if blame in _OF_NO_PROVIDER else endpoint.provider
            place = (blame, provider, region if blame in _LOCAL else "")
            own = next((o for o in alive if (o.blame, o.provider, o.region) == place), None)
            if own is None:
                own = self._open(place, watch, met, now)
        own.endpoints.add(endpoint.id)
        own.open.add(member)
        own.eased_at = None
        own.importance = min(own.importance, endpoint.importance, key=list(Importance).index)

    def _open(self, place: tuple[Blame, str, str], watch: Watch, met: Met, now: float) -> Incident:
        is_timed = met.trouble in SLOW_FIGURES
        zs = zs_of(watch, met.region, Slowness(met.trouble)) if is_timed else ()
        z = percentile(zs, 0.5)
        made = Incident(
            at=now,
            since=met.since,
            blame=place[0],
            provider=place[1],
            region=place[2],
            trouble=met.trouble,
            ratio=None if z is None else exp(z),
        )
        self.incidents.append(made)
        return made

    def _ease(self, endpoint: str, standing: set[Trouble], now: float) -> None:
        for one in self.incidents:
            gone = {m for m in one.open if m[0] == endpoint and m[1] not in standing}
            one.open -= gone
            if gone and not one.open:
                one.eased_at = now

    def _sort(self, endpoint: Endpoint, watch: Watch, met: Met, now: float) -> tuple[Blame, str]:
        if met.trouble in (Trouble.QUOTA, Trouble.GONE):
            return classify(Around(trouble=met.trouble)).blame, met.region
        after = max(met.since, now - watch.rules.scaled(OTHERS_S))
        recent = {other: one.recent for other, one in self.watches.items()}
        others = others_of(self.endpoints.values(), recent, endpoint, met, after)
        around, suspect = look_around(watch, met, others)
        return classify(around).blame, suspect

    def _take_plain(self, endpoint: str, run: Evidence, rules: Rules) -> None:
        key = (endpoint, run.workload)
        if key not in self.plain:
            self.plain[key] = {
                THRESHOLD: Threshold(window_s=rules.window_s),
                REGIONS: Regions(regions=len(rules.regions), window_s=rules.window_s),
            }
        for name, rule in self.plain[key].items():
            self.rises += (
                Rise(rule=name, endpoint=endpoint, workload=run.workload, at=change.at)
                for change in rule.take([run], run.at)
            )


def replay_of(endpoints: Iterable[Endpoint], rules: Mapping[str, Rules]) -> Replay:
    """Return a fleet at its beginning, with the rules of each endpoint."""
    known = {endpoint.id: endpoint for endpoint in endpoints}
    return Replay(endpoints=known, watches={endpoint: Watch(rules[endpoint]) for endpoint in known})
