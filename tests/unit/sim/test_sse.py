import json

import pytest

from pacewatch.sim.sse import HOLE, EventFraming, Template, data_event, hole, named_event


def test_a_template_is_filled_in_all_its_holes():
    template = Template(data_event({"a": HOLE, "n": hole(1), "b": HOLE}))

    assert template.fill("x\n", 12) == b'data: {"a":"x\\n","n":12,"b":"x\\n"}\n\n'


def test_a_template_without_holes_stays_as_it_is():
    assert Template(b"data: 1\n\n").fill("x") == b"data: 1\n\n"


def test_an_event_is_named_by_its_type():
    assert named_event({"type": "ping"}) == b'event: ping\ndata: {"type":"ping"}\n\n'


def test_nothing_is_a_comment():
    assert EventFraming().nothing(3) == b": keep-alive...\n\n"


def test_garbage_is_no_json():
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(EventFraming().garbage().removeprefix(b"data: "))
