import asyncio
import gzip
import json
import tracemalloc
import zlib

import pytest

from aggregator.api.problems import Problem
from aggregator.api.push import IN_HAND, IN_HAND_OF_A_REGION, Gate, parse, unpack
from pacewatch.words.wire import MAX_BATCH_BYTES, MAX_RUNS


def test_a_gzip_bomb_is_stopped_at_the_bound_and_not_after():
    squeeze = zlib.compressobj(1, wbits=31)
    piece = b" " * 1_000_000
    bomb = b"".join(squeeze.compress(piece) for _ in range(80)) + squeeze.flush()
    assert len(bomb) < MAX_BATCH_BYTES / 10
    tracemalloc.start()
    try:
        with pytest.raises(Problem) as caught:
            unpack(bomb, "gzip")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert caught.value.status == 413
    assert peak < 4 * MAX_BATCH_BYTES


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"rubbish", "gzip"),
        (gzip.compress(b"{}")[:-4], "gzip"),
        (gzip.compress(b"{}") + b"more", "gzip"),
        (gzip.compress(b"{}") * 2, "gzip"),
        (b"{}", "br"),
        (b"{}", "gzip, gzip"),
    ],
)
def test_a_body_that_is_not_what_its_encoding_says_is_refused(body, encoding):
    with pytest.raises(Problem) as caught:
        unpack(body, encoding)

    assert caught.value.status == 422


def test_a_body_is_unpacked_to_what_was_packed():
    assert unpack(gzip.compress(b"x" * MAX_BATCH_BYTES), "gzip") == b"x" * MAX_BATCH_BYTES
    assert unpack(b"plain", "identity") == b"plain"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"\xff\xfe", 422),
        (b"[" * 100_000, 422),
        (b"[]", 422),
        (b"{}", 422),
        (b'{"runs": {}}', 422),
        (b'{"runs": [NaN]}', 422),
        (b'{"runs": [' + b"9" * 10_000 + b"]}", 422),
        (json.dumps({"runs": [0] * (MAX_RUNS + 1)}).encode(), 413),
        (b'{"runs": [' + b"[]," * 300_000 + b"0]}", 413),
    ],
)
def test_what_is_no_batch_is_refused_whole(body, status):
    with pytest.raises(Problem) as caught:
        parse(body)

    assert caught.value.status == status


def test_a_batch_may_be_full_or_empty():
    assert parse(json.dumps({"runs": [0] * MAX_RUNS, "more": 1}).encode()) == [0] * MAX_RUNS
    assert parse(b'{"runs": []}') == []


def test_the_gate_turns_away_a_region_that_pushes_too_much_and_lets_others_in():
    async def fill() -> None:
        gate = Gate()
        held = [gate.entered("eu-west") for _ in range(IN_HAND_OF_A_REGION)]
        for place in held:
            place.__enter__()
        with pytest.raises(Problem) as caught, gate.entered("eu-west"):
            pass
        assert (caught.value.status, caught.value.headers) == (429, {"Retry-After": "5"})
        with gate.entered("us-east"):
            pass
        held[0].__exit__(None, None, None)
        with gate.entered("eu-west"):
            pass

    asyncio.run(fill())


def test_the_gate_turns_everybody_away_when_all_places_are_taken():
    async def fill() -> None:
        gate = Gate()
        held = [gate.entered(f"r{number}") for number in range(IN_HAND)]
        for place in held:
            place.__enter__()
        with pytest.raises(Problem) as caught, gate.entered("another"):
            pass
        assert (caught.value.status, caught.value.headers) == (503, {"Retry-After": "5"})

    asyncio.run(fill())
