"""What was seen of known answers, held against what was sent: the error of this host's timings.
Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pacewatch.words.figures import arrivals, output_tokens_per_s, percentile

MOST_TTFT_S = 0.005
"""Limit of the error of times to first token, 99 of 100: the fastest providers begin after a tenth
of a second, and a twentieth of that moves no verdict.
"""

MOST_MEDIAN_SPEED = 0.005
"""Limit of the relative error of output speeds, median: what medians are compared with."""

MOST_SPEED = 0.025
"""Limit of the worst stream: a quarter of the tenth under which a sample counts as no slower."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beats:
    """One answer as it was sent; times are the monotonic clock's, ns."""

    asked_ns: int
    """When the request had reached the host."""
    sends_ns: tuple[int, ...]
    """Just before each send, one token each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The same answer as it was seen; times are the monotonic clock's, ns."""

    sent_ns: int
    at_ns: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The sizes of errors."""

    p50: float
    p99: float
    worst: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """Errors one by one, so that those of several plays can be taken together."""

    ttft_s: tuple[float, ...] = ()
    arrival_s: tuple[float, ...] = ()
    speed: tuple[float, ...] = ()
    """Relative."""
    lost: int = 0
    """Requests that did not come through whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """The error of a host's timings."""

    ttft_s: Spread
    arrival_s: Spread
    speed: Spread
    requests: int
    lost: int

    def over(self, *, slack: float = 1.0) -> tuple[str, ...]:
        """Return what is over its limit, or so many times its limit, by name."""
        is_slow = self.speed.p50 > slack * MOST_MEDIAN_SPEED
        judged = {
            "ttft": self.ttft_s.p99 > slack * MOST_TTFT_S,
            "speed": is_slow or self.speed.worst > slack * MOST_SPEED,
            "lost": self.lost > 0 or not self.requests,
        }
        return tuple(name for name, is_over in judged.items() if is_over)


def compare(seen: Mapping[str, Answer | None], sent: Mapping[str, Beats]) -> Raw:
    """Return the errors of answers by their ids; what was not seen whole is lost."""
    ttft_s: list[float] = []
    arrival_s: list[float] = []
    speed: list[float] = []
    lost = 0
    for name, answer in seen.items():
        beats = sent.get(name)
        if answer is None or beats is None or len(answer.at_ns) != len(beats.sends_ns):
            lost += 1
            continue
        told = (answer.at_ns[0] - answer.sent_ns) - (beats.sends_ns[0] - beats.asked_ns)
        ttft_s.append(abs(told) / 1e9)
        pairs = zip(answer.at_ns, beats.sends_ns, strict=True)
        arrival_s.extend(abs(at - sent_at) / 1e9 for at, sent_at in pairs)
        ours, true = _speed(answer.at_ns), _speed(beats.sends_ns)
        if ours is not None and true is not None:
            speed.append(abs(ours / true - 1))
    return Raw(ttft_s=tuple(ttft_s), arrival_s=tuple(arrival_s), speed=tuple(speed), lost=lost)


def summed(parts: Iterable[Raw]) -> Errors:
    """Return the errors of several plays together."""
    parts = list(parts)
    ttft_s = [error for part in parts for error in part.ttft_s]
    return Errors(
        ttft_s=_spread(ttft_s),
        arrival_s=_spread([error for part in parts for error in part.arrival_s]),
        speed=_spread([error for part in parts for error in part.speed]),
        requests=len(ttft_s),
        lost=sum(part.lost for part in parts),
    )


def _speed(at_ns: Sequence[int]) -> float | None:
    """Return the output speed of tokens that came then, one each, by its definition."""
    at_us = [at // 1000 for at in at_ns]
    return output_tokens_per_s(arrivals(at_us, [1] * len(at_us)))


def _spread(errors: Sequence[float]) -> Spread:
    return Spread(
        p50=percentile(errors, 0.5) or 0.0,
        p99=percentile(errors, 0.99) or 0.0,
        worst=max(errors, default=0.0),
    )
