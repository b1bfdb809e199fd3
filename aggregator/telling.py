"""What incidents say to people: one sentence a line of their timelines. Pure."""

from collections.abc import Sequence, Set
from datetime import UTC, datetime

from aggregator.detect.regions import is_over_limit
from aggregator.detect.scope import Attribution
from aggregator.detect.standing import Met
from aggregator.detect.watch import Watch
from aggregator.verdicts import ratio
from pacewatch.words.text import seconds_text, speed_text, word_text
from pacewatch.words.verdict import (
    SLOW_FIGURES,
    SLOWER_FROM,
    TROUBLE_MEANINGS,
    Slowness,
    Trouble,
)

AS_USUAL_WHERE_HEARD = "as usual again, but for what is not heard any more"


def told(endpoint: str, watch: Watch, met: Met) -> str:
    """Return what a trouble is, and how much."""
    where = f" from {met.region}" if met.region else ""
    slower = _slower(watch, met) if met.trouble in SLOW_FIGURES else []
    if not slower:
        return f"{endpoint}{where}: {TROUBLE_MEANINGS[met.trouble]}"
    return f"{endpoint}{where}: {SLOW_FIGURES[met.trouble]} {', '.join(slower)}"


def _slower(watch: Watch, met: Met) -> list[str]:
    """Return how slow a figure is, beside what is usual and beside a limit that was set."""
    found = ratio(watch, met.region, Slowness(met.trouble), met.since)[0]
    limit = _limit(watch, met)
    if found is None or (limit and found < SLOWER_FROM):
        return limit
    return [f"{found:.1f} times slower than usual", *limit]


def _limit(watch: Watch, met: Met) -> list[str]:
    if not is_over_limit(watch, met.region, met.trouble):
        return []
    limits = watch.rules.limits
    if met.trouble is Trouble.FIRST_TOKEN:
        return [f"slower than its limit of {seconds_text(limits.slow_ttft_s)}"]
    return [f"slower than its limit of {speed_text(limits.slow_tokens_per_s)} tokens/s"]


def suspected(endpoint: str, watch: Watch, met: Met) -> str:
    """Return what a suspicion is of."""
    if met.trouble is Trouble.FAILURES:
        return f"{endpoint} from {met.region}: a request failed"
    return told(endpoint, watch, met)


def why(found: Attribution) -> str:
    """Return a class and what speaks for and against it."""
    against = "".join(f"; {one}" for one in found.speaks_against)
    return f"{word_text(found.blame)}: {', '.join(found.speaks_for)}{against}"


def left(region: str) -> str:
    """Return that a region has left the file."""
    return f"{region} is not probed from any more"


def unheard(regions: Sequence[str], paused: Set[str], *, is_all: bool) -> str:
    """Return that trouble is not followed any more, since nothing is heard from these regions."""
    silent = [region for region in regions if region not in paused]
    resting = [region for region in regions if region in paused]
    told = [f"nothing is heard from {', '.join(silent)} any more"] if silent else []
    told += [f"{region} is paused" for region in resting]
    return ", ".join(told) + ("" if is_all else "; as usual elsewhere")


def heard(endpoint: str, region: str) -> str:
    """Return that trouble that was not followed any more is found over."""
    where = f" from {region}" if region else ""
    return f"{endpoint}{where}: heard again, and as usual"


def moment(seconds: float) -> datetime:
    """Return the moment of so many seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC)
