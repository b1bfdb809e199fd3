"""Arrival times as reported, against a server that notes its own sends on the same clock.

How far apart they are is the benchmark's to say; here is what holds on a busy machine as well.
"""

import asyncio
import socket
import statistics
import sys
import threading
import time
from contextlib import closing

import pytest
from support.answers import event, head
from support.probing import own_endpoint
from support.replay import Asked, replay

from pacewatch.words.fleet import Region
from probe.asking import ask_together
from probe.protocols.table import PROTOCOLS
from probe.reading import Reading
from probe.request import make_question
from probe.seen import Seen
from probe.stamps import TOLERANCE_NS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's stamps are Linux'")

TOKENS = 200
TRIES = 4


class Known:
    """A server whose sends are known: the clock just before each."""

    def __init__(self) -> None:
        self.sends_ns: list[int] = []

    def __call__(self, sock: socket.socket, asked: Asked) -> bool:
        sock.sendall(head())
        for n in range(TOKENS):
            time.sleep(0.002)
            data = event(f" w{n}").encode()
            self.sends_ns.append(time.monotonic_ns())
            sock.sendall(data)
        sock.sendall(event(finish="stop").encode() + b"data: [DONE]\n\n")
        return False


async def ask(url: str, reading: Reading | None) -> Seen:
    endpoint = own_endpoint(f"{url}/v1")
    question = make_question(
        endpoint=endpoint,
        protocol=PROTOCOLS[endpoint.protocol],
        region=Region(name="test"),
        signer=None,
        prompt="Say something.",
        output_tokens=TOKENS,
        request_id="0",
    )
    return (await ask_together([question], reading))[0].seen


@pytest.mark.parametrize("is_read_apart", [True, False], ids=["reader process", "own loop"])
def test_a_chunk_is_stamped_after_it_was_sent_and_soon(is_read_apart):
    known = Known()
    with replay(known) as served, closing(Reading()) as reading:
        seen = asyncio.run(ask(served.url, reading if is_read_apart else None))
    late_us = [(at - sent) / 1000 for at, sent in zip(seen.at_ns, known.sends_ns, strict=True)]

    assert min(late_us) >= -TOLERANCE_NS / 1000
    assert statistics.median(late_us) < 5_000


def test_the_request_is_noted_before_it_is_there():
    known = Known()
    with replay(known) as served, closing(Reading()) as reading:
        seen = asyncio.run(ask(served.url, reading))
        (asked,) = served.asked

    assert seen.sent_ns is not None
    assert seen.sent_ns <= asked.got_ns
    assert asked.got_ns < known.sends_ns[0] <= seen.at_ns[0] + TOLERANCE_NS


def test_a_reader_process_is_not_worse_than_the_own_loop_beside_a_busy_thread():
    def median_us(reading: Reading | None) -> float:
        known = Known()
        with replay(known) as served:
            seen = asyncio.run(ask(served.url, reading))
        pairs = zip(seen.at_ns, known.sends_ns, strict=True)
        return statistics.median((at - sent) / 1000 for at, sent in pairs)

    over = threading.Event()

    def reckon() -> None:
        x = 1
        while not over.is_set():
            for _ in range(1000):
                x = x * 1103515245 + 12345 & 0x7FFFFFFF

    thread = threading.Thread(target=reckon)
    thread.start()
    try:
        with closing(Reading()) as reading:
            assert any(median_us(reading) <= median_us(None) for _ in range(TRIES))
    finally:
        over.set()
        thread.join()
