import itertools
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.replay import message, sealed, string_header

from probe.protocols import frames
from probe.protocols.frames import Frames
from probe.protocols.interface import Frame, MalformedAnswer


def frames_of(*portions: bytes) -> list[Frame]:
    stream = Frames()
    return [frame for portion in portions for frame in stream.feed(portion)] + stream.finish()


def taken(*portions: bytes) -> tuple[list[Frame], str]:
    """The messages that come out, and the word for what spoilt the rest."""
    stream, found = Frames(), []
    try:
        for portion in portions:
            found.extend(stream.feed(portion))
    except MalformedAnswer as error:
        return found, str(error)
    return found, ""


def parted(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


GOOD = message({":event-type": "contentBlockDelta", "payload": {"delta": {"text": "潮"}}})


@given(
    st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=9)), min_size=1, max_size=5),
    st.lists(st.integers(0, 900), max_size=12),
)
def test_messages_come_whole_however_their_bytes_are_parted(payloads, cuts):
    whole = b"".join(message({":event-type": "x", "payload": told}) for told in payloads)

    assert frames_of(whole) == frames_of(*parted(whole, cuts))
    assert len(frames_of(whole)) == len(payloads)


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=6), st.booleans())
def test_any_bytes_are_read_or_refused_alike_however_they_are_parted(data, cuts, after_a_good_one):
    whole = GOOD + data if after_a_good_one else data

    assert taken(whole) == taken(*parted(whole, cuts))


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_any_headers_and_payload_under_right_checksums_are_read_or_refused(headers, payload):
    found, word = taken(sealed(headers, payload))

    assert len(found) == 1 if not word else word == "bad_headers"


@given(st.data())
def test_any_spoilt_byte_is_noticed(data):
    at = data.draw(st.integers(0, len(GOOD) - 1))
    spoilt = bytearray(GOOD)
    spoilt[at] ^= data.draw(st.integers(1, 255))
    found, _ = taken(bytes(spoilt) + GOOD)

    assert found == []


def test_a_message_has_its_name_and_its_payload():
    assert frames_of(GOOD) == [
        Frame(name="contentBlockDelta", data='{"delta": {"text": "潮"}}'),
    ]


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ({":exception-type": "throttlingException", "payload": {}}, "throttlingException"),
        ({":error-code": "InternalError", ":error-message": "x"}, "InternalError"),
        ({":message-type": "exception"}, ""),
        ({":message-type": "event", ":exception-type": "odd"}, "odd"),
    ],
)
def test_an_error_is_told_by_the_kind_of_the_message(told, name):
    (frame,) = frames_of(message(told))

    assert (frame.name, frame.is_fault) == (name, True)


def test_headers_may_have_values_of_every_type():
    others = [
        b"\x02on\x00",
        b"\x02of\x01",
        b"\x01b\x02\x07",
        b"\x01s\x03\x00\x07",
        b"\x01i\x04\x00\x00\x00\x07",
        b"\x01l\x05" + bytes(8),
        b"\x01a\x06\x00\x03abc",
        b"\x01t\x08" + bytes(8),
        b"\x01u\x09" + bytes(16),
    ]
    headers = b"".join(others) + string_header(":event-type", "ping") + others[6]

    assert frames_of(sealed(headers, b"")) == [Frame(name="ping", data="")]


@pytest.mark.parametrize(
    "headers",
    [
        b"\x05ab",
        b"\x01a",
        b"\x01a\x0a\x00\x00",
        b"\x01a\x07\x00",
        b"\x01a\x07\x00\x05abc",
        b"\x01a\x05abc",
    ],
)
def test_headers_that_are_not_whole_or_of_no_known_type_are_refused(headers):
    assert taken(sealed(headers, b"")) == ([], "bad_headers")


def test_what_came_before_a_spoilt_message_stays_good():
    spoilt = GOOD[:-1] + bytes([GOOD[-1] ^ 1])

    assert taken(GOOD + spoilt + GOOD) == (frames_of(GOOD), "bad_checksum")


def test_a_spoilt_prelude_is_refused_before_the_message_has_come():
    assert taken(GOOD[:11] + bytes([GOOD[11] ^ 1])) == ([], "bad_checksum")


def prelude(size: int, headers: int) -> bytes:
    lengths = size.to_bytes(4) + headers.to_bytes(4)
    return lengths + zlib.crc32(lengths).to_bytes(4)


@pytest.mark.parametrize(
    ("size", "headers", "word"),
    [
        (frames.MAX_MESSAGE_BYTES + 1, 0, "message_too_long"),
        (frames.MAX_MESSAGE_BYTES, frames.MAX_HEADERS_BYTES + 1, "message_too_long"),
        (15, 0, "bad_message"),
        (40, 25, "bad_message"),
    ],
)
def test_a_message_out_of_bounds_is_refused_by_its_lengths_alone(size, headers, word):
    assert taken(prelude(size, headers)) == ([], word)


def test_the_smallest_message_is_empty():
    assert frames_of(sealed(b"", b"")) == [Frame(name="", data="")]


def test_a_message_that_the_end_of_the_body_tore_is_none():
    stream = Frames()

    assert list(stream.feed(GOOD[:-1])) == []
    assert stream.finish() == []
    assert stream.plain() is None


@pytest.mark.parametrize(
    "body", [b'{"error": 1}', b"[1]", b"<html>", b" \n <p>", b"\xef\xbb\xbf{}"]
)
def test_json_and_html_are_no_stream_of_messages(body):
    stream = Frames()

    assert list(stream.feed(b"")) == []
    assert list(stream.feed(body[:1])) == list(stream.feed(body[1:])) == []
    assert stream.plain() == body


def test_a_body_that_is_no_stream_is_kept_up_to_a_bound():
    stream = Frames()
    for _ in range(3):
        assert list(stream.feed(b"{" + b" " * 40_000)) == []

    assert len(stream.plain() or b"") == frames.MAX_PLAIN_BYTES
