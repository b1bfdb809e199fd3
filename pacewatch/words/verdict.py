"""What the centre believes of an endpoint, and whose fault trouble looks like: the words."""

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """The state of an endpoint, or of it in one region; where two fit, the earlier one is told."""

    NOT_SERVED = "not_served"
    FAILING = "failing"
    SILENT = "silent"
    SLOW = "slow"
    LEARNING = "learning"
    OK = "ok"


VERDICT_MEANINGS: dict[Verdict, str] = {
    Verdict.NOT_SERVED: "the model is gone: two runs in a row say so, from two regions",
    Verdict.FAILING: "requests fail more often than they ever do on a usual day",
    Verdict.SILENT: "nothing is heard of it: no worker, or no run for two spacings",
    Verdict.SLOW: "slower than its own last 72 hours, or than a limit that was set",
    Verdict.LEARNING: "too few good samples to say",
    Verdict.OK: "as usual",
}


def first_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict that goes before the others; ok for none."""
    order = list(Verdict)
    return min(verdicts, key=order.index, default=Verdict.OK)


class Blame(StrEnum):
    """The class of an incident: whose fault it looks like."""

    PROVIDER = "provider"
    MODEL = "model"
    REGION_PATH = "region_path"
    PROBER = "prober"
    OURS = "ours"
    QUOTA = "quota"
    UNKNOWN = "unknown"


BLAME_MEANINGS: dict[Blame, str] = {
    Blame.PROVIDER: "the provider, or its path from everywhere",
    Blame.MODEL: "one model at one provider: changed or retired",
    Blame.REGION_PATH: "the path between one region and the provider, or the provider there",
    Blame.PROBER: "our own workers of one region",
    Blame.OURS: "something of ours everywhere: a release, the prompts, the way out",
    Blame.QUOTA: "a rate limit, spent credit or a budget",
    Blame.UNKNOWN: "too little to say",
}

PAGING = frozenset({Blame.PROVIDER, Blame.MODEL})
"""Classes that may wake somebody, unless set otherwise."""


class Trouble(StrEnum):
    """What is wrong in an incident."""

    FIRST_TOKEN = "first_token"  # noqa: S105 - a word, not a secret
    OUTPUT_SPEED = "output_speed"
    FAILURES = "failures"
    QUOTA = "quota"
    GONE = "gone"
