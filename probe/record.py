"""What was seen of a request -> its Timing: microseconds, counted tokens, flags, no text."""

from pacewatch.words.outcome import Outcome
from pacewatch.words.timing import (
    Chunks,
    Connection,
    Fault,
    Identity,
    ServerTimings,
    Stamp,
    Timing,
)
from probe.classify import Ending, without_secret
from probe.connect import Link
from probe.flags import flags_of
from probe.seen import Seen
from probe.tokens import Counted, count_chunks, text_bytes

_NO_ENDING = Ending(outcome=Outcome.INTERNAL)


def timing_of(  # noqa: PLR0913 - what a timing is made of
    seen: Seen,
    *,
    n: int,
    link: Link | None,
    earliest_ns: int,
    output_tokens: int,
    secrets: tuple[str, ...],
) -> Timing:
    """Return the timing of the n-th request of a run whose earliest send was then."""
    ending = seen.ending or _NO_ENDING
    counted = count_chunks(seen.texts, seen.kinds)
    chunks = _chunks(seen, counted)
    return Timing(
        n=n,
        outcome=ending.outcome,
        fault=_without_secrets(ending.fault, secrets),
        flags=flags_of(
            seen,
            outcome=ending.outcome,
            at_us=chunks.at_us,
            counted=counted,
            output_tokens=output_tokens,
            via_proxy=link is not None and link.via_proxy,
        ),
        connection=_connection(seen, link),
        sent_us=None if seen.sent_ns is None else (seen.sent_ns - earliest_ns) // 1000,
        headers_us=_since_send(seen, seen.headers_ns),
        end_us=_since_send(seen, seen.end_ns),
        stamp=Stamp.KERNEL if seen.first and seen.is_kernel else Stamp.USER,
        chunks=chunks,
        provider_tokens=seen.tokens,
        server_timings=_told(seen.told, secrets),
        identity=Identity(
            model=without_secret(seen.identity.model, secrets),
            fingerprint=without_secret(seen.identity.fingerprint, secrets),
            tier=without_secret(seen.identity.tier, secrets),
            request_id=without_secret(seen.identity.request_id, secrets),
        ),
        limits=seen.limits,
        finish=None if seen.finish is None else without_secret(seen.finish.word, secrets),
    )


def _chunks(seen: Seen, counted: Counted) -> Chunks:
    if seen.sent_ns is None or not seen.at_ns:
        return Chunks()
    return Chunks(
        at_us=tuple(max(0, at - seen.sent_ns) // 1000 for at in seen.at_ns),
        size_bytes=tuple(text_bytes(text) for text in seen.texts),
        tokens=counted.of_chunks,
        kind="".join(seen.kinds),
    )


def _connection(seen: Seen, link: Link | None) -> Connection:
    if link is None:
        return Connection()
    rtt_us, retransmits = link.wire.closed_tcp
    return Connection(
        dns_us=link.dns_us,
        connect_us=link.connect_us,
        tls_us=link.tls_us,
        via_proxy=link.via_proxy,
        http=seen.http,
        rtt_us=(link.wire.sent_rtt_us, rtt_us),
        retransmits=retransmits,
    )


def _since_send(seen: Seen, at_ns: int | None) -> int | None:
    if seen.sent_ns is None or at_ns is None:
        return None
    return max(0, at_ns - seen.sent_ns) // 1000


def _without_secrets(fault: Fault | None, secrets: tuple[str, ...]) -> Fault | None:
    if fault is None:
        return None
    return Fault(
        status=fault.status,
        type=without_secret(fault.type, secrets),
        retry_after_s=fault.retry_after_s,
    )


def _told(told: ServerTimings | None, secrets: tuple[str, ...]) -> ServerTimings | None:
    """Return the provider's own timings without any text that repeats a secret."""
    if told is None or not any(isinstance(value, str) for value in told.as_told.values()):
        return told
    kept = {
        name: value
        for name, value in told.as_told.items()
        if not isinstance(value, str) or without_secret(value, secrets)
    }
    return ServerTimings(
        queue_s=told.queue_s,
        prompt_s=told.prompt_s,
        completion_s=told.completion_s,
        total_s=told.total_s,
        ttft_s=told.ttft_s,
        tokens_per_s=told.tokens_per_s,
        as_told=kept,
    )
