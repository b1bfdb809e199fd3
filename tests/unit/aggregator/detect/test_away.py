from support.judged import HOUR_S, REGIONS, bad, feed, good, learnt

from aggregator.detect.away import due_at, is_well, missed, rest
from aggregator.detect.rules import make_rules
from aggregator.detect.standing import is_lasting, troubles_of
from aggregator.detect.turn import POOLED
from aggregator.detect.watch import fresh_charts
from pacewatch.words.verdict import Trouble

END = 92 * HOUR_S


def slow_in_one_region():
    """A watch of three regions, of which the first is slow for twenty hours."""
    watch = learnt()
    for k in range(20):
        watch.take([good(72 + k, ttft_s=5.0)], (72 + k) * HOUR_S)
        watch.take([good(72 + k, "r01"), good(72 + k, "r02")], (72 + k) * HOUR_S)
    return watch


def test_trouble_of_a_region_that_is_not_heard_does_not_stand_and_stands_again_when_it_is():
    watch = slow_in_one_region()
    (met,) = troubles_of(watch)
    assert is_lasting(watch, met)
    assert missed(watch) == ()

    rest(watch, {"r00"}, END)
    assert troubles_of(watch) == ()
    assert missed(watch) == ("r00",)
    assert due_at(watch, END) == END + 6 * HOUR_S

    rest(watch, set(), END + HOUR_S)
    assert troubles_of(watch) == (met,)
    assert due_at(watch, END + HOUR_S) is None


def test_a_region_that_is_heard_again_is_well_when_a_run_since_then_was_good_and_none_failed():
    watch = learnt()
    assert not is_well(watch, "r00", END)
    watch.take([good(93)], 93 * HOUR_S)
    assert is_well(watch, "r00", END)
    assert is_well(watch, POOLED, END)
    assert not is_well(watch, "r01", END)

    watch.take([good(94), bad(94, "r01")], 94 * HOUR_S)
    watch.suspicion = None
    assert is_well(watch, "r00", END)
    assert not is_well(watch, POOLED, END)


def test_where_trouble_is_suspected_or_hidden_by_silence_nothing_is_well():
    watch = slow_in_one_region()
    watch.take([good(93, "r01")], 93 * HOUR_S)
    assert is_well(watch, "r01", END)
    rest(watch, {"r00"}, END)
    assert not is_well(watch, "r01", END)

    rest(watch, set(), END)
    watch.take([bad(94)], 94 * HOUR_S)
    assert not is_well(watch, "r01", END)


def test_a_region_that_is_away_for_six_hours_is_judged_from_nothing_on():
    watch = slow_in_one_region()
    for hours in (0, 6):
        rest(watch, {"r00"}, END + hours * HOUR_S)
    rest(watch, set(), END + 7 * HOUR_S)

    assert watch.charts["r00"] == fresh_charts()
    assert troubles_of(watch) == ()


def test_where_no_region_is_heard_nothing_stands_and_all_is_forgotten_together():
    watch = learnt()
    feed(watch, 72, 3, bad, gone=True)
    assert [met.trouble for met in troubles_of(watch)] == [Trouble.GONE]

    rest(watch, set(REGIONS), END)
    assert troubles_of(watch) == ()
    assert missed(watch) == REGIONS

    rest(watch, set(REGIONS), END + 6 * HOUR_S)
    assert watch.charts[POOLED] == fresh_charts()
    rest(watch, set(), END + 7 * HOUR_S)
    assert troubles_of(watch) == ()


def test_of_a_region_that_is_probed_no_more_nothing_is_kept():
    watch = slow_in_one_region()
    watch.rules = make_rules(REGIONS[1:], runs_a_day=30)
    rest(watch, set(), END)

    assert "r00" not in watch.charts
    assert "r00" not in watch.recent
