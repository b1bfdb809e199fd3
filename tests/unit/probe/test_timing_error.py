"""What was seen held against what was sent."""

from typing import Any

import pytest

from probe.timing_error import Answer, Beats, Errors, Spread, compare, summed

SECOND_NS = 1_000_000_000
TOKENS = 101
SENDS_NS = tuple(SECOND_NS + 100_000_000 + n * 10_000_000 for n in range(TOKENS))
"""A hundred tokens/s from 100 ms after the request on."""

BEATS = Beats(asked_ns=SECOND_NS, sends_ns=SENDS_NS)


def seen(late_ns: int = 0, *, sent_ns: int = SECOND_NS, **moved: int) -> Answer:
    """The answer as it was sent, that much later; `first` and `last` are later still."""
    at_ns = [at + late_ns for at in SENDS_NS]
    at_ns[0] += moved.get("first", 0)
    at_ns[-1] += moved.get("last", 0)
    return Answer(sent_ns=sent_ns, at_ns=tuple(at_ns))


def errors(*answers: Answer | None) -> Errors:
    named = {str(n): answer for n, answer in enumerate(answers)}
    return summed([compare(named, dict.fromkeys(named, BEATS))])


def test_what_comes_as_it_was_sent_has_no_error():
    found = errors(seen())

    assert found.ttft_s.worst == found.arrival_s.worst == found.speed.worst == 0
    assert (found.requests, found.lost, found.over()) == (1, 0, ())


def test_an_arrival_is_late_by_what_lies_between_it_and_its_send():
    found = errors(seen(20_000, last=3_000_000))

    assert found.arrival_s.p50 == pytest.approx(20e-6)
    assert found.arrival_s.worst == pytest.approx(3.02e-3)


def test_the_first_token_is_held_against_the_time_the_server_took_for_it():
    assert errors(seen(first=2_000_000)).ttft_s.worst == pytest.approx(0.002)
    assert errors(seen(sent_ns=SECOND_NS + 400_000)).ttft_s.worst == pytest.approx(0.0004)


def test_the_speed_is_the_figure_that_is_published():
    assert errors(seen(last=10_000_000)).speed.worst == pytest.approx(1 - 1 / 1.01)


def test_tokens_that_were_merged_at_the_start_leave_the_speed_right():
    at_ns = list(SENDS_NS)
    at_ns[:5] = [SENDS_NS[5]] * 5

    assert errors(Answer(sent_ns=SECOND_NS, at_ns=tuple(at_ns))).speed.worst == pytest.approx(0)


def test_what_did_not_come_whole_is_lost_and_over_the_limit():
    short = Answer(sent_ns=SECOND_NS, at_ns=SENDS_NS[:-1])
    found = errors(seen(), None, short)

    assert (found.requests, found.lost, found.over()) == (1, 2, ("lost",))
    assert errors().over() == ("lost",)


@pytest.mark.parametrize(
    ("fields", "over"),
    [
        ({"ttft_p99": 0.0049, "speed_p50": 0.0049, "speed_worst": 0.0249}, ()),
        ({"ttft_p99": 0.0051}, ("ttft",)),
        ({"speed_p50": 0.0051}, ("speed",)),
        ({"speed_worst": 0.0251}, ("speed",)),
    ],
)
def test_each_limit_is_its_own(fields: dict[str, float], over: tuple[str, ...]):
    told: dict[str, Any] = {"ttft_p99": 0, "speed_p50": 0, "speed_worst": 0} | fields
    none = Spread(p50=0, p99=0, worst=0)
    found = Errors(
        ttft_s=Spread(p50=0, p99=told["ttft_p99"], worst=1),
        arrival_s=none,
        speed=Spread(p50=told["speed_p50"], p99=0, worst=told["speed_worst"]),
        requests=1,
        lost=0,
    )

    assert found.over() == over
    assert found.over(slack=10) == ()
