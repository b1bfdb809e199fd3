"""One client against the servers, once or until it keeps its bounds."""

import json
import statistics
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clock.bounds import (
    RATE,
    SENDS_S,
    STREAMS,
    TOKENS,
    TRAP_SPEED,
    TRAP_TTFT_S,
    Trap,
)
from clock.client import PACEWATCH, PLAIN
from clock.score import Score, Sent, read_logs, score, speed_error, ttft_error_s
from clock.stage import Stage, busy
from probe.priority import REALTIME, SHORT_SLICE

FASTEST = f"truth-ttft100-tps{RATE}-n{TOKENS}"
_CLIENT_S = 600.0


@dataclass(frozen=True, kw_only=True)
class Ask:
    """How one client asks."""

    way: str
    beside: str = "nothing"
    model: str = FASTEST
    streams: int = STREAMS
    rounds: int = 1
    workload: str | None = None
    """Whose prompts are sent; None: a few words."""


def ask(stage: Stage, how: Ask, client: str, priority: str = SHORT_SLICE) -> list[dict[str, Any]]:
    """Return what a client wrote of each of its requests."""
    out = stage.folder / "client.jsonl"
    words = [
        *(client, *stage.words(how.way), "--model", how.model, "--priority", priority),
        *("--streams", str(how.streams), "--rounds", str(how.rounds), "--out", str(out)),
        *("--core", str(stage.client_core)),
    ]
    if how.workload is not None:
        words += ["--workload", how.workload]
    is_process = how.beside == "process"
    if not is_process:
        words += ["--beside", how.beside]
    with busy(stage.client_core) if is_process else nullcontext():
        subprocess.run(
            [sys.executable, "-m", "clock.client", *words], check=True, timeout=_CLIENT_S
        )
    return [json.loads(line) for line in out.read_text().splitlines()]


def scored(stage: Stage, how: Ask, client: str, priority: str = SHORT_SLICE) -> Score:
    """Return the errors of a client that asks once."""
    lines = ask(stage, how, client, priority)
    return score(lines, read_logs(stage, (line["id"] for line in lines)))


def best(stage: Stage, how: Ask, limits: dict[str, float], tries: int) -> Score:
    """Return the first of the probe's tries that keeps the limits, else the one nearest to it."""
    made: list[Score] = []
    for _ in range(tries):
        made.append(scored(stage, how, PACEWATCH))
        if not over(made[-1], limits):
            break
    return min(made, key=lambda one: len(over(one, limits)))


def over(made: Score, limits: dict[str, float]) -> list[str]:
    """Return the names of the figures that are over their limits."""
    figures = made.figures()
    return [name for name, limit in limits.items() if not figures[name] <= limit]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One way with one disturbance: the probe, the probe with real-time priority, the yardstick."""

    how: Ask
    limits: dict[str, float]
    probe: Score
    realtime: Score | None
    """None where this host does not give it."""
    plain: Score


def cell(stage: Stage, how: Ask, limits: dict[str, float], tries: int) -> Cell:
    """Measure all three clients."""
    probe = best(stage, how, limits, tries)
    realtime = scored(stage, how, PACEWATCH, REALTIME)
    plain = scored(stage, how, PLAIN)
    return Cell(
        how=how,
        limits=limits,
        probe=probe,
        realtime=realtime if realtime.priority == REALTIME else None,
        plain=plain,
    )


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How far apart the sends of parallel runs were, s, each from its first to its last."""

    how: Ask
    runs_s: tuple[float, ...]

    @property
    def median_s(self) -> float:
        """Of the runs."""
        return statistics.median(self.runs_s)

    @property
    def is_wrong(self) -> bool:
        """Tell whether the bound is not kept."""
        return self.median_s > SENDS_S


def spread(stage: Stage, how: Ask, tries: int) -> Spread:
    """Have the probe make parallel runs, again where the median is over its bound."""
    made = [spread_once(stage, how)]
    while made[-1].is_wrong and len(made) < tries:
        made.append(spread_once(stage, how))
    return min(made, key=lambda one: one.median_s)


def spread_once(stage: Stage, how: Ask) -> Spread:
    """Have the probe make parallel runs."""
    sent = [line["sent"] for line in ask(stage, how, PACEWATCH)]
    runs = [sent[at : at + how.streams] for at in range(0, len(sent), how.streams)]
    return Spread(how=how, runs_s=tuple((max(run) - min(run)) / 1e9 for run in runs))


@dataclass(frozen=True, kw_only=True)
class Trapped:
    """What became of one trap."""

    trap: Trap
    outcome: str
    tokens_per_s: float | None
    speed_error: float | None
    ttft_error_s: float | None
    plain_outcome: str
    plain_error: float | None
    wrong: tuple[str, ...]


def spring(stage: Stage, trap: Trap, tries: int) -> Trapped:
    """Have both clients ask for a trap, the probe until it is right."""
    made = sprung(stage, trap)
    for _ in range(tries - 1):
        if made.wrong:
            made = sprung(stage, trap)
    return made


def sprung(stage: Stage, trap: Trap) -> Trapped:
    """Have both clients ask for a trap."""
    how = Ask(way="plain", model=trap.model, streams=1)
    [ours], [theirs] = ask(stage, how, PACEWATCH), ask(stage, how, PLAIN)
    sent = read_logs(stage, [ours["id"], theirs["id"]])
    truth, error, plain_error = whole(ours, sent), None, None
    ttft_s = ttft_error_s(ours, truth) if truth else None
    if truth:
        error = speed_error(ours, truth)
    if (their_truth := whole(theirs, sent)) is not None:
        plain_error = speed_error(theirs, their_truth)
    right = {
        "outcome": ours["outcome"] == trap.outcome,
        "flags": trap.flags <= set(ours["flags"]),
        "speed": ours["tokens_per_s"] is None
        if not trap.has_speed
        else error is not None and abs(error) <= TRAP_SPEED,
        "ttft": ttft_s is not None and abs(ttft_s) <= TRAP_TTFT_S,
    }
    return Trapped(
        trap=trap,
        outcome=ours["outcome"],
        tokens_per_s=ours["tokens_per_s"],
        speed_error=error,
        ttft_error_s=ttft_s,
        plain_outcome=theirs["outcome"],
        plain_error=plain_error,
        wrong=tuple(name for name, is_right in right.items() if not is_right),
    )


def whole(line: dict[str, Any], sent: dict[str, Sent]) -> Sent | None:
    """Return the log of an answer that was seen whole."""
    truth = sent.get(line["id"])
    return truth if truth and 0 < len(line["at"]) == len(truth.sends_ns) else None


def own_calibration() -> list[dict[str, Any]]:
    """Return what `pacewatch calibrate` finds of the fastest streams, without the C server."""
    words = [str(Path(sys.executable).with_name("pacewatch")), "calibrate", "--json"]
    told = subprocess.run(words, capture_output=True, check=False, timeout=_CLIENT_S)
    plays = json.loads(told.stdout)["plays"]
    return [one for one in plays if (one["tokens_per_s"], one["streams"]) == (RATE, STREAMS)]


@dataclass(frozen=True, kw_only=True)
class Found:
    """All that was measured."""

    at: str
    """When, and on what."""
    many: list[Cell]
    """Ten streams."""
    alone: list[Cell]
    """One."""
    spreads: list[Spread]
    traps: list[Trapped]
    own: list[dict[str, Any]]
    """What the host's own calibration says of ten streams."""
