import logging
from datetime import UTC, datetime

import pytest

from probe.centre import Voice, read_now, why_refused

logger = logging.getLogger("test")


def said(caplog):
    return [(record.getMessage(), record.facts.get("reason")) for record in caplog.records]


def test_trouble_is_said_once_and_once_that_it_is_over(caplog):
    caplog.set_level(logging.INFO)
    voice = Voice(logger, "push")
    for sentence in ("no answer", "no answer", "answered 401", "answered 401"):
        voice.trouble(sentence)
    voice.fine()
    voice.fine()
    voice.trouble("no answer")

    assert said(caplog) == [
        ("push.failed", "no answer"),
        ("push.failed", "answered 401"),
        ("push.recovered", None),
        ("push.failed", "no answer"),
    ]


def test_a_refused_token_is_a_sentence_that_says_what_to_do():
    assert "PACEWATCH_REGION_TOKEN must be one that `pacewatch token issue`" in why_refused(401)


@pytest.mark.parametrize(
    ("answer", "now"),
    [
        ({"now": "2026-03-01T12:00:00Z"}, datetime(2026, 3, 1, 12, tzinfo=UTC)),
        ({"now": "2026-03-01T12:00:00"}, None),
        ({"now": 12}, None),
        ({"now": "noon"}, None),
        ([], None),
        (None, None),
    ],
)
def test_the_centres_time_is_read_where_an_answer_tells_it(answer, now):
    assert read_now(answer) == now
