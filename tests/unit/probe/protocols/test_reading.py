"""What all protocols promise: any answer is read or refused, however it comes."""

import itertools
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.probing import own_endpoint
from support.replay import body_of, cases_of

from pacewatch.words.endpoint import Protocol
from pacewatch.words.timing import Identity, ServerTimings
from probe.protocols.interface import (
    AllTold,
    Chunk,
    End,
    Finish,
    Frame,
    MalformedAnswer,
    Piece,
    StreamFault,
    Usage,
    Whole,
)
from probe.protocols.table import PROTOCOLS

PIECES = (Chunk, Whole, Usage, ServerTimings, Identity, Finish, End, AllTold, StreamFault)

BODIES = [
    (protocol, body_of(case))
    for protocol in PROTOCOLS
    for case in cases_of(protocol)
    if case["response"].get("status", 200) == 200 and body_of(case)
]

WORDS = sorted(
    {
        word.decode()
        for _, body in BODIES
        for word in re.findall(rb'"([A-Za-z_.:/ -]{1,40})"|(?<=event: )([a-z_.]+)', body)
        for word in word
        if word
    }
)
"""Names and values that the protocols use."""

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(WORDS)
    | st.text(max_size=6)
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5)
    ),
    max_leaves=20,
)
EVENTS = st.dictionaries(st.sampled_from(WORDS), JSON, max_size=6)


def read(protocol: Protocol, portions: list[bytes]) -> tuple[list[Piece], str]:
    """The pieces that an answer holds, and the word for what made it malformed."""
    wire, pieces = PROTOCOLS[protocol], []
    framing = wire.framing()
    try:
        for portion in portions:
            for frame in framing.feed(portion):
                pieces.extend(wire.read(frame))
        for frame in framing.finish():
            pieces.extend(wire.read(frame))
        if (plain := framing.plain()) is not None:
            pieces.extend(wire.read_whole(plain))
    except MalformedAnswer as error:
        return pieces, str(error)
    return pieces, ""


def parted(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


def test_every_protocol_has_its_cases():
    assert {protocol for protocol, _ in BODIES} == set(PROTOCOLS)


@given(
    st.sampled_from(list(PROTOCOLS)),
    st.binary(max_size=200),
    st.lists(st.integers(0, 200), max_size=5),
)
def test_any_bytes_in_any_portions_give_the_same_pieces_or_the_same_refusal(protocol, data, cuts):
    assert read(protocol, [data]) == read(protocol, parted(data, cuts))


@given(st.data())
def test_an_answer_that_is_spoilt_anywhere_is_read_alike_in_any_portions(data):
    protocol, body = data.draw(st.sampled_from(BODIES))
    spoilt = bytearray(body)
    for at in data.draw(st.lists(st.integers(0, len(body) - 1), max_size=4)):
        spoilt[at] = data.draw(st.integers(0, 255))
    cuts = data.draw(st.lists(st.integers(0, len(body)), max_size=8))

    pieces, word = read(protocol, [bytes(spoilt)])

    assert (pieces, word) == read(protocol, parted(bytes(spoilt), cuts))
    assert all(isinstance(piece, PIECES) for piece in pieces)


@given(st.sampled_from(list(PROTOCOLS)), st.sampled_from(["", *WORDS]), EVENTS)
def test_any_event_made_of_known_words_is_read(protocol, name, event):
    pieces = PROTOCOLS[protocol].read(Frame(name=name, data=json.dumps(event)))

    for piece in pieces:
        assert isinstance(piece, PIECES)
        assert not isinstance(piece, Chunk) or piece.text


@given(st.sampled_from(list(PROTOCOLS)), EVENTS)
def test_any_plain_body_tells_an_error_or_is_malformed(protocol, event):
    _, word = read(protocol, [json.dumps(event).encode()])

    assert word in ("", "no_event_stream")


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=str)
def test_an_endpoints_own_members_of_the_body_win(protocol):
    own: dict[str, Any] = {"temperature": 0, "model": "other", "stream": 7}
    body = PROTOCOLS[protocol].body(own_endpoint("https://host", body=own), "words", 300)

    assert own.items() <= body.items()
