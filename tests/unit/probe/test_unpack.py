import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.protocols.interface import MalformedAnswer
from probe.unpack import PORTION_BYTES, Unpacker


def packed(text: bytes, wbits: int = zlib.MAX_WBITS | 16) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, wbits)
    return packer.compress(text) + packer.flush()


@pytest.mark.parametrize("coding", ["", "identity", " Identity ", "identity, identity", "none"])
def test_what_is_not_compressed_passes_as_it_is(coding):
    assert list(Unpacker(coding).feed(b"data")) == [b"data"]


@pytest.mark.parametrize(
    ("coding", "wbits"),
    [
        ("gzip", zlib.MAX_WBITS | 16),
        ("X-GZip", zlib.MAX_WBITS | 16),
        ("identity, gzip", zlib.MAX_WBITS | 16),
        ("deflate", zlib.MAX_WBITS),
        ("deflate", -zlib.MAX_WBITS),
    ],
)
def test_compressed_text_comes_out_as_its_bytes_come(coding, wbits):
    packer = zlib.compressobj(6, zlib.DEFLATED, wbits)
    unpacker = Unpacker(coding)
    for text in (b"one", b"two"):
        flushed = packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH)
        assert b"".join(unpacker.feed(flushed)) == text


@given(st.binary(max_size=400_000), st.integers(1, 5_000))
def test_any_bytes_come_out_whole_in_bounded_portions(text, step):
    unpacker, data = Unpacker("gzip"), packed(text)
    portions = [
        out for at in range(0, len(data), step) for out in unpacker.feed(data[at : at + step])
    ]

    assert b"".join(portions) == text
    assert all(0 < len(out) <= PORTION_BYTES for out in portions)


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_members_of_a_gzip_file_one_after_another_are_one_text(step):
    data, unpacker = packed(b"one") + packed(b"") + packed(b"two"), Unpacker("gzip")
    parts = [data[at : at + step] for at in range(0, len(data), step)]

    assert b"".join(out for part in parts for out in unpacker.feed(part)) == b"onetwo"


def test_a_bomb_comes_out_in_portions_and_only_as_far_as_it_is_wanted():
    portions = Unpacker("gzip").feed(packed(bytes(8_000_000)))

    assert len(next(portions)) == PORTION_BYTES


def test_what_follows_the_end_of_the_compression_is_nothing():
    unpacker = Unpacker("gzip")

    assert b"".join(unpacker.feed(packed(b"one") + b"junk")) == b"one"
    assert list(unpacker.feed(b"more junk")) == []


def test_broken_and_unknown_codings_are_malformed():
    with pytest.raises(MalformedAnswer, match="bad_compression"):
        list(Unpacker("gzip").feed(b"data: plain"))
    with pytest.raises(MalformedAnswer, match="unknown_coding"):
        Unpacker("br")
    with pytest.raises(MalformedAnswer, match="unknown_coding"):
        Unpacker("gzip, br")
