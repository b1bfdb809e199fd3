"""One request, one clock: sends it on a ready connection and notes when every piece came back."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic_ns
from urllib.parse import quote, urlsplit, urlunsplit
from uuid import UUID, uuid5

import httpx2

from pacewatch import __version__
from pacewatch.words.endpoint import Endpoint
from pacewatch.words.fleet import Region, base_url_in
from pacewatch.words.outcome import Outcome
from pacewatch.words.timing import Identity
from probe import adapt, classify, headers
from probe.alarm import Alarm
from probe.arrivals import TimeUp
from probe.classify import Ending
from probe.connect import Link, Target
from probe.protocols.interface import AllTold, End, MalformedAnswer, Piece, WireProtocol
from probe.seen import Seen
from probe.sign import Signer, secrets_in
from probe.stamps import Portion
from probe.together import Start
from probe.transport import client_over
from probe.unpack import Unpacker

MAX_BODY_BYTES = 64 * 1024 * 1024
"""Of an answer, unpacked."""

SLICE_NS = 1_000_000
"""How long what has come is read on before the sockets are looked at again."""

MAX_ERROR_BYTES = 64 * 1024
"""Of a refusal's body, unpacked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request that is ready to be sent."""

    endpoint: Endpoint
    protocol: WireProtocol
    target: Target
    request: httpx2.Request
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """What its headers show of keys and tokens."""


def request_id(execution: UUID, n: int) -> UUID:
    """Return the id under which the n-th request of an execution is sent.

    It has the form of a random UUID, since some servers refuse any other; both sides can derive it.
    """
    return UUID(bytes=uuid5(execution, str(n)).bytes, version=4)


def make_question(  # noqa: PLR0913 - what a request is made of
    *,
    endpoint: Endpoint,
    protocol: WireProtocol,
    region: Region,
    signer: Signer | None,
    prompt: str,
    output_tokens: int,
    request_id: str,
) -> Question:
    """Return the request for a prompt, signed where there is a signer; raises NoSignature."""
    parts = urlsplit(address(endpoint, protocol, region))
    host, is_tls = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if is_tls else 80)
    content = json.dumps(
        protocol.body(endpoint, prompt, output_tokens), ensure_ascii=False, separators=(",", ":")
    ).encode()
    told = {
        "host": parts.netloc.rpartition("@")[2],
        "accept": "text/event-stream, application/json;q=0.9, */*;q=0.1",
        "accept-encoding": "identity",
        "user-agent": f"pacewatch/{__version__}",
        "content-type": "application/json",
        "x-request-id": request_id,
        **protocol.headers(endpoint),
        **{name.lower(): value for name, value in endpoint.headers.items()},
        "content-length": str(len(content)),
    }
    target = quote(parts.path, safe="/:@!$&'()*+,;=%~-._") + (
        f"?{parts.query}" if parts.query else ""
    )
    url = f"{parts.scheme}://{told['host']}{target}"
    signed = {} if signer is None else signer.headers(url, told, content)
    return Question(
        endpoint=endpoint,
        protocol=protocol,
        target=Target(
            scheme=parts.scheme,
            host=host,
            port=port,
            proxy_url=region.proxy_url,
            ca_file=region.ca_file,
        ),
        request=httpx2.Request(
            "POST",
            url,
            headers=[(name.encode(), value.encode()) for name, value in (told | signed).items()],
            content=content,
        ),
        secrets=secrets_in(signed),
    )


def address(endpoint: Endpoint, protocol: WireProtocol, region: Region) -> str:
    """Return the whole URL that the endpoint is asked at from a region; a query stays last."""
    scheme, netloc, path, query, _ = urlsplit(base_url_in(endpoint, region))
    tail, _, more = protocol.path(endpoint).partition("?")
    path = path.rstrip("/")
    whole = path if path.endswith(tail) else path + tail
    return urlunsplit((scheme, netloc, whole, "&".join(part for part in (query, more) if part), ""))


