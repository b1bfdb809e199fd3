"""Time limits, and the bounds that an endless or hostile answer meets. Memory stays small."""

import json
import socket
import threading
import time
import tracemalloc
import zlib

import pytest
from support.answers import GOOD, endless, event, good_case, head, raw
from support.probing import probe, probe_once
from support.replay import Asked, replay

from pacewatch.words.endpoint import Limits
from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import Workload
from pacewatch.words.timing import Timing
from probe import asking, request, seen
from probe.protocols import sse

SOON = Limits(first_token_s=0.3, stall_s=0.3, total_s=5)


def kind_of(timing: Timing) -> str | None:
    return timing.fault.type if timing.fault is not None else None


@pytest.mark.parametrize(
    "player",
    [
        endless(b"", b"", every_s=0.05),
        endless(head(), b": busy\n\n", every_s=0.05),
        endless(head(), event("").encode(), every_s=0.05),
        endless(b"HTTP/1.1 200 OK\r\n", b"x-slow: 1\r\n", every_s=0.05),
        endless(b"HTTP/1.1 102 Processing\r\n\r\n", b"HTTP/1.1 102 X\r\n\r\n", every_s=0.05),
    ],
    ids=["silence", "comments", "empty deltas", "a slow head", "informational heads"],
)
def test_only_a_token_stops_the_first_token_limit(player):
    with replay(player) as served:
        timing = probe_once(f"{served.url}/v1", limits=SOON)

    assert timing.outcome is Outcome.TIMEOUT_FIRST_TOKEN
    assert (timing.end_us or 0) >= 300_000


@pytest.mark.parametrize("again", [b": busy\n\n", event("").encode()])
def test_only_tokens_extend_the_stall_limit(again):
    start = head() + event("Salt").encode() + event(" air").encode()
    with replay(endless(start, again, every_s=0.05)) as served:
        timing = probe_once(f"{served.url}/v1", limits=SOON)

    assert timing.outcome is Outcome.TIMEOUT_STALL
    assert len(timing.chunks.at_us) == 2


def test_tokens_extend_the_stall_limit_and_not_the_total():
    limits = Limits(first_token_s=5, stall_s=0.5, total_s=1.2)
    with replay(endless(head(), event("Salt").encode(), every_s=0.02)) as served:
        timing = probe_once(f"{served.url}/v1", limits=limits)

    assert timing.outcome is Outcome.TIMEOUT_TOTAL
    assert (timing.end_us or 0) >= 1_200_000
    assert len(timing.chunks.at_us) > 3


def test_a_first_token_limit_beyond_the_total_is_the_total():
    limits = Limits(first_token_s=5, stall_s=5, total_s=0.3)
    with replay(endless(head(), b": busy\n\n", every_s=0.05)) as served:
        timing = probe_once(f"{served.url}/v1", limits=limits)

    assert timing.outcome is Outcome.TIMEOUT_TOTAL


def test_a_server_that_never_takes_the_request_is_without_its_first_token():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        timing = probe_once(
            f"http://127.0.0.1:{listener.getsockname()[1]}/v1",
            limits=SOON,
            workload=Workload(name="huge", input_tokens=2_000_000, output_tokens=10),
        )

    assert timing.outcome is Outcome.TIMEOUT_FIRST_TOKEN


