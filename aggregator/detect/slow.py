"""How slow a run was: how far above the margin of each slow chart. Pure."""

from collections.abc import Mapping
from math import exp, log

from aggregator.detect.chart import BIG_SPEED_MARGIN, BIG_TTFT_MARGIN, MARGIN, Chart
from aggregator.detect.evidence import Evidence
from pacewatch.words.judging import Limits

Excesses = list[tuple[Chart, float]]
"""ln of the slowness over the margin of the chart; what votes follow from."""


def ttft_excesses(ttft_s: float, z: float | None, limits: Limits) -> Excesses:
    """Return those of a time to first token; z None: what is usual is not known yet."""
    is_fine = limits.floor_ttft_s is not None and ttft_s <= limits.floor_ttft_s
    over = _relative(z, {Chart.TTFT: MARGIN, Chart.TTFT_BIG: BIG_TTFT_MARGIN}, is_fine=is_fine)
    if limits.slow_ttft_s is not None:
        over.append((Chart.TTFT_LIMIT, log(ttft_s / limits.slow_ttft_s)))
    return over


def speed_excesses(speed: float, z: float | None, limits: Limits) -> Excesses:
    """Return those of an output speed."""
    is_fine = limits.floor_tokens_per_s is not None and speed >= limits.floor_tokens_per_s
    over = _relative(z, {Chart.SPEED: MARGIN, Chart.SPEED_BIG: BIG_SPEED_MARGIN}, is_fine=is_fine)
    if limits.slow_tokens_per_s is not None:
        over.append((Chart.SPEED_LIMIT, log(limits.slow_tokens_per_s / speed)))
    return over


def whole_z(run: Evidence, z_ttft: float | None, z_speed: float | None) -> float | None:
    """Return ln of a whole answer's time over that of as long a one at the usual first token and
    speed; None where one of them is not known.
    """
    if run.ttft_s is None or run.end_to_end_s is None or z_ttft is None or z_speed is None:
        return None
    rest_s = max(run.end_to_end_s - run.ttft_s, 0.0)
    usual_s = run.ttft_s * exp(-z_ttft) + rest_s * exp(-z_speed)
    return round(log((run.ttft_s + rest_s) / usual_s), 4)


def _relative(z: float | None, margins: Mapping[Chart, float], *, is_fine: bool) -> Excesses:
    if z is None:
        return []
    return [(chart, (-1.0 if is_fine else z - margin)) for chart, margin in margins.items()]