async def measure(question: Question, link: Link, start: Start, seen: Seen) -> None:
    """Note what is seen of the request; never raises for what the other side does."""
    wire = link.wire
    alarm = Alarm(wire, question.endpoint.limits)
    wire.hold_for(start, alarm.begin)
    end_ns = None
    try:
        await _exchange(question, link, seen, alarm)
        end_ns = wire.stamp_ns
    except TimeUp:
        end_ns = alarm.due_ns()
        if alarm.outcome is Outcome.OK:
            seen.end_body()
        elif not seen.has_end and seen.ending is None:
            seen.ending = Ending(outcome=alarm.outcome)
    except Exception as error:  # noqa: BLE001 - the border: every exception becomes an outcome
        if not seen.has_end and seen.ending is None:
            seen.ending = classify.of_exception(error, status=seen.status, has_ended=wire.has_ended)
    finally:
        alarm.stop()
        wire.leave_start()
        wire.close()
    seen.sent_ns, seen.send_gap_ns = wire.sent_ns, wire.send_gap_ns
    seen.end_ns = end_ns or monotonic_ns()
    seen.close()


async def _exchange(question: Question, link: Link, seen: Seen, alarm: Alarm) -> None:
    wire = link.wire
    response = await client_over(wire).send(question.request, stream=True)
    seen.headers_ns, seen.status = wire.stamp_ns, response.status_code
    seen.http = response.http_version.removeprefix("HTTP/")
    told = {
        name.decode("latin-1").lower(): value.decode("latin-1")
        for name, value in response.headers.raw
    }
    now = datetime.now(UTC)
    seen.limits = headers.rate_limits(told, now)
    seen.identity = Identity(request_id=headers.request_id(told))
    if wire.sent_ns is not None:
        alarm.sent(wire.sent_ns)
    coding = told.get("content-encoding", "")
    if not response.is_success:
        body = await _read_refusal(response, coding, alarm)
        seen.ending = classify.of_status(response.status_code, told, body, now)
        adapt.learn(question.endpoint, response.status_code, body)
        return
    seen.told = headers.server_timings(told)
    await _read_answer(question.protocol, link, response, Unpacker(coding), seen, alarm)


async def _read_refusal(response: httpx2.Response, coding: str, alarm: Alarm) -> bytes:
    """Return the start of a refusal's body: what has come in time and within bounds."""
    body = bytearray()
    alarm.refused(monotonic_ns())
    try:
        unpacker = Unpacker(coding)
        async with aclosing(response.aiter_raw()) as stream:
            async for packed in stream:
                for data in unpacker.feed(packed):
                    body += data
                    if len(body) > MAX_ERROR_BYTES:
                        return bytes(body[:MAX_ERROR_BYTES])
    except Exception:  # noqa: BLE001, S110 - the status is told already; the body is a bonus
        pass
    return bytes(body)


async def _read_answer(  # noqa: PLR0913 - the parts of one reading
    protocol: WireProtocol,
    link: Link,
    response: httpx2.Response,
    unpacker: Unpacker,
    seen: Seen,
    alarm: Alarm,
) -> None:
    framing, wire, size = protocol.framing(), link.wire, 0
    looked_ns = monotonic_ns()
    async with aclosing(response.aiter_raw()) as stream:
        async for packed in stream:
            for data in unpacker.feed(packed):
                size += len(data)
                if size > MAX_BODY_BYTES:
                    raise MalformedAnswer("endless")
                for frame in framing.feed(data):
                    if _take(protocol.read(frame), wire.portion, seen, alarm):
                        return
                    if monotonic_ns() - looked_ns > SLICE_NS:
                        await asyncio.sleep(0)
                        looked_ns = monotonic_ns()
    if seen.has_end:
        return
    with suppress(MalformedAnswer):  # a last event that the end of the body tore
        for frame in framing.finish():
            _take(protocol.read(frame), wire.portion, seen, alarm)
    if (plain := framing.plain()) is not None:
        _take(protocol.read_whole(plain), wire.portion, seen, alarm)
    seen.end_body()


def _take(pieces: Sequence[Piece], portion: Portion, seen: Seen, alarm: Alarm) -> bool:
    """Note the pieces of one event, which that read completed; tells whether nothing more is
    wanted.
    """
    stamp_ns, is_last = portion.stamp_ns, False
    portion.events += 1
    for piece in pieces:
        held = len(seen.at_ns)
        seen.take(piece, portion)
        if len(seen.at_ns) > held:
            alarm.token(stamp_ns)
        elif isinstance(piece, End):
            alarm.ended(stamp_ns, is_sure=not piece.needs_body)
            is_last = piece.is_last
        elif isinstance(piece, AllTold):
            is_last = seen.has_end
    return is_last or seen.ending is not None
