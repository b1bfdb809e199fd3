"""From charts to verdicts: of an endpoint in each region, and over them. Pure."""

from collections.abc import Mapping, Set
from dataclasses import dataclass

from aggregator.detect.baseline import FEWEST
from aggregator.detect.chart import SLOW_CHARTS, Chart
from aggregator.detect.turn import POOLED
from aggregator.detect.watch import Watch
from pacewatch.words.verdict import Verdict, first_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What is believed of one endpoint."""

    verdict: Verdict
    regions: Mapping[str, Verdict]


def judge(watch: Watch, silent: Set[str] = frozenset()) -> Judgement:
    """Return the verdicts. Trouble of a region is the endpoint's where at least half of those that
    are heard have it.
    """
    gone = {Verdict.NOT_SERVED} if watch.service.gone_since is not None else set()
    regions = {
        region: first_of({*gone, *_charts_say(watch, region), *_known(watch, region, silent)})
        for region in watch.rules.regions
    }
    heard = [verdict for region, verdict in regions.items() if region not in silent]
    shared = [v for v in heard if 2 * heard.count(v) >= len(heard)]
    told: list[Verdict] = [v for v in shared if v in (Verdict.SLOW, Verdict.FAILING)]
    if all(verdict is Verdict.SILENT for verdict in regions.values()):
        told.append(Verdict.SILENT)
    if all(verdict in (Verdict.LEARNING, Verdict.SILENT) for verdict in regions.values()):
        told.append(Verdict.LEARNING)
    return Judgement(verdict=first_of({*gone, *_charts_say(watch, POOLED), *told}), regions=regions)


def _charts_say(watch: Watch, scope: str) -> set[Verdict]:
    alarms = watch.alarms(scope)
    said = {Verdict.SLOW for chart in SLOW_CHARTS if chart in alarms}
    return said | ({Verdict.FAILING} if Chart.FAILURES in alarms else set())


def _known(watch: Watch, region: str, silent: Set[str]) -> set[Verdict]:
    if region in silent:
        return {Verdict.SILENT}
    learnt = any(
        len(baseline.points) >= FEWEST[load]
        for (where, _, load), baseline in watch.baselines.items()
        if where == region
    )
    return set() if learnt else {Verdict.LEARNING}
