"""The worker's own daily cap in US$: whoever controls the broker can spend no more than this.

A run's expected cost is set aside in the commit that starts it, and replaced by its actual cost in
the commit that finishes it. Days are UTC days of the worker's clock, set right by its offset.
"""

import math
from datetime import datetime, timedelta
from uuid import UUID

from pacewatch.words.endpoint import Endpoint
from pacewatch.words.errors import BudgetSpent
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import Workload, require_utc
from probe.disk import Disk

KEPT_DAYS = 8
"""Days the ledger goes back."""


class Budget:
    """The ledger of what runs cost, and its cap."""

    def __init__(self, disk: Disk, *, usd_per_day: float | None) -> None:
        """Keep the ledger on that disk; a cap of None lets every run pass and counts all the
        same.
        """
        self._disk = disk
        self._usd_per_day = usd_per_day

    def set_aside(self, execution: UUID, usd: float, now: datetime) -> None:
        """Set the expected cost of a run aside; raises BudgetSpent where the cap leaves no room."""
        with self._disk.write() as connection:
            left = self.left_usd(now)
            if left is not None and usd > left:
                raise BudgetSpent(
                    f"the run would cost up to US$ {usd:.4f}, and US$ {left:.4f} of the day's "
                    f"{self._usd_per_day:.2f} are left"
                )
            connection.execute(
                "insert into spent (day, execution, usd) values (?, ?, ?)",
                (day_of(now), execution.bytes, usd),
            )
            connection.execute(
                "delete from spent where day < ?", (day_of(now - timedelta(days=KEPT_DAYS)),)
            )

    def settle(self, execution: UUID, usd: float | None) -> None:
        """Replace the expected cost by the actual one; an unknown one leaves it as expected."""
        if usd is None:
            return
        with self._disk.write() as connection:
            connection.execute(
                "update spent set usd = ? where execution = ?", (usd, execution.bytes)
            )

    def spent_usd(self, now: datetime) -> float:
        """Return what was spent and set aside on the day of `now`."""
        rows = self._disk.read("select coalesce(sum(usd), 0) from spent where day = ?", day_of(now))
        return float(rows[0][0])

    def left_usd(self, now: datetime) -> float | None:
        """Return what is left of the day's cap; None without a cap."""
        if self._usd_per_day is None:
            return None
        return max(0.0, self._usd_per_day - self.spent_usd(now))


def day_of(moment: datetime) -> str:
    """Return the UTC day of a moment, as `2026-12-31`."""
    return require_utc(moment).date().isoformat()


def cap_of(fleet: Fleet) -> float | None:
    """Return a worker's cap, US$ a day: the region's, else the fleet's divided by its regions.

    A simulated fleet has none: nobody is billed, and a demo that stopped after some days of its
    own would show nothing.
    """
    if fleet.simulated:
        return None
    if fleet.spending.region_usd_per_day is not None:
        return fleet.spending.region_usd_per_day
    return fleet.spending.usd_per_day / max(1, len(fleet.regions))


def expected_usd(endpoint: Endpoint, workload: Workload, requests: int) -> float:
    """Return what a run costs at most by the known price, rounded up to a millionth; 0 where none
    is known.
    """
    if endpoint.price is None:
        return 0.0
    output = workload.output_tokens + endpoint.reasoning_tokens
    a_request = (
        workload.input_tokens * endpoint.price.input_usd + output * endpoint.price.output_usd
    )
    return math.ceil(requests * a_request) / 1e6
