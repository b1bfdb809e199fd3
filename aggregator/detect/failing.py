"""Failures and rate limits, as votes of their charts; and a model that is gone. Pure."""

from dataclasses import dataclass, replace

from aggregator.detect.chart import FAILED, GOOD, Chart
from aggregator.detect.evidence import Evidence
from pacewatch.words.judging import Limits


def counted(run: Evidence, limits: Limits) -> Evidence:
    """Return the run as it counts: slower than the failing limit is failed."""
    if limits.failing_ttft_s is None or run.ttft_s is None:
        return run
    return replace(run, failed=True) if run.ttft_s > limits.failing_ttft_s else run


def failure_votes(run: Evidence) -> list[tuple[Chart, float]]:
    """Return the votes on failures and on the quota."""
    votes = []
    if run.failed is not None:
        votes.append((Chart.FAILURES, FAILED if run.failed else GOOD))
    if run.limited is not None:
        votes.append((Chart.QUOTA, FAILED if run.limited else GOOD))
    return votes


IN_A_ROW, HURRIED = 5, 2
"""So many failures in a row, of whatever region, are an alarm whatever went before; and from so
many on the next confirming probes go out at once.
"""


def row_after(run: Evidence, row: int) -> int:
    """Return how many failures in a row there are with the run, over all regions."""
    return row if run.failed is None else row + 1 if run.failed else 0


@dataclass(slots=True)
class Service:
    """Whether the model is served: gone after two runs in a row that say so, from two regions
    where there are two, and only where it was there before.
    """

    worked: bool = False
    said_by: str | None = None
    """The region whose run said it first, since the last good one."""
    gone_since: float | None = None

    def take(self, run: Evidence, regions: int) -> bool:
        """Take a run in; tell whether the model went or came back with it."""
        was_gone = self.gone_since is not None
        if run.failed is False:
            self.worked, self.said_by, self.gone_since = True, None, None
        elif run.gone and self.worked and not was_gone:
            if self.said_by is not None and (regions <= 1 or self.said_by != run.region):
                self.gone_since = run.at
            self.said_by = self.said_by or run.region
        return was_gone != (self.gone_since is not None)
