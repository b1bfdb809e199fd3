"""How a request ended, and why a run was not made."""

from enum import StrEnum


class Outcome(StrEnum):
    """How a request ended, the most specific first; where two fit, the earlier one is told."""

    OK = "ok"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    AUTH = "auth"
    PAYMENT = "payment"
    FILTERED = "filtered"
    NOT_SERVED = "not_served"
    REJECTED = "rejected"
    SERVER_ERROR = "server_error"
    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT_FIRST_TOKEN = "timeout_first_token"  # noqa: S105 - a word, not a secret
    TIMEOUT_STALL = "timeout_stall"
    TIMEOUT_TOTAL = "timeout_total"
    DISCONNECTED = "disconnected"
    STREAM_ERROR = "stream_error"
    EMPTY = "empty"
    MALFORMED = "malformed"
    INTERNAL = "internal"


OUTCOME_MEANINGS: dict[Outcome, str] = {
    Outcome.OK: "the answer reached its end; stopping at the token limit is one",
    Outcome.RATE_LIMITED: "HTTP 429",
    Outcome.OVERLOADED: "HTTP 529 or 503",
    Outcome.AUTH: "HTTP 401 or 403: the key was refused",
    Outcome.PAYMENT: "HTTP 402, or an error code that says the quota is spent",
    Outcome.FILTERED: "the provider's content filter stopped the prompt or the answer",
    Outcome.NOT_SERVED: "HTTP 404, or an error code that says the model is retired or unknown",
    Outcome.REJECTED: "any other HTTP 4xx, and any 3xx: redirects are not followed",
    Outcome.SERVER_ERROR: "any other HTTP 5xx",
    Outcome.DNS: "the host name did not resolve",
    Outcome.CONNECT: "no TCP connection: refused, unreachable, or not within the connect limit",
    Outcome.TLS: "the TLS handshake or the certificate failed",
    Outcome.TIMEOUT_FIRST_TOKEN: "no generated text within the first-token limit",
    Outcome.TIMEOUT_STALL: "generated text stopped for longer than the stall limit",
    Outcome.TIMEOUT_TOTAL: "the answer took longer than the total limit",
    Outcome.DISCONNECTED: "the connection ended before the protocol's end of the answer",
    Outcome.STREAM_ERROR: "the provider told an error inside a stream that began with 200",
    Outcome.EMPTY: "the answer ended well and held no generated text",
    Outcome.MALFORMED: "what came was not the protocol, or broke a bound",
    Outcome.INTERNAL: "a fault of our own; never counted against a provider",
}

OUTCOME_TEXTS: dict[Outcome, str] = {
    Outcome.OK: "ok",
    Outcome.RATE_LIMITED: "rate limited (429)",
    Outcome.OVERLOADED: "overloaded (503 or 529)",
    Outcome.AUTH: "the key was refused (401 or 403)",
    Outcome.PAYMENT: "quota or credit is spent",
    Outcome.FILTERED: "stopped by a content filter",
    Outcome.NOT_SERVED: "no such model there (404)",
    Outcome.REJECTED: "the request was rejected (4xx)",
    Outcome.SERVER_ERROR: "server error (5xx)",
    Outcome.DNS: "the host name does not resolve",
    Outcome.CONNECT: "no connection",
    Outcome.TLS: "TLS failed",
    Outcome.TIMEOUT_FIRST_TOKEN: "no first token in time (limits.first_token_s)",
    Outcome.TIMEOUT_STALL: "stopped midway for too long (limits.stall_s)",
    Outcome.TIMEOUT_TOTAL: "not finished in time (limits.total_s)",
    Outcome.DISCONNECTED: "broke off",
    Outcome.STREAM_ERROR: "an error within the answer",
    Outcome.EMPTY: "no text",
    Outcome.MALFORMED: "not the protocol's answer",
    Outcome.INTERNAL: "a fault of our own",
}
"""What a board says of it, in a few words; of a time limit, the setting that moves it."""


def outcome_text(outcome: str) -> str:
    """Return what a board says of an outcome; of one that this version does not know, its name."""
    return OUTCOME_TEXTS[Outcome(outcome)] if outcome in set(Outcome) else outcome


VOTING_OUTCOMES = frozenset(
    {
        Outcome.OVERLOADED,
        Outcome.SERVER_ERROR,
        Outcome.DNS,
        Outcome.CONNECT,
        Outcome.TLS,
        Outcome.TIMEOUT_FIRST_TOKEN,
        Outcome.TIMEOUT_STALL,
        Outcome.TIMEOUT_TOTAL,
        Outcome.DISCONNECTED,
        Outcome.STREAM_ERROR,
        Outcome.EMPTY,
        Outcome.MALFORMED,
    }
)
"""Outcomes that vote as failures of the endpoint."""


class Decline(StrEnum):
    """Why a worker did not run a slot that reached it."""

    LATE = "late"
    BUDGET = "budget"
    HEADROOM = "headroom"
    NO_KEY = "no_key"
    UNKNOWN_ENDPOINT = "unknown_endpoint"
    CATALOG = "catalog"
    OUTBOX_FULL = "outbox_full"
    PAUSED = "paused"


DECLINE_MEANINGS: dict[Decline, str] = {
    Decline.LATE: "its turn came too late",
    Decline.BUDGET: "a daily cap leaves no room",
    Decline.HEADROOM: "the provider's headers leave too little of a rate limit",
    Decline.NO_KEY: "the worker has no key",
    Decline.UNKNOWN_ENDPOINT: "the worker's file lacks the endpoint",
    Decline.CATALOG: "the worker cannot ask in this way",
    Decline.OUTBOX_FULL: "the worker's disk is full",
    Decline.PAUSED: "the region rests",
}


class Missed(StrEnum):
    """Why a slot was not run, where no worker declined it."""

    NOT_SENT = "not_sent"
    NO_WORKER = "no_worker"
    LOST = "lost"


MISSED_REASONS = (*(str(why) for why in Missed), *(f"declined:{why}" for why in Decline))
"""Every reason a missed slot can have, as stored and as the label of its counter."""

MISSED_MEANINGS: dict[str, str] = {
    Missed.NOT_SENT: "the centre did not send it while it was valid",
    Missed.NO_WORKER: "no worker of the region was heard of",
    Missed.LOST: "it was sent, and no worker told of it",
    f"declined:{Decline.LATE}": "it reached the worker when it was no longer valid",
    f"declined:{Decline.BUDGET}": "the worker's daily budget would not have lasted",
    f"declined:{Decline.HEADROOM}": "the provider's rate limit left too little room",
    f"declined:{Decline.NO_KEY}": "the worker has no key for it",
    f"declined:{Decline.UNKNOWN_ENDPOINT}": "the worker's catalog does not know the endpoint",
    f"declined:{Decline.CATALOG}": "the worker's version cannot measure it",
    f"declined:{Decline.OUTBOX_FULL}": "the worker's disk is full",
    f"declined:{Decline.PAUSED}": "the centre lets the region rest",
}
"""What each reason says to a person."""
