"""How soon trouble is expected to be found, from a table of measured medians.

`times.json` is written by `python -m benchmarks.judging --only times --write`, and tells on which
day and with which seeds it was measured. Its noise is assumed, so it says what is possible.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("times.json")

TROUBLES = (
    *("outage, refusing", "speed halved", "TTFT five times"),
    *("speed x0.7", "speed halved, one region"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What is expected of one trouble."""

    median_h: float | None
    """Hours of a whole day from its start to the alarm; None: over two days."""
    missed: float
    """Share that is not found within a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often an endpoint is probed, over a day of 24 hours."""

    regions: int
    single_per_day: float
    parallel_per_day: float
    sentinel_s: float
    """0: there are none."""

    def holds(self, other: "Pace") -> bool:
        """Tell whether the other is probed no more often, in anything."""
        return (
            other.regions <= self.regions
            and other.single_per_day <= self.single_per_day
            and other.parallel_per_day <= self.parallel_per_day
            and (not other.sentinel_s or 0 < self.sentinel_s <= other.sentinel_s)
        )

    @property
    def runs_per_day(self) -> float:
        """Return all runs a day."""
        sentinels = 86_400 / self.sentinel_s if self.sentinel_s else 0.0
        return self.regions * (self.single_per_day + self.parallel_per_day) + sentinels


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The row of the table that stands for a pace: of those not faster, the one nearest to it."""

    pace: Pace
    found: Mapping[str, Expected]


def source() -> str:
    """Return when and how the table was measured, in words."""
    made = _table()
    first, last = made["seeds"]
    return f"measured on {made['measured_on']} on synthetic histories, seeds {first} to {last}"


def expected(pace: Pace) -> Measured | None:
    """Return what was measured of the nearest pace that is no faster; None: there is none."""
    rows = [row for row in _rows() if pace.holds(row.pace)]
    return max(rows, key=lambda row: row.pace.runs_per_day, default=None)


@cache
def _table() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return made


@cache
def _rows() -> tuple[Measured, ...]:
    return tuple(
        Measured(
            pace=Pace(**{name: row[name] for name in Pace.__slots__}),
            found={name: Expected(**cell) for name, cell in row["found"].items()},
        )
        for row in _table()["rows"]
    )
