"""What providers said to be left of their rate limits; a run that would eat the rest is not made.

A key's limits are shared with whatever else its owner does with it. What a provider told counts
until the moment at which it said the limit to be whole again, so a pause ends by itself; it is on
the disk, so it outlives the worker. Whether a limit is of a model or of all models is not told, so
what was said of one model counts for its provider's others with the same key.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pacewatch.words.slot import to_rfc3339
from pacewatch.words.timing import Timing
from probe.disk import Disk

LEAST_RATIO = 0.2
"""With a smaller part of a limit left, no run is made."""

UNTOLD_S = 60.0
"""After so long a limit is taken to be whole again where that is not told, seconds."""

LONGEST_S = 86_400.0
"""After so long a provider is asked again, whatever it told, seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Whose limits they are: a provider's, of one key."""

    provider: str
    key_name: str
    """The variable that the key stands in; empty where there is no key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """The smallest part that is left of an account's limits of one unit."""

    account: Account
    unit: str
    """`requests` or `tokens`."""
    ratio: float


class Headroom:
    """What is left of every rate limit that a provider told of."""

    def __init__(self, disk: Disk) -> None:
        """Keep it on that disk."""
        self._disk = disk

    def note(self, account: Account, model: str, timings: Sequence[Timing], now: datetime) -> None:
        """Keep what the answers of a run that has just ended say; of several, the scarcest."""
        found: dict[str, tuple[float, float]] = {}
        for unit, ratio, whole_s in _told(timings):
            found[unit] = min(found.get(unit, (ratio, whole_s)), (ratio, whole_s))
        with self._disk.write() as connection:
            for unit, (ratio, whole_s) in found.items():
                whole_at = now + timedelta(seconds=min(whole_s, LONGEST_S))
                connection.execute(
                    "insert or replace into headroom values (?, ?, ?, ?, ?, ?)",
                    (
                        account.provider,
                        account.key_name,
                        model,
                        unit,
                        ratio,
                        to_rfc3339(whole_at.replace(microsecond=0)),
                    ),
                )
            connection.execute("delete from headroom where whole_at <= ?", (_second(now),))

    def left(self, now: datetime) -> list[Left]:
        """Return what is left of all limits that are not whole again."""
        rows = self._disk.read(
            "select provider, key_name, unit, min(left_ratio) from headroom where whole_at > ?"
            " group by provider, key_name, unit order by provider, key_name, unit",
            _second(now),
        )
        return [
            Left(account=Account(provider=provider, key_name=key), unit=unit, ratio=ratio)
            for provider, key, unit, ratio in rows
        ]

    def is_short(self, account: Account, now: datetime) -> bool:
        """Tell whether less than LEAST_RATIO of one of the account's limits is left."""
        return any(left.ratio < LEAST_RATIO for left in self.left(now) if left.account == account)


def _second(moment: datetime) -> str:
    return to_rfc3339(moment.replace(microsecond=0))


def _told(timings: Sequence[Timing]) -> Iterator[tuple[str, float, float]]:
    """Yield unit, the part that is left, and in how many seconds from the run's end it is whole."""
    ended_us = max((_at_us(timing, timing.end_us) for timing in timings), default=0)
    for timing in timings:
        age_s = max(0, ended_us - _at_us(timing, timing.headers_us)) / 1e6
        limits = timing.limits
        if limits is None:
            continue
        for unit, left, whole, reset_s in (
            ("requests", limits.requests_left, limits.requests_limit, limits.requests_reset_s),
            ("tokens", limits.tokens_left, limits.tokens_limit, limits.tokens_reset_s),
        ):
            if left is None or (left and not whole):
                continue
            ratio = min(1.0, left / whole) if whole else 0.0
            yield unit, ratio, max(0.0, (UNTOLD_S if reset_s is None else reset_s) - age_s)


def _at_us(timing: Timing, since_send_us: int | None) -> int:
    """Return a moment of a request counted from the run's earliest send, us."""
    return (timing.sent_us or 0) + (since_send_us or 0)
