"""How slow a run was, as votes of the slow charts. Pure."""

from collections.abc import Mapping
from math import log

from aggregator.detect.chart import BIG_SPEED_MARGIN, BIG_TTFT_MARGIN, MARGIN, Chart, vote_of
from pacewatch.words.judging import Limits

Votes = list[tuple[Chart, float]]


def ttft_votes(ttft_s: float, z: float | None, limits: Limits) -> Votes:
    """Return the votes of a time to first token; z None: what is usual is not known yet."""
    is_fine = limits.floor_ttft_s is not None and ttft_s <= limits.floor_ttft_s
    votes = _relative(z, {Chart.TTFT: MARGIN, Chart.TTFT_BIG: BIG_TTFT_MARGIN}, is_fine=is_fine)
    if limits.slow_ttft_s is not None:
        votes.append((Chart.TTFT_LIMIT, vote_of(log(ttft_s / limits.slow_ttft_s), 0.0)))
    return votes


def speed_votes(speed: float, z: float | None, limits: Limits) -> Votes:
    """Return the votes of an output speed."""
    is_fine = limits.floor_tokens_per_s is not None and speed >= limits.floor_tokens_per_s
    votes = _relative(z, {Chart.SPEED: MARGIN, Chart.SPEED_BIG: BIG_SPEED_MARGIN}, is_fine=is_fine)
    if limits.slow_tokens_per_s is not None:
        votes.append((Chart.SPEED_LIMIT, vote_of(log(limits.slow_tokens_per_s / speed), 0.0)))
    return votes


def _relative(z: float | None, margins: Mapping[Chart, float], *, is_fine: bool) -> Votes:
    if z is None:
        return []
    return [(chart, -1.0 if is_fine else vote_of(z, margin)) for chart, margin in margins.items()]
