"""What an endpoint does on its own: assumed noise, each assumption a named number. Seeded.

The figures that come of it compare rules and say what is possible, not what will be.
"""

from dataclasses import dataclass
from math import exp, pi, sin, sqrt
from random import Random


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """The assumptions; spreads are standard deviations of ln."""

    ttft_sd: tuple[float, float] = (0.2, 0.5)
    """Of one run, from the steadiest endpoint to the wildest."""
    speed_sd: tuple[float, float] = (0.08, 0.3)
    outlier_share: float = 0.05
    outlier_times: tuple[float, float] = (2.0, 10.0)
    """An outlier's first token takes so many times as long, its output half the root of it."""
    day_swing: float = 0.2
    """ln from the mean to the slowest hour; every day is the same."""
    drift_sd: float = 0.10
    """Of the level, which returns to its mean within drift_h."""
    drift_h: float = 48.0
    region_drift_sd: float = 0.05
    spells_a_day: float = 0.7
    """Load spells, in all regions at once."""
    spell_h: float = 1.5
    """Their mean length."""
    spell_sd: float = 0.3
    """A spell slows the first token by the size of a normal of this spread, speed by half that."""
    rtt_s: tuple[float, float] = (0.020, 0.300)
    ttft_s: tuple[float, float] = (0.2, 2.0)
    speed: tuple[float, float] = (30.0, 300.0)
    lone_failures: float = 0.01
    blip_every_h: float = 168.0
    blip_min: float = 5.0
    """Mean length of an error blip."""
    blip_failures: float = 0.3
    parallel: int = 10


NOISE = Noise()


class Wander:
    """A level that drifts about 0 (an Ornstein-Uhlenbeck process), asked in order of time."""

    def __init__(self, random: Random, sd: float, hours: float) -> None:
        """Begin somewhere."""
        self.random, self.sd, self.hours = random, sd, hours
        self.at, self.level = 0.0, random.gauss(0, sd)

    def get(self, hour: float) -> float:
        """Return the level at that hour."""
        passed = hour - self.at
        if passed > 0.02:
            keep = exp(-passed / self.hours)
            spread = self.sd * sqrt(1 - keep * keep)
            self.level, self.at = self.level * keep + self.random.gauss(0, spread), hour
        return self.level

    def near(self, hour: float) -> float:
        """Return what is expected soon after the hour that was asked last; draws nothing."""
        return self.level * exp(-max(0.0, hour - self.at) / self.hours)


class Spells:
    """Times that come and go: how strong the one of now is, 0 between them. They are the same
    whenever they are asked, so their random numbers are nobody else's.
    """

    def __init__(self, random: Random, every_h: float, length_h: float, sd: float) -> None:
        """Plan the first."""
        self.random, self.every_h, self.length_h, self.sd = random, every_h, length_h, sd
        self.start, self.end, self.size = 0.0, 0.0, 0.0

    def get(self, hour: float) -> float:
        """Return the strength at that hour, asked in order of time."""
        while hour >= self.end:
            self.start = self.end + self.random.expovariate(1 / self.every_h)
            self.end = self.start + self.random.expovariate(1 / self.length_h)
            self.size = abs(self.random.gauss(0, self.sd))
        return self.size if hour >= self.start else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What a run would have met without any trouble."""

    rtt_s: float
    ttft_s: float
    """Without the round trip."""
    speed: float
    failed: bool


class World:
    """One endpoint seen from some regions; asked in order of time, hours.

    What a rule asks on top of the schedule leaves the runs of the schedule as they are, so that
    rules can be played over the same history.
    """

    def __init__(self, random: Random, regions: int, noise: Noise = NOISE) -> None:
        """Draw the endpoint."""
        self.random, self.noise = random, noise
        self.ttft_sd = random.uniform(*noise.ttft_sd)
        self.speed_sd = random.uniform(*noise.speed_sd)
        self.ttft_s = noise.ttft_s[0] * (noise.ttft_s[1] / noise.ttft_s[0]) ** random.random()
        self.speed = noise.speed[0] * (noise.speed[1] / noise.speed[0]) ** random.random()
        self.swing_at = random.random()
        self.levels = [Wander(random, noise.drift_sd, noise.drift_h) for _ in range(2)]
        self.regional = [
            [Wander(random, noise.region_drift_sd, noise.drift_h) for _ in range(2)]
            for _ in range(regions)
        ]
        self.rtt = [random.uniform(*noise.rtt_s) for _ in range(regions)]
        self.extra, of_spells, of_blips = (Random(random.random()) for _ in range(3))  # noqa: S311
        self.spells = Spells(of_spells, 24 / noise.spells_a_day, noise.spell_h, noise.spell_sd)
        self.blips = Spells(of_blips, noise.blip_every_h, noise.blip_min / 60, 1.0)

    def sample(
        self, hour: float, region: int, *, parallel: bool = False, extra: bool = False
    ) -> Sample:
        """Return what a run meets; a parallel one is its median of ten, an extra one is none of the
        schedule.
        """
        noise, random = self.noise, self.extra if extra else self.random
        swing = noise.day_swing * sin(2 * pi * (hour / 24 + self.swing_at))
        spell = self.spells.get(hour)
        narrow = 1.25 / sqrt(noise.parallel) if parallel else 1.0
        ttft, speed = (
            swing
            + (level.near(hour) + place.near(hour) if extra else level.get(hour) + place.get(hour))
            + spell * share
            + random.gauss(0, sd * narrow)
            for level, place, share, sd in zip(
                self.levels,
                self.regional[region],
                (1, 0.5),
                (self.ttft_sd, self.speed_sd),
                strict=True,
            )
        )
        times = 1.0
        if not parallel and random.random() < noise.outlier_share:
            times = random.uniform(*noise.outlier_times)
        failures = noise.blip_failures if self.blips.get(hour) else noise.lone_failures
        return Sample(
            rtt_s=self.rtt[region],
            ttft_s=self.ttft_s * exp(ttft) * times,
            speed=self.speed * exp(-speed) / max(1.0, sqrt(times) / 2),
            failed=not parallel and random.random() < failures,
        )
