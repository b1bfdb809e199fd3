"""What the probe must keep to, and what it is shown beside."""

from dataclasses import dataclass, field

RATE, STREAMS, TOKENS = 1753, 10, 1000

BESIDE = {
    "nothing": "nothing",
    "process": "a busy process on the same core",
    "thread": "a busy thread in the worker",
    "garbage": "a thread that makes garbage and counts tokens",
}

DECIDED = {"ttft_p99_s": 0.001, "speed_p50": 0.005, "speed_worst": 0.025, "lost": 0.0}
"""What a user decides on, at ten streams, whatever the way."""

DISTURBED = {"ttft_p99_s": 0.005}
"""What is wider while something is busy beside."""

FAR = {
    "plain": {
        "arrival_p50_s": 20e-6,
        "arrival_p99_s": 0.005,
        "speed_p50": 0.0005,
        "speed_worst": 0.02,
    },
    "TLS": {
        "arrival_p50_s": 30e-6,
        "arrival_p99_s": 0.02,
        "speed_p50": 0.0005,
        "speed_worst": 0.025,
    },
    "proxy": {},
}
"""How far it goes, by way; a proxy's own delay is no error of ours."""

FAR_REALTIME = {
    "plain": {"arrival_p99_s": 0.0005, "speed_worst": 0.001},
    "TLS": {"arrival_p99_s": 0.005, "speed_worst": 0.01},
    "proxy": {},
}
"""What real-time priority should bring; reported, not judged."""

ALONE = {"arrival_p50_s": 0.0001, "lost": 0.0}
"""One stream, at 80 and 500 tokens/s."""


def bounds(way: str, beside: str) -> dict[str, float]:
    """Return the bounds of ten streams, by the names of figures."""
    return DECIDED | FAR[way] | ({} if beside == "nothing" else DISTURBED)


WORKLOADS = ("short", "standard")
"""Whose parallel runs must leave together."""

SENDS_S = 0.002
"""Between the first and the last send of a parallel run, in the median run."""


@dataclass(frozen=True, kw_only=True)
class Trap:
    """A kind of answer that known tools measure wrongly, and what is right."""

    model: str
    outcome: str = "ok"
    has_speed: bool = True
    """True: within half a percent; False: none may be told."""
    flags: frozenset[str] = field(default_factory=frozenset)


_SHAPE = "truth-ttft200-tps1753-n300"

TRAPS = (
    Trap(model=f"{_SHAPE}-burst50"),
    Trap(model=f"{_SHAPE}-burst", has_speed=False, flags=frozenset({"burst"})),
    Trap(model=f"{_SHAPE}-think100"),
    Trap(model=f"{_SHAPE}-err@100", outcome="stream_error", has_speed=False),
    Trap(model=f"{_SHAPE}-cut@100", outcome="disconnected", has_speed=False),
    Trap(model=f"{_SHAPE}-nousage"),
    Trap(model=f"{_SHAPE}-split"),
    Trap(model=f"{_SHAPE}-emptyfirst"),
    Trap(model=f"{_SHAPE}-role50"),
    Trap(model=f"{_SHAPE}-ping50"),
)
TRAP_SPEED, TRAP_TTFT_S = 0.005, 0.001
