from math import log

import pytest
from support.judged import HOUR_S, feed, good, learnt

from aggregator.detect.recent import RECENT_LOADED
from aggregator.detect.slow import whole_z
from aggregator.detect.slowness import zs_of
from aggregator.detect.state import state_of, watch_of
from aggregator.detect.turn import POOLED
from pacewatch.words.slot import Load
from pacewatch.words.verdict import Slowness

WHOLE_S = 0.5 + 300 / 100
"""Of an answer of 300 tokens as `good` gives them."""


def parallel(hour, region="r00", **rest):
    return good(hour, region, load=Load.PARALLEL, **rest)


def test_a_whole_answer_is_compared_with_as_long_a_one_at_the_usual_pace():
    # half the speed, three times the first token: 1.5 s and 6 s against 0.5 s and 3 s
    run = good(0, ttft_s=1.5, speed=50.0, end_to_end_s=7.5)

    assert whole_z(run, log(3), log(2)) == pytest.approx(log(7.5 / 3.5), abs=1e-4)


def test_a_whole_answer_that_came_at_once_is_as_slow_as_its_first_token():
    run = good(0, ttft_s=1.0, end_to_end_s=1.0)

    assert whole_z(run, log(2), 0.0) == pytest.approx(log(2), abs=1e-4)


@pytest.mark.parametrize(
    ("fields", "z_ttft", "z_speed"),
    [
        ({"end_to_end_s": None}, 0.0, 0.0),
        ({"ttft_s": None, "end_to_end_s": 3.5}, 0.0, 0.0),
        ({"end_to_end_s": 3.5}, None, 0.0),
        ({"end_to_end_s": 3.5}, 0.0, None),
    ],
)
def test_where_something_is_not_known_nothing_is_compared(fields, z_ttft, z_speed):
    assert whole_z(good(0, **fields), z_ttft, z_speed) is None


def test_a_halved_speed_makes_the_whole_answer_less_than_twice_as_slow():
    watch = learnt()
    feed(watch, 72, 12, speed=50.0, end_to_end_s=6.5)

    found = zs_of(watch, POOLED, Slowness.END_TO_END)
    assert found == pytest.approx([log(6.5 / WHOLE_S)] * 12, abs=0.01)


def test_what_was_before_the_trouble_is_not_compared():
    watch = learnt()
    feed(watch, 72, 6, end_to_end_s=WHOLE_S)
    feed(watch, 78, 12, speed=50.0, end_to_end_s=6.5)

    assert min(zs_of(watch, POOLED, Slowness.END_TO_END)) > log(1.5)


def test_parallel_runs_alone_tell_what_is_slow_under_load():
    watch = learnt()
    feed(watch, 72, 36, make=parallel, end_to_end_s=WHOLE_S)
    feed(watch, 108, 6, end_to_end_s=WHOLE_S)
    feed(watch, 114, 3, make=parallel, speed=50.0, end_to_end_s=6.5)

    assert zs_of(watch, "r00", Slowness.UNDER_LOAD)[-1] == pytest.approx(log(6.5 / 3.5), abs=0.01)
    assert len(zs_of(watch, "r00", Slowness.UNDER_LOAD)) == RECENT_LOADED
    assert zs_of(watch, "r00", Slowness.UNDER_LOAD, since=120 * HOUR_S) == []


def test_a_state_keeps_them_and_one_of_before_they_were_compared_is_read():
    watch = learnt()
    feed(watch, 72, 18, make=parallel, end_to_end_s=WHOLE_S)
    state = state_of(watch)

    again = watch_of(state, watch.rules)
    assert (again.recent, again.loaded) == (watch.recent, watch.loaded)

    state["recent"] = {
        region: [p[:4] for p in points] for region, points in state["recent"].items()
    }
    del state["loaded"]
    before = watch_of(state, watch.rules)
    assert zs_of(before, POOLED, Slowness.END_TO_END) == []
    assert zs_of(before, POOLED, Slowness.FIRST_TOKEN) == zs_of(watch, POOLED, Slowness.FIRST_TOKEN)
