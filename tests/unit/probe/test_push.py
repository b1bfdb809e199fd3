from datetime import UTC, datetime

import pytest

from probe.push import (
    FIRST_PAUSE_S,
    LONGEST_PAUSE_S,
    Answer,
    answer_of,
    pause_s,
    read_results,
    retry_after_s,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (200, Answer.TOLD),
        (413, Answer.HALVE),
        (422, Answer.HALVE),
        (401, Answer.DENIED),
        (403, Answer.DENIED),
        (429, Answer.WAIT),
        (500, Answer.WAIT),
        (503, Answer.WAIT),
        (302, Answer.WAIT),
        (404, Answer.WAIT),
    ],
)
def test_a_status_says_what_becomes_of_the_batch(status, answer):
    assert answer is answer_of(status)


def test_pauses_grow_to_a_bound():
    pauses = [pause_s(failures, 0.0, 0.0) for failures in range(1, 60)]

    assert pauses[0] == FIRST_PAUSE_S
    assert sorted(pauses) == pauses
    assert pauses[-1] == LONGEST_PAUSE_S


def test_chance_shortens_a_pause_by_up_to_a_half():
    assert pause_s(5, 0.0, 0.0) == 8.0
    assert pause_s(5, 0.0, 1.0) == 4.0


def test_a_pause_is_never_shorter_than_the_aggregator_asks():
    assert pause_s(1, 120.0, 1.0) == 120.0


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        (None, 0.0),
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("nan", 0.0),
        ("99999999", 3_600.0),
        ("Sun, 01 Mar 2026 12:01:30 GMT", 90.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
        ("soon", 0.0),
    ],
)
def test_a_retry_after_is_seconds_or_a_date(told, seconds):
    assert seconds == retry_after_s(told, NOW)


@pytest.mark.parametrize(
    "answer", [None, [], "ok", {}, {"results": 3}, {"results": [1, {"status": "stored"}]}]
)
def test_an_answer_that_tells_of_no_run_tells_nothing(answer):
    assert read_results(answer) == {}


def test_results_are_told_by_execution():
    answer = {
        "results": [
            {"run": "r", "execution": "a", "status": "stored"},
            {"run": "r", "execution": "b", "status": "refused", "reason": "x" * 900},
        ]
    }

    assert read_results(answer) == {"a": ("stored", ""), "b": ("refused", "x" * 500)}
