"""Whose fault trouble looks like: an incident's class, and what speaks for and against. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp

from aggregator.detect.chart import MARGIN
from pacewatch.words.figures import percentile
from pacewatch.words.text import than_usual_text
from pacewatch.words.verdict import Blame, Trouble

FAILED_Z = 2.0
"""What a failed run counts as: as one over seven times slower than usual."""

BAR = 0.25
"""Least median z of other regions that shares the trouble."""

OTHERS_BAR, MANY_OTHERS, MANY_OTHERS_BAR = 0.25, 100, 0.2
"""Median z of the other endpoints of a region above which the region itself is slow: of few others,
and of so many or more.
"""

MANY_PROVIDERS = 0.5
"""Share of the providers that are slow at once from which on it is ours: at least three of them."""

WORSE_NETWORK = 0.25
"""ln of how much longer round trips or connects take from which on the path is worse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What is known around an alarm."""

    trouble: Trouble
    suspect_z: Sequence[float] = ()
    """z of the suspect region's recent runs; a failure counts as 2."""
    other_regions_z: Sequence[float] = ()
    """Medians of the other regions tested, of up to five regions, that can testify to it."""
    over_limit: bool = False
    """The suspect region and half of these are slower than a limit of one's own."""
    regions: int = 1
    """The suspect region and the others that can testify, whether they have tested it or not."""
    others_z: Sequence[float] = ()
    """z of the other endpoints of the suspect region over three hours, a median each."""
    providers_slow: int = 0
    """Other providers that are slow in all regions at once."""
    providers: int = 0
    """Other providers that were probed."""
    network_z: float | None = None
    """ln of round trips and connects against their usual, of the suspect region to the endpoint."""
    prober_suspect: bool = False
    """A calibration over its limit, or flags on three of the last ten runs of a worker there."""
    identity_changed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """A class and what it stands on."""

    blame: Blame
    speaks_for: tuple[str, ...]
    speaks_against: tuple[str, ...] = ()
    is_wide: bool = False
    """The whole region is in it, whoever the provider."""


def classify(around: Around) -> Attribution:
    """Return the class: quota, gone and ours go before what the regions tell.

    What other regions share is of the provider or its model, also where a worker of the suspect
    region is suspect itself.
    """
    if around.trouble is Trouble.QUOTA:
        return _named(Blame.QUOTA, "the provider answers with rate limits or a spent quota")
    if around.trouble is Trouble.GONE:
        return _named(Blame.MODEL, "the provider says that the model is not there")
    if _is_ours(around):
        return _named(
            Blame.OURS,
            f"{around.providers_slow} of {around.providers} other providers are slow too",
        )
    return _by_regions(around)


def _by_regions(around: Around) -> Attribution:
    network_worse = around.network_z is not None and around.network_z > WORSE_NETWORK
    shared = percentile(around.other_regions_z, 0.5)
    is_shared = shared is not None and shared > bar_of(around.suspect_z)
    if shared is not None and (is_shared or around.over_limit):
        if around.identity_changed:
            return _named(Blame.MODEL, "what answers has changed", "other regions see it too")
        they = _shared_text(around.trouble, shared) if is_shared else "slower than the limit"
        return _named(Blame.PROVIDER, f"other regions see it too ({they})")
    if around.prober_suspect:
        why = "a worker's own calibration or its flags speak against it"
        return replace(_named(Blame.PROBER, why), is_wide=True)
    if _region_is_slow(around):
        what = "most other endpoints of the region are slow too"
        blame, paths = Blame.PROBER, "round trips and connects are as always"
        if network_worse:
            blame, paths = Blame.REGION_PATH, "round trips or connects take longer"
        return replace(_named(blame, what, paths), is_wide=True)
    if around.regions <= 1:
        blame = Blame.MODEL if around.identity_changed else Blame.PROVIDER
        return _named(
            blame, "other endpoints are well", against="or the path to it: one region cannot tell"
        )
    if shared is None:
        return _named(Blame.UNKNOWN, "no other region has tested it")
    against = "round trips are as always" if not network_worse else None
    they = "most of their latest runs went well"
    if around.trouble is not Trouble.FAILURES:
        they = than_usual_text("at their median", exp(shared))
    return _named(Blame.REGION_PATH, f"other regions are well ({they})", against=against)


def _shared_text(trouble: Trouble, z: float) -> str:
    """Return how other regions are that share a trouble, by the median of their own medians."""
    if trouble is Trouble.FAILURES:
        return "in half of them or more, half of the latest runs or more failed"
    if z >= FAILED_Z:
        return "at their median over seven times slower than usual, or failing"
    return than_usual_text("at their median", exp(z))


def bar_of(suspect_z: Sequence[float]) -> float:
    """Return the median z above which others share the suspect's trouble: half of the suspect's,
    but never more than what the charts themselves count as slow, since the worst of many regions
    is worse than its trouble.
    """
    return max(BAR, min(MARGIN, (percentile(suspect_z, 0.5) or 0.0) / 2))


def _is_ours(around: Around) -> bool:
    return around.providers_slow >= 3 and (
        around.providers_slow >= MANY_PROVIDERS * around.providers
    )


def _region_is_slow(around: Around) -> bool:
    shared = percentile(around.others_z, 0.5)
    if shared is None:
        return False
    if len(around.others_z) >= MANY_OTHERS:
        return shared > MANY_OTHERS_BAR
    return shared > max(OTHERS_BAR, bar_of(around.suspect_z))


def _named(blame: Blame, *speaks_for: str, against: str | None = None) -> Attribution:
    return Attribution(
        blame=blame, speaks_for=speaks_for, speaks_against=() if against is None else (against,)
    )