def test_a_server_that_refuses_before_it_has_read_is_heard():
    body = json.dumps({"error": {"code": "request_too_large"}}).encode()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(5)

        def answer() -> None:
            sock, _ = listener.accept()
            sock.recv(1000)
            sock.sendall(b"HTTP/1.1 413 Too Large\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            time.sleep(0.5)
            sock.close()

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        timing = probe_once(
            f"http://127.0.0.1:{listener.getsockname()[1]}/v1",
            workload=Workload(name="huge", input_tokens=2_000_000, output_tokens=10),
        )
        thread.join(5)

    assert timing.outcome is Outcome.REJECTED
    assert timing.fault is not None
    assert timing.fault.status == 413


def test_after_a_finish_reason_usage_is_waited_for_two_seconds_at_most():
    texts = [*GOOD[:3]]
    case = good_case(texts)
    case["response"]["end"] = "hang"
    with replay(case) as served:
        timing = probe_once(f"{served.url}/v1")

    assert timing.outcome is Outcome.OK
    assert 2_000_000 <= (timing.end_us or 0) < 4_000_000


@pytest.mark.parametrize("end", ["cut", "reset"])
def test_after_a_finish_reason_a_broken_connection_is_no_fault(end):
    case = good_case(GOOD[:3])
    case["response"] |= {"end": end, "end_after_ms": 150}
    with replay(case) as served:
        timing = probe_once(f"{served.url}/v1")

    assert timing.outcome is Outcome.OK
    assert timing.finish == "stop"


@pytest.mark.parametrize("end", ["cut", "reset", "close"])
def test_before_it_a_broken_or_ended_connection_is_disconnected(end):
    case = good_case(GOOD[:2])
    case["response"] |= {"end": end, "end_after_ms": 150}
    with replay(case) as served:
        timing = probe_once(f"{served.url}/v1")

    assert timing.outcome is Outcome.DISCONNECTED
    assert len(timing.chunks.at_us) == 2


def test_an_event_that_the_end_tears_is_disconnected_not_malformed():
    with replay(raw(head() + event("Salt").encode() + b'data: {"choices": [{"del')) as served:
        assert probe_once(f"{served.url}/v1").outcome is Outcome.DISCONNECTED


def test_no_answer_at_all_is_disconnected():
    with replay(raw()) as served:
        assert probe_once(f"{served.url}/v1").outcome is Outcome.DISCONNECTED


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ((b"SSH-2.0-OpenSSH\r\n",), "no_http"),
        ((b"HTTP/1.1 two hundred\r\n\r\n",), "bad_http"),
        ((b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",), "bad_http"),
        ((head(), b"data: {nonsense\n\n"), "bad_json"),
        ((head(content_encoding="gzip"), b"data: plain\n\n"), "bad_compression"),
        ((head(content_encoding="br"), b"x"), "unknown_coding"),
        ((head(content_type="application/json"), b'{"choices": []}'), "no_event_stream"),
        ((head(content_type="text/plain"), b"upstream is away"), "no_event_stream"),
    ],
)
def test_what_is_not_the_protocol_is_malformed(parts, kind):
    with replay(raw(*parts)) as served:
        timing = probe_once(f"{served.url}/v1")

    assert (timing.outcome, kind_of(timing)) == (Outcome.MALFORMED, kind)


def test_the_content_type_does_not_matter_where_the_stream_is_one():
    with replay(raw(head(content_type="text/plain"), "".join(GOOD).encode())) as served:
        assert probe_once(f"{served.url}/v1").outcome is Outcome.OK


def _peak_bytes(player, **fields) -> tuple[Timing, int]:
    probe_once("http://nowhere.invalid/v1")  # what is loaded once is loaded
    with replay(player) as served:
        tracemalloc.start()
        try:
            timing = probe_once(f"{served.url}/v1", **fields)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    return timing, peak


def test_a_line_without_an_end_is_malformed_and_not_kept():
    timing, peak = _peak_bytes(endless(head() + b"data: ", b"x" * 65_536))

    assert (timing.outcome, kind_of(timing)) == (Outcome.MALFORMED, "line_too_long")
    assert peak < 8 * sse.MAX_LINE_BYTES


def test_an_event_without_an_end_is_malformed_and_not_kept():
    timing, peak = _peak_bytes(endless(head(), b"data: " + b"x" * 60_000 + b"\n"))

    assert (timing.outcome, kind_of(timing)) == (Outcome.MALFORMED, "event_too_long")
    assert peak < 8 * sse.MAX_LINE_BYTES


def test_a_compression_bomb_is_malformed_and_not_unpacked():
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    bomb = packer.compress(bytes(300_000_000)) + packer.flush()
    timing, peak = _peak_bytes(raw(head(content_encoding="gzip"), bomb))

    assert timing.outcome is Outcome.MALFORMED
    assert peak < 8 * sse.MAX_LINE_BYTES


def test_an_endless_stream_of_tokens_is_malformed(monkeypatch):
    monkeypatch.setattr(asking, "MAX_CHUNKS", 500)
    with replay(endless(head(), event("x").encode() * 50)) as served:
        timing = probe_once(f"{served.url}/v1")

    assert (timing.outcome, kind_of(timing)) == (Outcome.MALFORMED, "endless")
    assert len(timing.chunks.at_us) == 500


def test_an_endless_text_in_few_tokens_is_malformed(monkeypatch):
    monkeypatch.setattr(seen, "MAX_TEXT_SIZE", 100_000)
    with replay(endless(head(), event("x" * 20_000).encode())) as served:
        timing = probe_once(f"{served.url}/v1")

    assert (timing.outcome, kind_of(timing)) == (Outcome.MALFORMED, "endless")


def test_an_endless_stream_of_comments_is_malformed(monkeypatch):
    monkeypatch.setattr(request, "MAX_BODY_BYTES", 1_000_000)
    with replay(endless(head(), b": busy\n\n" * 1000)) as served:
        timing = probe_once(f"{served.url}/v1")

    assert (timing.outcome, kind_of(timing)) == (Outcome.MALFORMED, "endless")


@pytest.mark.parametrize("again", [b"x" * 65_536, b""])
def test_a_refusal_whose_body_never_ends_is_what_its_status_says(monkeypatch, again):
    monkeypatch.setattr("probe.alarm.ERROR_BODY_NS", 300_000_000)
    with replay(endless(head(429, retry_after="7"), again, every_s=0.01)) as served:
        timing = probe_once(f"{served.url}/v1")

    assert timing.outcome is Outcome.RATE_LIMITED
    assert timing.fault is not None
    assert timing.fault.retry_after_s == 7


def test_a_refusal_that_cannot_be_unpacked_is_what_its_status_says():
    with replay(raw(head(429, content_encoding="br", retry_after="7"), b"\x0b\x02\x80")) as served:
        timing = probe_once(f"{served.url}/v1")

    assert timing.outcome is Outcome.RATE_LIMITED


def test_the_key_is_in_no_record_even_where_the_provider_repeats_it():
    key = "test-key-0123456789"
    body = json.dumps({"error": {"code": f"bad {key}", "message": key}}).encode()
    with replay(raw(head(401, x_request_id=key), body)) as served:
        run = probe(f"{served.url}/v1", key=key)

    assert run.timings[0].outcome is Outcome.AUTH
    assert key not in repr(run)


def test_a_run_that_cannot_be_put_is_our_own_fault():
    timing = probe_once(
        "http://127.0.0.1:1/v1", workload=Workload(name="tiny", input_tokens=3, output_tokens=1)
    )

    assert (timing.outcome, kind_of(timing)) == (Outcome.INTERNAL, "ValueError")


def test_what_a_server_refuses_to_be_asked_is_left_out_of_the_next_run():
    asked_bodies: list[dict[str, object]] = []

    def strict(sock: socket.socket, asked: Asked) -> bool:
        asked_bodies.append(json.loads(asked.body))
        if "stream_options" in asked_bodies[-1]:
            sock.sendall(head(422) + b'{"detail": [{"loc": ["body", "stream_options"]}]}')
        else:
            sock.sendall(head() + "".join(GOOD).encode())
        return False

    with replay(strict) as served:
        first = probe_once(f"{served.url}/v1")
        second = probe_once(f"{served.url}/v1")

    assert (first.outcome, second.outcome) == (Outcome.REJECTED, Outcome.OK)
    assert len(asked_bodies) == 2
