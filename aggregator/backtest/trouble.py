"""Troubles of known size and start, laid over a history. Pure."""

from dataclasses import dataclass
from random import Random

from aggregator.backtest.noise import Sample
from aggregator.detect.evidence import Evidence
from pacewatch.words.slot import Load, Purpose

HANG_S = 60.0
"""Until a request that hangs is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    """One trouble; the default is none."""

    name: str = "quiet"
    speed: float = 1.0
    """Factor on the output speed."""
    ttft: float = 1.0
    """Factor on the time to first token, without the round trip."""
    path_s: float = 0.0
    """Seconds on top of the round trip."""
    failed: float = 0.0
    """Share of the requests that fail."""
    hangs: bool = False
    """Failures show only after HANG_S."""
    limited: float = 0.0
    """Share of the requests that meet a rate limit."""
    gone: bool = False
    one_region: bool = False
    hours: float = 1e9
    """How long it lasts."""


def evidence_of(  # noqa: PLR0913 - a run, what it met, and what lies over it
    sample: Sample,
    trouble: Injected | None,
    *,
    random: Random,
    at: float,
    region: str,
    workload: str,
    load: Load,
    purpose: Purpose,
) -> Evidence:
    """Return what a run says that met this while that lasted; None: no trouble."""
    place = {"at": at, "region": region}
    kind = {"workload": workload, "load": load, "purpose": purpose}
    if trouble is None:
        trouble = Injected()
    if trouble.gone:
        return Evidence(**place, **kind, gone=True)  # type: ignore[arg-type]
    if sample.failed or (trouble.failed and random.random() < trouble.failed):
        return Evidence(**place, **kind, failed=True)  # type: ignore[arg-type]
    if trouble.limited and random.random() < trouble.limited:
        return Evidence(**place, **kind, limited=True)  # type: ignore[arg-type]
    return Evidence(
        at=at,
        region=region,
        workload=workload,
        load=load,
        purpose=purpose,
        ttft_s=sample.rtt_s + trouble.path_s + sample.ttft_s * trouble.ttft,
        speed=sample.speed * trouble.speed,
        failed=False,
        limited=False,
    )
