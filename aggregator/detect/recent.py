"""The latest runs of each region, which ratios and classes are taken from. Pure."""

from aggregator.detect import slow
from aggregator.detect.evidence import Evidence
from pacewatch.words.slot import Load

RECENT = 8
"""Latest runs of each region that a ratio and a class are taken from."""

RECENT_LOADED = 4
"""Latest parallel runs of each region that the ratio under load is taken from."""

Recent = tuple[float, float | None, float | None, bool, float | None]
"""Moment, z of the first token, z of the speed, failed, z of the whole answer."""

Loaded = tuple[float, float]
"""Moment and z of the whole answer of a parallel run."""


def remember(
    recent: dict[str, list[Recent]],
    loaded: dict[str, list[Loaded]],
    run: Evidence,
    z_ttft: float | None,
    z_speed: float | None,
) -> None:
    """Add a run to those of its region, and forget the oldest."""
    z_whole = slow.whole_z(run, z_ttft, z_speed)
    runs = recent.setdefault(run.region, [])
    runs.append((run.at, z_ttft, z_speed, run.failed is True, z_whole))
    del runs[:-RECENT]
    if run.load is Load.PARALLEL and z_whole is not None:
        parallel = loaded.setdefault(run.region, [])
        parallel.append((run.at, z_whole))
        del parallel[:-RECENT_LOADED]
