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
"""Classes that may wake somebody; `classes` of a channel names any that it is to be told of."""


class Trouble(StrEnum):
    """What is wrong in an incident."""

    FIRST_TOKEN = "first_token"  # noqa: S105 - a word, not a secret
    OUTPUT_SPEED = "output_speed"
    FAILURES = "failures"
    QUOTA = "quota"
    GONE = "gone"
    TIMING = "timing"


TROUBLE_MEANINGS: dict[Trouble, str] = {
    Trouble.FIRST_TOKEN: "the first token comes later than usual",
    Trouble.OUTPUT_SPEED: "tokens come more slowly than usual",
    Trouble.FAILURES: "requests fail more often than they ever do on a usual day",
    Trouble.QUOTA: "the provider answers with rate limits or a spent quota",
    Trouble.GONE: "the provider says that the model is not there",
    Trouble.TIMING: "our own workers there cannot time as exactly as they must",
}


class UnusualEnd(StrEnum):
    """How an incident eased or ended other than by being as usual again."""

    PART = "part"
    ACCEPTED = "accepted"
    LEFT = "left"
    UNHEARD = "unheard"


UNUSUAL_ENDS: dict[UnusualEnd, str] = {
    UnusualEnd.PART: "part of another incident",
    UnusualEnd.ACCEPTED: "its level is the usual one now",
    UnusualEnd.LEFT: "no longer probed",
    UnusualEnd.UNHEARD: "nothing was heard of it any more",
}


class Slowness(StrEnum):
    """What can be slow about an endpoint; each has a ratio beside a verdict."""

    FIRST_TOKEN = "first_token"  # noqa: S105 - a word, not a secret
    OUTPUT_SPEED = "output_speed"
    END_TO_END = "end_to_end"
    UNDER_LOAD = "under_load"


SLOWNESS_WORDS: dict[Slowness, str] = {
    Slowness.FIRST_TOKEN: "first token",
    Slowness.OUTPUT_SPEED: "output",
    Slowness.END_TO_END: "end to end",
    Slowness.UNDER_LOAD: "under load",
}

SLOW_FIGURES: dict[Trouble, str] = {
    trouble: SLOWNESS_WORDS[Slowness(trouble)]
    for trouble in (Trouble.FIRST_TOKEN, Trouble.OUTPUT_SPEED)
}
"""Troubles that have a ratio, with what is slow."""

SLOWER_FROM = 1.05
"""Times slower than usual from which a figure of a slow endpoint is named."""


class Advice(StrEnum):
    """What somebody must set right about an endpoint; no verdict and no incident follows."""

    AUTH = "auth"
    REJECTED = "rejected"
    FILTERED = "filtered"
    TOO_LITTLE_ROOM = "too_little_room"
    DEGENERATE = "degenerate"


ADVICE_MEANINGS: dict[Advice, str] = {
    Advice.AUTH: "the provider refuses the key",
    Advice.REJECTED: "the provider rejects the request as it is asked",
    Advice.FILTERED: "a content filter stops prompts or answers",
    Advice.TOO_LITTLE_ROOM: "answers are empty: reasoning takes all the room that is asked for",
    Advice.DEGENERATE: "answers repeat themselves, so their figures are left out",
}
