import pytest

from aggregator.ticks import DISPATCH, make_message, tick_named


def test_a_message_made_of_a_tick_names_it() -> None:
    assert tick_named(make_message(DISPATCH, "central")) == DISPATCH


@pytest.mark.parametrize(
    "message",
    [
        None,
        [],
        "pacewatch.dispatch",
        {},
        {"headers": None},
        {"headers": {"task": None}},
        {"headers": {"task": ["pacewatch.dispatch"]}},
        {"headers": {"task": "celery.backend_cleanup"}},
        {"task": "pacewatch.dispatch"},
    ],
)
def test_whatever_else_names_none(message: object) -> None:
    assert tick_named(message) is None
