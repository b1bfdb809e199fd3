"""The requests of a parallel run: on ready connections, and off together.

How close together their sends usually are is the benchmark's to say (benchmarks/clock, the median
run); a busy machine may part those of any run.
"""

import socket
import threading
from time import monotonic_ns, sleep

import pytest
from support.answers import GOOD, event, good_case, head
from support.probing import probe
from support.replay import Asked, replay
from support.tls import Authority

from pacewatch.words.figures import system_tokens_per_s
from pacewatch.words.fleet import Region
from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import WORKLOADS, Load
from probe import record
from probe.request import request_id
from probe.tokens import Counted

TRIES = 20


def test_ten_requests_are_on_ready_connections_before_the_first_is_sent():
    with replay(good_case()) as served:
        run = probe(f"{served.url}/v1", requests=10)

    assert [timing.outcome for timing in run.timings] == [Outcome.OK] * 10
    assert [timing.n for timing in run.timings] == list(range(10))
    assert run.load is Load.PARALLEL
    assert len(served.accepted_ns) == len(served.asked) == 10
    assert min(timing.sent_us or 0 for timing in run.timings) == 0


def test_all_ten_are_sent_before_any_is_answered():
    all_here = threading.Barrier(10)

    def answer_when_all_have_asked(sock: socket.socket, asked: Asked) -> bool:
        all_here.wait(10)
        sock.sendall(head() + "".join(GOOD).encode())
        return False

    with replay(answer_when_all_have_asked) as served:
        run = probe(f"{served.url}/v1", requests=10)

    assert [timing.outcome for timing in run.timings] == [Outcome.OK] * 10


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("workload", ["short", "standard"])
def test_ten_requests_can_leave_within_two_milliseconds(workload, scheme, tmp_path):
    tls, region = None, Region(name="here")
    if scheme == "https":
        authority = Authority(tmp_path)
        tls, region = authority.serving("localhost"), Region(name="here", ca_file=authority.ca_file)

    def spread_us() -> int:
        with replay(good_case(), tls=tls) as served:
            url = f"{served.url}/v1"
            run = probe(url, requests=10, workload=WORKLOADS[workload], region=region)
        sent_us = [timing.sent_us for timing in run.timings]
        assert None not in sent_us
        return max(at or 0 for at in sent_us)

    assert any(spread_us() <= 2_000 for _ in range(TRIES))


def test_every_request_has_a_prompt_and_an_id_of_its_own():
    with replay(good_case()) as served:
        run = probe(f"{served.url}/v1", requests=10)

    assert len({asked.body for asked in served.asked}) == 10
    assert {asked.headers["x-request-id"] for asked in served.asked} == {
        str(request_id(run.execution, n)) for n in range(10)
    }


def test_the_system_throughput_is_of_all_tokens_over_the_whole_time():
    with replay(good_case([event("Salt"), event(" air"), event(finish="stop")], 100)) as served:
        run = probe(f"{served.url}/v1", requests=4)

    last_us = max((timing.sent_us or 0) + timing.chunks.at_us[-1] for timing in run.timings)
    assert system_tokens_per_s(run) == 8 / last_us * 1e6


def test_a_whole_run_against_nobody_is_ten_refused_connections():
    run = probe("http://127.0.0.1:1/v1", requests=10)

    assert [timing.outcome for timing in run.timings] == [Outcome.CONNECT] * 10
    assert [timing.sent_us for timing in run.timings] == [None] * 10


def test_tokens_are_counted_once_the_last_answer_has_ended(monkeypatch):
    counted_ns: list[int] = []
    ended_ns: list[int] = []
    count = record.count_chunks

    def counting(texts: list[str], kinds: list[str]) -> Counted:
        counted_ns.append(monotonic_ns())
        return count(texts, kinds)

    def one_later_than_the_other(sock: socket.socket, asked: Asked) -> bool:
        sleep(0.1 * len(served.asked))
        ended_ns.append(monotonic_ns())
        sock.sendall(head() + "".join(GOOD).encode())
        return False

    monkeypatch.setattr(record, "count_chunks", counting)
    with replay(one_later_than_the_other) as served:
        run = probe(f"{served.url}/v1", requests=3)

    assert [sum(timing.chunks.tokens) for timing in run.timings] == [2, 2, 2]
    assert len(counted_ns) == len(ended_ns) == 3
    assert min(counted_ns) > max(ended_ns)
