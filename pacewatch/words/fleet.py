"""What the one file says, read and checked: regions, endpoints, schedule, spending. Values only.

`pacewatch.config` reads them; every process works from one Fleet.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pacewatch.words.channel import UNSAID, Centre, Channel
from pacewatch.words.endpoint import Endpoint, Importance, RateLimit, endpoint_hash
from pacewatch.words.judging import Limits
from pacewatch.words.retention import DEFAULT_RETENTION, Retention
from pacewatch.words.slot import WORKLOADS, Load, Workload
from pacewatch.words.spending import Caps

DEFAULT_REGION = "local"
"""The region of a fleet whose file names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Where a probe worker stands."""

    name: str
    proxy_url: str | None = None
    ca_file: str | None = None
    paused: bool = False
    """True: the region rests, so its slots are missed at once and nothing is sent from there."""
    simulator_url: str | None = None
    """Where all providers are found, in the demo: scheme, host and port."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """How often, and for how long a slot is good; the demo scales it."""

    day_s: int = 86_400
    """Length of a day of the schedule, seconds; it divides or equals 86,400."""
    single_per_day: int = 8
    parallel_per_day: int = 2
    parallel_requests: int = 10
    workloads: tuple[str, ...] = ("standard",)
    sentinel_s: int = 300
    """Between two sentinels of an endpoint of importance `page`, seconds; 0: there are none."""
    window_s: int = 72 * 3600
    """Rolling statistics are over the slots of this time, seconds."""
    validity_s: int = 1_800
    """A slot may be run until this long after its moment, seconds."""
    resend_s: int = 600
    """A slot is sent again at the earliest this long after its first send, seconds."""
    late_s: int = 3 * 3600
    """A sample later than this is shown and does not vote, seconds."""
    tick_s: float = 5.0
    """How often the centre looks for due slots, seconds."""
    heartbeat_s: float = 30.0
    """How often a worker tells the centre that it lives and what it has in hand, seconds."""

    @property
    def fresh_s(self) -> float:
        """Return how long a heartbeat stands for its worker, seconds: three of them."""
        return 3 * self.heartbeat_s

    @property
    def upkeep_s(self) -> float:
        """Return how often the store is kept up, seconds: each minute, or as the window scales."""
        return min(60.0, max(5.0, self.window_s / 288))

    def per_day(self, load: Load) -> int:
        """Return how many slots a day the schedule asks of a series of that load."""
        return self.single_per_day if load is Load.SINGLE else self.parallel_per_day

    def requests(self, load: Load) -> int:
        """Return how many requests a run of that load makes."""
        return 1 if load is Load.SINGLE else self.parallel_requests


DEMO_SCHEDULE = Schedule(
    day_s=480,
    workloads=("short",),
    sentinel_s=10,
    window_s=1_440,
    validity_s=60,
    resend_s=25,
    late_s=300,
    tick_s=1.0,
    heartbeat_s=5.0,
)
"""The demo's: a day of eight minutes, workload `short`; sentinels as often as slots are
taken in time.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What may be asked for a day."""

    usd_per_day: float = 5.0
    """Of the whole fleet."""
    requests_per_day: float | None = None
    """Of the whole fleet; None: no cap."""
    tokens_per_day: float | None = None
    """Of the whole fleet, in and out; None: no cap."""
    region_usd_per_day: float | None = None
    """Of one region's workers; None: the fleet's divided by the regions."""
    providers: Mapping[str, Caps] = field(default_factory=dict)
    """Of one provider, from the whole fleet, by its id."""
    accept_spending: bool = False
    """True: the file accepts the plan, nobody is asked."""
    ambient_credentials: frozenset[str] = frozenset()
    """Clouds whose credentials of the shell may be used: aws, google, azure."""

    @property
    def caps(self) -> Caps:
        """Return the caps of the whole fleet over all providers."""
        return Caps(
            requests_per_day=self.requests_per_day,
            tokens_per_day=self.tokens_per_day,
            usd_per_day=self.usd_per_day,
        )


QUANTILES = {"p5": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95}
"""The quantiles that are kept of every rolling figure, by name, in the order they are stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """An endpoint that was picked and is not probed."""

    endpoint: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """One file, read: what is probed, from where, how often, for how much."""

    regions: Mapping[str, Region]
    catalog: Mapping[str, Endpoint]
    """Every endpoint known, ours and the user's, by id; a worker looks tasks up here."""
    endpoints: tuple[Endpoint, ...]
    """The endpoints that are probed, by id."""
    skipped: tuple[Skipped, ...] = ()
    workloads: Mapping[str, Workload] = field(default_factory=lambda: dict(WORKLOADS))
    schedule: Schedule = Schedule()
    spending: Spending = Spending()
    rate_limits: Mapping[str, RateLimit] = field(default_factory=dict)
    """What a key may ask for of all models of a provider, by the provider's id."""
    retention: Retention = DEFAULT_RETENTION
    simulated: bool = False
    """True in the demo: every endpoint is the simulator's."""
    quantiles: tuple[float, ...] = ()
    """Quantiles that `/metrics` tells of every rolling figure beside the usual ones."""
    false_pages_a_month: float = 1.0
    """What calibration allows over all endpoints of importance `page`."""
    limits: Mapping[str, Limits] = field(default_factory=dict)
    """Limits of one's own, by endpoint."""
    centre: Centre = UNSAID
    channels: tuple[Channel, ...] = ()
    """Whom the central worker tells of incidents."""

    @property
    def paused(self) -> frozenset[str]:
        """Return the regions that rest."""
        return frozenset(name for name, region in self.regions.items() if region.paused)

    def sentinel_s(self, endpoint: Endpoint) -> int:
        """Return how far apart the endpoint's sentinels are asked, seconds; 0: it has none."""
        return self.schedule.sentinel_s if endpoint.importance is Importance.PAGE else 0


def catalog_hash(fleet: Fleet) -> str:
    """Return 16 hex digits over all that decides what this catalog would ask of any endpoint."""
    known = [
        endpoint_hash(endpoint, workload)
        for _, endpoint in sorted(fleet.catalog.items())
        for _, workload in sorted(fleet.workloads.items())
    ]
    return hashlib.sha256("".join(known).encode()).hexdigest()[:16]


def base_url_in(endpoint: Endpoint, region: Region) -> str:
    """Return the endpoint's base URL as seen from a region: the catalog's, or the simulator's.

    The simulator has one address a region and serves each provider under `/<provider>` + the real
    path.
    """
    if region.simulator_url is None:
        return endpoint.base_url
    return f"{region.simulator_url}/{endpoint.provider}{urlsplit(endpoint.base_url).path}"
