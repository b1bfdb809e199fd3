"""Flags on what the clock saw, over real sockets."""

import os
import signal
import socket
import sys
import time

import pytest
from support.answers import GOOD, event, good_case, head
from support.probing import probe_once
from support.replay import Asked, replay

from pacewatch.words.figures import figures_of
from pacewatch.words.flag import Flag
from pacewatch.words.outcome import Outcome
from probe import sending
from probe.reading import Reading

ENDING = [event(finish="stop"), "data: [DONE]\n\n"]
TEXTS = ["Salt", " air", " rises", " over", " the", " bay"]


@pytest.fixture
def reading():
    own = Reading()
    yield own
    own.close()


class Late:
    """Sends the first two pieces while the reader process is stopped, and the rest after that."""

    def __init__(self, reading: Reading, *pieces: str) -> None:
        self._reading = reading
        self._pieces = [piece.encode() for piece in pieces]

    def __call__(self, sock: socket.socket, asked: Asked) -> bool:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.sendall(head())
        time.sleep(0.1)  # the head is read on its own
        os.kill(self._reading.pid or 0, signal.SIGSTOP)
        for piece in self._pieces[:2]:
            sock.sendall(piece)
            time.sleep(0.02)
        os.kill(self._reading.pid or 0, signal.SIGCONT)
        for piece in self._pieces[2:]:
            time.sleep(0.02)
            sock.sendall(piece)
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how many packets came")
@pytest.mark.parametrize(
    ("first", "second", "is_coalesced"),
    [
        (event("Salt"), event(" air"), True),
        (event("Salt")[:20], event("Salt")[20:], False),
        (event("Salt") + event(" air"), ": nothing\n\n", True),
    ],
    ids=["two events of two packets", "one event in two packets", "two events and a comment"],
)
def test_events_of_several_packets_in_one_read_are_coalesced(reading, first, second, is_coalesced):
    rest = [event(" rises"), *ENDING]
    with replay(Late(reading, first, second, *rest)) as served:
        timing = probe_once(f"{served.url}/v1", reading=reading)

    assert timing.outcome is Outcome.OK
    assert (Flag.COALESCED in timing.flags) is is_coalesced


def test_events_of_one_packet_are_not_coalesced(reading):
    with replay(good_case(["".join(GOOD[:2]), *GOOD[2:]])) as served:
        timing = probe_once(f"{served.url}/v1", reading=reading)

    assert len(timing.chunks.at_us) == 2
    assert Flag.COALESCED not in timing.flags


@pytest.mark.parametrize(("more_s", "is_flagged"), [(0.0, False), (0.003, True)])
def test_a_send_that_takes_over_a_millisecond_is_a_gap_in_the_clock(
    monkeypatch, more_s, is_flagged
):
    kernel = sending.send

    def slow(sock: socket.socket, data: memoryview) -> int:
        taken = kernel(sock, data)
        time.sleep(more_s)
        return taken

    monkeypatch.setattr(sending, "send", slow)

    def is_gap() -> bool:
        with replay(good_case()) as served:
            return Flag.CLOCK_GAP in probe_once(f"{served.url}/v1").flags

    assert (any if is_flagged else all)(is_gap() for _ in range(5)) is is_flagged


def test_a_burst_is_of_what_was_streamed_whatever_was_billed():
    usage = {"prompt_tokens": 20, "completion_tokens": 400}
    billed = event(finish="stop", usage=usage)
    with replay(good_case([event("".join(TEXTS)), billed, ENDING[1]])) as served:
        one = probe_once(f"{served.url}/v1")
    with replay(good_case([*map(event, TEXTS), billed, ENDING[1]])) as served:
        many = probe_once(f"{served.url}/v1")

    assert {Flag.BURST, Flag.HIDDEN_REASONING} <= set(one.flags)
    assert figures_of(one).output_tokens_per_s is None
    assert Flag.BURST not in many.flags
    assert Flag.HIDDEN_REASONING in many.flags
    assert figures_of(many).output_tokens_per_s
