"""What is known of one request beside its figures, in words: who answered, over which connection,
what the provider says of its own times. Pure.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pacewatch.words.figures import figures_of, gaps_of
from pacewatch.words.text import UNKNOWN, count_text, seconds_text, speed_text
from pacewatch.words.timing import Timing


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing that is known."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Things that belong together."""

    name: str
    facts: tuple[Fact, ...]


def groups_of(timing: Timing) -> tuple[Group, ...]:
    """Return all that a record says of a request, without what it does not say."""
    groups = (
        ("Answered by", _identity(timing)),
        ("Failure", _failure(timing)),
        ("Connection", _connection(timing)),
        ("The provider's own times", _theirs(timing)),
        ("Tokens", _tokens(timing)),
        ("Rate limits, as told", _limits(timing)),
        ("Stamps", _stamps(timing)),
    )
    found = (Group(name=name, facts=tuple(_told(facts))) for name, facts in groups)
    return tuple(group for group in found if group.facts)


Told = Iterator[tuple[str, str | None]]
"""Names with texts; None: nothing is known."""


def _told(facts: Told) -> Iterator[Fact]:
    return (Fact(name=name, text=text) for name, text in facts if text not in {None, "", UNKNOWN})


def _identity(timing: Timing) -> Told:
    told = timing.identity
    yield "request id", told.request_id
    yield "model", told.model
    yield "fingerprint", told.fingerprint
    yield "tier", told.tier
    yield "finish", timing.finish


def _failure(timing: Timing) -> Told:
    fault = timing.fault
    if fault is None:
        return
    yield "HTTP status", None if fault.status is None else str(fault.status)
    yield "error", fault.type
    yield "asked to wait", _s(fault.retry_after_s)


def _connection(timing: Timing) -> Told:
    link = timing.connection
    yield "kind", "used before" if link.reused else "new"
    yield "HTTP", link.http
    for name, took in (("DNS", link.dns_us), ("TCP", link.connect_us), ("TLS", link.tls_us)):
        yield name, _us(took)
    before, after = link.rtt_us
    yield "round trip before", _us(before)
    yield "round trip after", _us(after)
    yield "retransmissions", None if link.retransmits is None else str(link.retransmits)
    yield "proxy", "an egress proxy stood between" if link.via_proxy else None


def _theirs(timing: Timing) -> Told:
    """Give the provider's times beside ours; ours less theirs is what path and queue cost."""
    told = timing.server_timings
    if told is None:
        return
    ours = figures_of(timing)
    yield "time to first token", _beside(told.ttft_s, ours.ttft_s)
    yield "queue", _s(told.queue_s)
    yield "prompt", _s(told.prompt_s)
    yield "completion", _s(told.completion_s)
    yield "in all", _beside(told.total_s, ours.end_to_end_s)
    if told.tokens_per_s is not None:
        measured = speed_text(ours.output_tokens_per_s)
        yield "output speed", f"{speed_text(told.tokens_per_s)} tokens/s; measured: {measured}"
    yield "as told", ", ".join(f"{name} {value}" for name, value in told.as_told.items())


def _beside(theirs_s: float | None, ours_s: float | None) -> str | None:
    if theirs_s is None:
        return None
    if ours_s is None:
        return seconds_text(theirs_s)
    text = f"{seconds_text(theirs_s)}; measured: {seconds_text(ours_s)}"
    if ours_s < theirs_s:
        return text
    return f"{text}, so path and queue took {seconds_text(ours_s - theirs_s)}"


def _tokens(timing: Timing) -> Told:
    yield "output, o200k_base", _n(sum(timing.chunks.tokens))
    yield "chunks with text", _n(len(timing.chunks.at_us))
    told = timing.provider_tokens
    if told is None:
        return
    yield "output, as billed", _n(told.output)
    yield "reasoning of that", _n(told.reasoning)
    yield "input, as billed", _n(told.input)
    yield "from a cache", _n(told.cached_input)


def _limits(timing: Timing) -> Told:
    told = timing.limits
    if told is None:
        return
    yield "requests", _left(told.requests_left, told.requests_limit, told.requests_reset_s)
    yield "tokens", _left(told.tokens_left, told.tokens_limit, told.tokens_reset_s)


def _left(left: int | None, limit: int | None, reset_s: float | None) -> str | None:
    if left is None:
        return None
    whole = "" if limit is None else f" of {limit:,}"
    reset = "" if reset_s is None else f", whole again in {seconds_text(reset_s)}"
    return f"{left:,} left{whole}{reset}"


def _stamps(timing: Timing) -> Told:
    yield "noted by", {"kernel": "the kernel", "user": "the reading process"}[timing.stamp]
    yield "sent after the first", _us(timing.sent_us or None)
    yield "headers after", _us(timing.headers_us)
    yield "ended after", _us(timing.end_us)
    gaps = gaps_of(timing)
    yield "gaps between arrivals, p50", _s(gaps.p50_s)
    yield "p99", _s(gaps.p99_s)


def _us(us: int | None) -> str | None:
    return None if us is None else seconds_text(us / 1e6)


def _s(seconds: float | None) -> str | None:
    return None if seconds is None else seconds_text(seconds)


def _n(count: int | None) -> str | None:
    return None if count is None else count_text(count)
