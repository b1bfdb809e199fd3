"""The servers' own logs, and what a client saw held against them."""

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clock.stage import Stage
from pacewatch.words.figures import arrivals, output_tokens_per_s

_LOG_S = 5.0


@dataclass(frozen=True, kw_only=True)
class Sent:
    """One answer as the server's log has it; moments are the monotonic clock's, ns."""

    asked_ns: int
    """When the kernel had the request."""
    sends_ns: tuple[int, ...]


@dataclass(kw_only=True)
class Score:
    """The errors of one client; relative ones as ratios."""

    ttft_s: list[float] = field(default_factory=list)
    arrival_s: list[float] = field(default_factory=list)
    speed: list[float] = field(default_factory=list)
    requests: int = 0
    lost: int = 0
    """Answers that were not seen whole."""
    priority: str | None = None
    stamps: set[str] = field(default_factory=set)

    def figures(self) -> dict[str, float]:
        """Return what bounds are set for, by name."""
        return {
            "ttft_p99_s": quantile(self.ttft_s, 0.99),
            "arrival_p50_s": quantile(self.arrival_s, 0.5),
            "arrival_p99_s": quantile(self.arrival_s, 0.99),
            "speed_p50": quantile(self.speed, 0.5),
            "speed_worst": max(self.speed, default=float("inf")),
            "lost": float(self.lost if self.requests else 1),
        }


def read_logs(stage: Stage, ids: Iterable[str]) -> dict[str, Sent]:
    """Return what was sent to these requests, once the servers have written it down."""
    wanted, end = set(ids), time.monotonic() + _LOG_S
    while True:
        sent = dict(entry for log in stage.logs for entry in entries(log) if entry[0] in wanted)
        if len(sent) == len(wanted) or time.monotonic() > end:
            return sent
        time.sleep(0.1)


def entries(log: Path) -> Iterable[tuple[str, Sent]]:
    """Return the requests of a log by their ids; a line that is being written is left out."""
    for line in log.read_text().splitlines() if log.exists() else ():
        try:
            told = json.loads(line)
        except ValueError:
            continue
        asked_ns = told["rx_kern"] or told["rx_user"]
        yield told["id"], Sent(asked_ns=asked_ns, sends_ns=tuple(told["send"]))


def score(lines: Sequence[dict[str, Any]], sent: dict[str, Sent]) -> Score:
    """Return the errors of what a client wrote."""
    made = Score(requests=len(lines))
    for line in lines:
        made.priority = line.get("priority")
        made.stamps.add(line.get("stamp", "user"))
        truth = sent.get(line["id"])
        if truth is None or len(line["at"]) != len(truth.sends_ns):
            made.lost += 1
            continue
        made.ttft_s.append(abs(ttft_error_s(line, truth)))
        pairs = zip(line["at"], truth.sends_ns, strict=True)
        made.arrival_s += [abs(at - sent_at) / 1e9 for at, sent_at in pairs]
        if (error := speed_error(line, truth)) is not None:
            made.speed.append(abs(error))
    return made


def ttft_error_s(line: dict[str, Any], truth: Sent) -> float:
    """Return the seen time to first token less the server's."""
    return ((line["at"][0] - line["sent"]) - (truth.sends_ns[0] - truth.asked_ns)) / 1e9


def speed_error(line: dict[str, Any], truth: Sent) -> float | None:
    """Return the relative error of the speed that the client tells; None where it tells none.

    The true speed follows from the sends by the definition, of the same tokens in each of them.
    """
    tokens = line.get("tokens") or [1] * len(line["at"])
    true = output_tokens_per_s(arrivals([at // 1000 for at in truth.sends_ns], tokens))
    told = line.get("tokens_per_s")
    return None if told is None or true is None else told / true - 1


def quantile(values: Sequence[float], q: float) -> float:
    """Return a quantile, interpolated; infinite where there is no value."""
    if not values:
        return float("inf")
    ordered, place = sorted(values), (len(values) - 1) * q
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
