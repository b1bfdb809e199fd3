"""The reader process: what it brings, what it bounds, and how it comes and goes."""

import asyncio
import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from support.answers import event, good_case
from support.probing import probe, probe_once
from support.replay import replay

from pacewatch.words.endpoint import Limits
from pacewatch.words.outcome import Outcome
from pacewatch.words.timing import Stamp
from probe import channel
from probe.arrivals import HELD_BYTES, Arrivals
from probe.channel import Channel
from probe.entries import ENTRY_COST_BYTES
from probe.network import stamp_arrivals
from probe.priority import ORDINARY, SHORT_SLICE
from probe.reading import Reading

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's stamps are Linux'")

STEADY = [event(f" w{n}") for n in range(30)] + [event(finish="stop"), "data: [DONE]\n\n"]


@pytest.fixture
def reading():
    own = Reading()
    yield own
    own.close()


def wait_for(holds: Callable[[], object], timeout_s: float = 20) -> None:
    end = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def test_stamps_are_the_kernels_and_never_fall(reading):
    with replay(good_case(STEADY, every_ms=3)) as served:
        timing = probe_once(f"{served.url}/v1", reading=reading)

    at_us = timing.chunks.at_us
    assert (timing.outcome, timing.stamp) == (Outcome.OK, Stamp.KERNEL)
    assert len(at_us) == 30
    assert all(before <= after for before, after in itertools.pairwise(at_us))
    assert at_us[-1] <= (timing.end_us or 0)


def test_without_a_reader_stamps_are_this_processs_own_and_say_so():
    with replay(good_case()) as served:
        timing = probe_once(f"{served.url}/v1", reading=None)

    assert (timing.outcome, timing.stamp) == (Outcome.OK, Stamp.USER)


