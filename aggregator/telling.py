"""What incidents say to people: one sentence a line of their timelines. Pure."""

from collections.abc import Sequence, Set
from datetime import UTC, datetime

from aggregator.detect.scope import Attribution
from aggregator.detect.standing import Met
from aggregator.detect.watch import Watch
from aggregator.verdicts import ratio
from pacewatch.words.text import word_text
from pacewatch.words.verdict import SLOW_FIGURES, TROUBLE_MEANINGS, Slowness, Trouble

AS_USUAL_WHERE_HEARD = "as usual again, but for what is not heard any more"


def told(endpoint: str, watch: Watch, met: Met) -> str:
    """Return what a trouble is, and how much."""
    where = f" from {met.region}" if met.region else ""
    is_timed = met.trouble in SLOW_FIGURES
    found = ratio(watch, met.region, Slowness(met.trouble), met.since)[0] if is_timed else None
    if found is None:
        return f"{endpoint}{where}: {TROUBLE_MEANINGS[met.trouble]}"
    return f"{endpoint}{where}: {SLOW_FIGURES[met.trouble]} {found:.1f} times slower than usual"


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
