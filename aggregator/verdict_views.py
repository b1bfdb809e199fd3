"""What is believed of endpoints, as people ask for it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from aggregator.db import Connection, queries
from pacewatch.words.verdict import Slowness


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratios:
    """How many times slower than usual an endpoint is; None: nothing to compare."""

    ttft_ratio: float | None
    speed_ratio: float | None
    end_to_end_ratio: float | None
    under_load_ratio: float | None

    @property
    def times(self) -> Mapping[Slowness, float | None]:
        """Return them by what is slow."""
        return {
            Slowness.FIRST_TOKEN: self.ttft_ratio,
            Slowness.OUTPUT_SPEED: self.speed_ratio,
            Slowness.END_TO_END: self.end_to_end_ratio,
            Slowness.UNDER_LOAD: self.under_load_ratio,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Believed(Ratios):
    """What is believed of an endpoint, over all regions (`''`) or in one."""

    endpoint: str
    region: str
    verdict: str
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictLine:
    """A verdict with all that is known of it."""

    endpoint: str
    provider: str
    model: str
    importance: str
    region: str
    verdict: str
    since: datetime
    silent_since: datetime | None
    ttft_ratio: float | None
    ttft_ratio_low: float | None
    ttft_ratio_high: float | None
    speed_ratio: float | None
    speed_ratio_low: float | None
    speed_ratio_high: float | None
    end_to_end_ratio: float | None
    end_to_end_ratio_low: float | None
    end_to_end_ratio_high: float | None
    under_load_ratio: float | None
    under_load_ratio_low: float | None
    under_load_ratio_high: float | None
    judged_at: datetime
    incidents: Sequence[int]
    """Those that it is in trouble in there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictsAsked:
    """Which verdicts are asked for; an empty collection asks for all."""

    endpoints: Collection[str]
    models: Collection[str]
    providers: Collection[str]
    precisions: Collection[str]
    regions: Collection[str]
    """`''`: over all regions."""
    verdicts: Collection[str]
    after: tuple[str, str]
    """Endpoint and region of the last one of the page before."""
    limit: int


def read_verdicts(connection: Connection, asked: VerdictsAsked) -> list[VerdictLine]:
    """Return the verdicts that were asked for, by endpoint and region."""
    endpoint, region = asked.after
    values = {
        name: sorted(getattr(asked, name))
        for name in ("endpoints", "models", "providers", "precisions", "regions", "verdicts")
    }
    with connection.cursor(row_factory=class_row(VerdictLine)) as cursor:
        return cursor.execute(
            queries("views")["select_verdicts"],
            {**values, "endpoint": endpoint, "region": region, "limit": asked.limit},
        ).fetchall()


def believed_of(
    connection: Connection, endpoints: Collection[str]
) -> Mapping[str, Mapping[str, Believed]]:
    """Return what is believed of these endpoints: by endpoint, by region."""
    found: dict[str, dict[str, Believed]] = {}
    with connection.cursor(row_factory=class_row(Believed)) as cursor:
        asked = {"endpoints": sorted(endpoints)}
        for row in cursor.execute(queries("views")["select_believed"], asked):
            found.setdefault(row.endpoint, {})[row.region] = row
    return found
