import pytest
from botocore.eventstream import ChecksumMismatch, EventStreamBuffer, InvalidPayloadLength
from support.voices import messages_of

from pacewatch.sim.eventstream import EventTemplate, MessageFraming, event_message
from pacewatch.sim.sse import HOLE, hole, to_json


def read(data: bytes) -> None:
    buffer = EventStreamBuffer()
    buffer.add_data(data)
    next(buffer)


def test_a_foreign_reader_finds_headers_and_payload():
    buffer = EventStreamBuffer()
    buffer.add_data(event_message("messageStop", b'{"stopReason":"end_turn"}'))

    (message,) = buffer

    assert message.headers == {
        ":event-type": "messageStop",
        ":content-type": "application/json",
        ":message-type": "event",
    }
    assert message.payload == b'{"stopReason":"end_turn"}'


def test_a_filled_template_is_a_sound_message():
    template = EventTemplate("delta", to_json({"text": HOLE, "number": hole(1)}))

    assert messages_of(template.fill('a "b"', 7) + template.fill("ü", 8)) == [
        ("delta", {"text": 'a "b"', "number": 7}),
        ("delta", {"text": "ü", "number": 8}),
    ]


def test_garbage_has_a_wrong_checksum():
    with pytest.raises(ChecksumMismatch):
        read(MessageFraming().garbage())


def test_what_has_no_end_begins_as_a_sound_message_that_is_too_long():
    with pytest.raises(InvalidPayloadLength):
        read(MessageFraming().unending())


def test_nothing_is_a_delta_without_text():
    ((kind, told),) = messages_of(MessageFraming().nothing(9))

    assert (kind, told["delta"], len(told["p"])) == ("contentBlockDelta", {"text": ""}, 9)
