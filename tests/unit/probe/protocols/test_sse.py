import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.protocols import sse
from probe.protocols.interface import Frame, MalformedAnswer
from probe.protocols.sse import EventStream


def frames_of(*portions: bytes) -> list[Frame]:
    stream = EventStream()
    frames = [frame for portion in portions for frame in stream.feed(portion)]
    return frames + stream.finish()


def texts_of(*portions: bytes) -> list[str]:
    return [frame.data for frame in frames_of(*portions)]


TEXTS = st.lists(
    st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1),
    min_size=1,
    max_size=4,
)
ENDS = st.sampled_from(["\r\n", "\n", "\r"])


@given(
    events=st.lists(TEXTS, min_size=1, max_size=5),
    end=ENDS,
    cuts=st.lists(st.integers(0, 400), max_size=12),
    comment=st.booleans(),
)
def test_events_come_whole_however_their_bytes_are_parted(events, end, cuts, comment):
    lines = [
        line
        for event in events
        for line in ([": busy"] if comment else []) + [f"data: {text}" for text in event] + [""]
    ]
    whole = "".join(line + end for line in lines).encode()
    edges = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    portions = [whole[a:b] for a, b in itertools.pairwise(edges)]

    assert ["\n".join(event) for event in events] == texts_of(*portions)


@given(st.binary(max_size=400), st.integers(0, 400))
def test_any_bytes_are_read_or_refused_and_never_crash(data, cut):
    try:
        frames = frames_of(data[:cut], data[cut:])
    except MalformedAnswer:
        return

    assert all(isinstance(frame.data, str) for frame in frames)


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=6))
def test_the_parting_of_any_bytes_changes_nothing(data, cuts):
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]

    assert frames_of(data) == frames_of(*(data[a:b] for a, b in itertools.pairwise(edges)))


def test_an_event_is_whole_with_its_blank_line_not_before():
    stream = EventStream()

    assert stream.feed(b"data: one\n") == []
    assert [frame.data for frame in stream.feed(b"\n")] == ["one"]


def test_a_cr_ends_a_line_at_once_and_its_lf_adds_none():
    stream = EventStream()

    assert stream.feed(b"data: one\r") == []
    assert stream.feed(b"\ndata: two\r\n") == []
    assert [frame.data for frame in stream.feed(b"\r")] == ["one\ntwo"]
    assert stream.feed(b"\n") == []
    assert stream.feed(b"data: three\r") == []
    assert [frame.data for frame in stream.feed(b"\r")] == ["three"]


def test_an_event_has_its_own_name_and_no_other_ones():
    frames = frames_of(b"event: ping\ndata: {}\n\nevent: lost\n\ndata: x\n\n")

    assert [Frame(name="ping", data="{}"), Frame(name="", data="x")] == frames


def test_one_space_after_the_colon_is_not_data_and_a_second_one_is():
    assert texts_of(b"data:a\n\ndata: b\n\ndata:  c\n\n") == ["a", "b", " c"]


def test_a_field_without_a_colon_has_no_value():
    assert texts_of(b"data\n\nid\nretry: 5\ndata: x\n\n") == ["", "x"]


def test_a_byte_order_mark_is_skipped_even_in_parts():
    assert texts_of(b"\xef", b"\xbb", b"\xbfdata: x\n\n") == ["x"]


def test_a_character_parted_between_two_portions_is_whole():
    whole = "data: 潮\n\n".encode()

    assert texts_of(whole[:7], whole[7:8], whole[8:]) == ["潮"]


def test_white_space_before_the_first_line_is_waited_through():
    assert texts_of(b"\n", b"  ", b"\n", b"data: x\n\n") == ["x"]


def test_endless_white_space_is_an_empty_stream():
    stream = EventStream()
    for _ in range(sse.MAX_PLAIN_BYTES // 1024 + 1):
        assert stream.feed(b" " * 1023 + b"\n") == []

    assert stream.plain() == b""


def test_the_end_of_the_body_completes_a_last_event_without_its_blank_line():
    assert texts_of(b"data: [DONE]") == ["[DONE]"]
    assert texts_of(b"data: [DONE]\n") == ["[DONE]"]


@pytest.mark.parametrize(
    "body", [b'{"error": 1}', b"[1]", b"<html>", b" \n <p>", b"\xef\xbb\xbf{}"]
)
def test_json_and_html_are_no_event_stream(body):
    stream = EventStream()

    assert stream.feed(body) == []
    assert stream.finish() == []
    assert body.removeprefix(b"\xef\xbb\xbf").lstrip() == stream.plain()


def test_a_body_that_is_no_stream_is_kept_up_to_a_bound():
    stream = EventStream()
    stream.feed(b"{")
    for _ in range(4):
        assert stream.feed(b"data: x\n\n" * 4000) == []

    assert len(stream.plain() or b"") == sse.MAX_PLAIN_BYTES


def test_text_without_any_field_is_no_event_stream():
    stream = EventStream()
    stream.feed(b"upstream is away\n\n")
    stream.finish()

    assert stream.plain() == b""


def test_a_stream_of_comments_is_one_and_so_is_nothing_at_all():
    stream = EventStream()

    assert stream.plain() is None
    stream.feed(b": busy\n\n")
    assert stream.plain() is None


def test_a_line_beyond_the_bound_is_refused_without_being_kept(monkeypatch):
    monkeypatch.setattr(sse, "MAX_LINE_BYTES", 1000)
    stream = EventStream()
    stream.feed(b"data: ")

    with pytest.raises(MalformedAnswer, match="line_too_long"):
        for _ in range(10):
            stream.feed(b"x" * 300)


def test_an_event_beyond_the_bound_is_refused(monkeypatch):
    monkeypatch.setattr(sse, "MAX_LINE_BYTES", 1000)
    stream = EventStream()

    with pytest.raises(MalformedAnswer, match="event_too_long"):
        stream.feed(b"data: 12345678\n" * 200)


def test_bare_json_within_a_stream_is_an_event_once_the_body_has_ended(monkeypatch):
    monkeypatch.setattr(sse, "MAX_PLAIN_BYTES", 8)
    stream = EventStream()

    assert [frame.data for frame in stream.feed(b'data: a\n\nodd\n{\n "error"\n: 1\n}\n')] == ["a"]
    assert [frame.data for frame in stream.finish()] == ['{ "error"']