def test_where_no_reader_can_be_started_the_process_reads_itself(reading, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with replay(good_case()) as served:
        timing = probe_once(f"{served.url}/v1", reading=reading)

    assert (timing.outcome, timing.stamp) == (Outcome.OK, Stamp.USER)


def test_a_reader_that_dies_makes_its_runs_internal_and_the_next_has_a_new_one(reading):
    with replay(good_case(STEADY, every_ms=40)) as served:
        first: list[int] = []

        def kill() -> None:
            wait_for(lambda: served.asked and served.asked[0].sends)
            first.append(reading.pid or 0)
            os.kill(first[0], signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        lost = probe(f"{served.url}/v1", requests=3, reading=reading)
        thread.join()
        good = probe_once(f"{served.url}/v1", reading=reading)

    assert {timing.outcome for timing in lost.timings} == {Outcome.INTERNAL}
    assert (good.outcome, good.stamp) == (Outcome.OK, Stamp.KERNEL)
    assert reading.pid not in (None, first[0])


def test_a_reader_that_hangs_is_our_own_fault_and_is_replaced(reading, monkeypatch):
    monkeypatch.setattr(channel, "ANSWER_S", 0.5)
    limits = Limits(first_token_s=5, stall_s=0.3, total_s=10)
    with replay(good_case(STEADY[:3], every_ms=100)) as served:

        def halt() -> None:
            wait_for(lambda: served.asked and len(served.asked[0].sends) > 1)
            os.kill(reading.pid or 0, signal.SIGSTOP)

        thread = threading.Thread(target=halt)
        thread.start()
        lost = probe_once(f"{served.url}/v1", reading=reading, limits=limits)
        thread.join()
    with replay(good_case()) as served:
        good = probe_once(f"{served.url}/v1", reading=reading)

    assert lost.outcome is Outcome.INTERNAL
    assert (good.outcome, good.stamp) == (Outcome.OK, Stamp.KERNEL)


def test_what_ends_its_parent_ends_the_reader_only_with_it(reading):
    pid = reading.start().pid
    assert pid
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(pid, number)
    with replay(good_case()) as served:
        timing = probe_once(f"{served.url}/v1", reading=reading)

    assert (timing.stamp, reading.pid) == (Stamp.KERNEL, pid)
    reading.close()
    wait_for(lambda: not psutil.pid_exists(pid))


def test_a_parent_that_is_killed_leaves_no_reader():
    words = [
        "import time",
        "from probe.reading import Reading",
        "print(Reading().start().pid, flush=True)",
        "time.sleep(60)",
    ]
    parent = subprocess.Popen([sys.executable, "-c", "\n".join(words)], stdout=subprocess.PIPE)
    assert parent.stdout
    pid = int(parent.stdout.readline())
    assert psutil.pid_exists(pid)
    parent.kill()
    parent.wait(10)
    parent.stdout.close()

    wait_for(lambda: not psutil.pid_exists(pid))


def test_two_hundred_requests_leave_no_descriptor_and_no_socket(reading):
    def held() -> tuple[int, int]:
        folders = (Path("/proc/self/fd"), Path(f"/proc/{reading.pid}/fd"))
        return tuple(len(list(folder.iterdir())) for folder in folders)

    with replay(good_case(every_ms=0)) as served:
        probe(f"{served.url}/v1", requests=10, reading=reading)
        wait_for(lambda: held()[1] < 10)
        before = held()
        for _ in range(20):
            run = probe(f"{served.url}/v1", requests=10, reading=reading)
            assert {timing.outcome for timing in run.timings} == {Outcome.OK}
        wait_for(lambda: held() <= before)


def test_a_reader_is_small():
    own = Reading()
    pid = own.start().pid
    assert pid
    pss_mb = psutil.Process(pid).memory_full_info().pss / 2**20
    own.close()

    assert pss_mb < 10


@pytest.mark.parametrize("asked", [SHORT_SLICE, ORDINARY])
def test_a_reader_takes_no_better_priority_than_it_was_asked_to(asked):
    own = Reading(asked)
    child = own.start()
    assert child.pid
    policy = os.sched_getscheduler(child.pid)
    own.close()

    assert child.priority in {asked, ORDINARY}
    assert policy == os.SCHED_OTHER


def test_a_reader_outlives_a_channel_that_ends_while_its_sockets_bring_something(reading):
    async def leave(listener: socket.socket) -> None:
        own = await reading.open_channel()
        assert own is not None
        pairs = []
        for _ in range(5):
            sock, _ = await watched(listener.getsockname(), own)
            pairs.append((sock, listener.accept()[0]))
        os.kill(reading.pid or 0, signal.SIGSTOP)
        own.close()
        for sock, served in pairs:
            served.sendall(b"x")
            served.close()
            sock.close()
        os.kill(reading.pid or 0, signal.SIGCONT)
        after = await reading.open_channel()
        assert after is not None
        after.close()

    pid = reading.start().pid
    with socket.create_server(("127.0.0.1", 0)) as listener:
        asyncio.run(leave(listener))

    assert reading.pid == pid


# What is judged by stamps, whenever this process gets round to it


class Distracted(Reading):
    """A reading whose loop has something else to do for a while, soon after a run has begun."""

    def __init__(self, *, after_s: float, for_s: float) -> None:
        super().__init__()
        self._distraction = (after_s, time.sleep, for_s)

    async def open_channel(self) -> Channel | None:
        opened = await super().open_channel()
        asyncio.get_running_loop().call_later(*self._distraction)
        return opened


def test_a_limit_is_judged_by_when_text_came_not_by_when_it_was_read_on():
    own = Distracted(after_s=0.1, for_s=2)
    limits = Limits(first_token_s=1, stall_s=1, total_s=8)
    with replay(good_case(STEADY, every_ms=20)) as served:
        timing = probe_once(f"{served.url}/v1", reading=own, limits=limits)
    own.close()

    assert timing.outcome is Outcome.OK
    assert len(timing.chunks.at_us) == 30
    assert timing.chunks.at_us[-1] < 2_000_000
    assert (timing.end_us or 0) < 2_000_000


def test_text_after_a_limit_does_not_count_though_it_is_there_when_one_looks():
    own = Distracted(after_s=0.15, for_s=2)
    limits = Limits(first_token_s=5, stall_s=0.4, total_s=8)
    with replay(good_case(every_ms=900)) as served:
        timing = probe_once(f"{served.url}/v1", reading=own, limits=limits)
    own.close()

    assert timing.outcome is Outcome.TIMEOUT_STALL
    assert len(timing.chunks.at_us) == 1


# Bounds


class Flood:
    """A server that sends as fast as it is let, and counts."""

    def __init__(self, portion: bytes, most_bytes: int) -> None:
        self.sent_bytes = 0
        self._portion, self._most_bytes = portion, most_bytes
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = self._listener.getsockname()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        with suppress(OSError):
            sock, _ = self._listener.accept()
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with sock:
                while self.sent_bytes < self._most_bytes:
                    sock.sendall(self._portion)
                    self.sent_bytes += len(self._portion)

    def close(self) -> None:
        self._listener.close()
        self._thread.join(10)

    async def stands_still(self) -> int:
        """Wait until it is not let any more, and return how much it sent."""
        before = -1
        while before != self.sent_bytes:
            before = self.sent_bytes
            await asyncio.sleep(0.5)
        return before


async def watched(address: tuple[str, int], own: Channel) -> tuple[socket.socket, Arrivals]:
    sock = socket.socket()
    sock.setblocking(False)
    stamp_arrivals(sock)
    await asyncio.get_running_loop().sock_connect(sock, address)
    arrivals = Arrivals(sock)
    own.watch(sock, arrivals)
    await own.catch_up()
    return sock, arrivals


def test_what_nobody_takes_is_bounded_and_all_of_it_comes_once_it_is_taken(reading):
    total = 40_000_000

    async def run() -> tuple[int, int, int]:
        own = await reading.open_channel()
        assert own is not None
        reader_process = psutil.Process(reading.pid)
        served = Flood(bytes(range(250)) * 400, total)
        sock, arrivals = await watched(served.address, own)
        stuck_bytes = await served.stands_still()
        rss_bytes = reader_process.memory_info().rss
        taken = 0
        while data := await arrivals.take():
            taken += len(data)
        arrivals.stop()
        own.close()
        sock.close()
        served.close()
        return stuck_bytes, rss_bytes, taken

    stuck_bytes, rss_bytes, taken = asyncio.run(run())

    assert stuck_bytes < HELD_BYTES + 16_000_000  # what the kernel holds for both ends
    assert rss_bytes < 40_000_000
    assert taken == total


def test_many_small_packets_that_nobody_takes_are_bounded_by_their_number(reading):
    async def run() -> int:
        own = await reading.open_channel()
        assert own is not None
        served = Flood(b"x", 3_000_000)
        sock, arrivals = await watched(served.address, own)
        await asyncio.sleep(1.5)
        held = len(arrivals)
        arrivals.stop()
        own.close()
        sock.close()
        served.close()
        return held

    held = asyncio.run(run())

    assert 0 < held <= HELD_BYTES // ENTRY_COST_BYTES
