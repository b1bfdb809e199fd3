"""The worker's own daily caps: whoever controls the broker can ask for no more than these.

What a run asks for at most is set aside in the commit that starts it, and replaced by what it came
to in the commit that finishes it. Days are UTC days of the worker's clock, set right by its offset.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from types import MappingProxyType
from uuid import UUID

from pacewatch.words.errors import BudgetSpent
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import require_utc
from pacewatch.words.spending import Caps, Demand
from probe.disk import Disk

KEPT_DAYS = 8
"""Days the ledger goes back."""

_NOTHING: Mapping[str, Caps] = MappingProxyType({})


class Budget:
    """The ledger of what runs ask for, and its caps: over all, and by provider."""

    def __init__(self, disk: Disk, *, caps: Caps, providers: Mapping[str, Caps] = _NOTHING) -> None:
        """Keep the ledger on that disk; what has no cap is counted all the same."""
        self._disk = disk
        self._caps = caps
        self._providers = providers

    def set_aside(self, execution: UUID, provider: str, asked: Demand, now: datetime) -> None:
        """Set aside what a run asks for; raises BudgetSpent where a cap leaves no room."""
        with self._disk.write() as connection:
            for whose, caps in (("", self._caps), (provider, self._providers.get(provider))):
                if caps is not None:
                    self._require_room(whose, caps, asked, now)
            connection.execute(
                "insert into spent (day, execution, provider, requests, tokens, usd)"
                " values (?, ?, ?, ?, ?, ?)",
                (
                    day_of(now),
                    execution.bytes,
                    provider,
                    asked.requests,
                    asked.tokens,
                    asked.usd or 0.0,
                ),
            )
            connection.execute(
                "delete from spent where day < ?", (day_of(now - timedelta(days=KEPT_DAYS)),)
            )

    def settle(self, execution: UUID, came_to: Demand) -> None:
        """Replace what was set aside by what it came to; an unknown cost stays as expected."""
        with self._disk.write() as connection:
            connection.execute(
                "update spent set requests = ?, tokens = ?, usd = coalesce(?, usd)"
                " where execution = ?",
                (came_to.requests, came_to.tokens, came_to.usd, execution.bytes),
            )

    def spent(self, now: datetime, provider: str = "") -> Demand:
        """Return what was spent and set aside on the day of `now`, of one provider where named."""
        (row,) = self._disk.read(
            "select coalesce(sum(requests), 0), coalesce(sum(tokens), 0), coalesce(sum(usd), 0)"
            " from spent where day = ?1 and ?2 in ('', provider)",
            day_of(now),
            provider,
        )
        requests, tokens, usd = row
        return Demand(requests=requests, tokens=tokens, usd=float(usd))

    def left_usd(self, now: datetime) -> float | None:
        """Return what is left of the day's cap over all, US$; None without one."""
        if self._caps.usd_per_day is None:
            return None
        return max(0.0, self._caps.usd_per_day - (self.spent(now).usd or 0.0))

    def _require_room(self, whose: str, caps: Caps, asked: Demand, now: datetime) -> None:
        for unit, cap, spent, needed in _compared(caps, self.spent(now, whose), asked):
            if cap is not None and needed > max(0.0, cap - spent):
                of = f" of {whose}" if whose else ""
                raise BudgetSpent(
                    f"the run would ask for up to {needed:.10g} {unit}, and "
                    f"{max(0.0, cap - spent):.10g} of the day's {cap:.10g}{of} are left"
                )


def _compared(
    caps: Caps, spent: Demand, asked: Demand
) -> Iterator[tuple[str, float | None, float, float]]:
    """Yield each unit with its cap, what is spent and what is asked, rounded to what counts."""
    for unit, cap, before, now in (
        ("requests", caps.requests_per_day, spent.requests, asked.requests),
        ("tokens", caps.tokens_per_day, spent.tokens, asked.tokens),
        ("US$", caps.usd_per_day, spent.usd or 0.0, asked.usd or 0.0),
    ):
        yield unit, cap, round(before, 9), round(now, 9)


def day_of(moment: datetime) -> str:
    """Return the UTC day of a moment, as `2026-12-31`."""
    return require_utc(moment).date().isoformat()


def caps_of(fleet: Fleet) -> Caps:
    """Return a worker's caps over all providers: the fleet's divided by its regions, in US$ the
    region's own where the file has one.

    A simulated fleet has none in US$: nobody is billed, and a demo that stopped after some days of
    its own would show nothing.
    """
    caps = fleet.spending.caps.share(len(fleet.regions))
    if fleet.simulated:
        return replace(caps, usd_per_day=None)
    own = fleet.spending.region_usd_per_day
    return caps if own is None else replace(caps, usd_per_day=own)


def provider_caps(fleet: Fleet) -> dict[str, Caps]:
    """Return a worker's caps by provider: the fleet's divided by its regions."""
    regions = len(fleet.regions)
    return {name: caps.share(regions) for name, caps in fleet.spending.providers.items()}
