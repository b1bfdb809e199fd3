from hypothesis import given
from hypothesis import strategies as st

from aggregator.detect.baseline import KEPT, Baseline
from aggregator.detect.chart import LINGERS, Standing, vote_of
from aggregator.detect.season import Season

DAY_S = 86_400.0
VOTES = st.lists(st.sampled_from([-1.0, -0.34, 0.5, 1.0, 2.71]), max_size=200)


@given(st.floats(-1e6, 1e6))
def test_a_vote_is_between_minus_one_and_one(z):
    assert -1 <= vote_of(z) <= vote_of(z, alarmed=True) <= 1


def test_a_chart_on_alarm_asks_for_more_before_a_run_speaks_for_recovery():
    assert vote_of(-0.05) < 0 < vote_of(-0.05, alarmed=True)
    assert vote_of(-LINGERS, alarmed=True) == 0


@given(VOTES)
def test_a_chart_is_never_below_zero_nor_above_its_threshold_while_it_alarms(votes):
    chart = Standing()
    for at, vote in enumerate(votes):
        chart.take(vote, float(at), 5.0)
        assert 0 <= chart.s <= 5
        assert chart.s <= chart.peak or chart.alarmed_at is not None


def test_an_alarm_ends_at_a_third_of_its_threshold():
    chart = Standing()
    began = [chart.take(1.0, float(at), 6.0) for at in range(7)]
    ended = [chart.take(-1.0, float(at), 6.0) for at in range(4)]

    assert began == [False] * 6 + [True]
    assert ended == [False, False, False, True]


def test_a_chart_knows_when_it_was_last_at_zero():
    chart = Standing()
    for at, vote in enumerate([-1.0, 1.0, -1.0, 1.0, 1.0]):
        chart.take(vote, float(at), 6.0)

    assert chart.since == 2


def test_trouble_from_the_first_vote_on_began_with_it():
    chart = Standing()
    for at in (7.0, 8.0):
        chart.take(1.0, at, 6.0)

    assert chart.since == 7


def test_a_baseline_forgets_what_its_window_has_left_but_keeps_some():
    baseline = Baseline()
    for hour in range(40):
        baseline.take((hour * 3600.0, 0.0, None), 20 * 3600.0, frozen=False)
    assert [p[0] / 3600 for p in baseline.points] == list(range(20, 40))

    baseline.take((70 * 3600.0, 0.0, None), 20 * 3600.0, frozen=False)
    assert len(baseline.points) == KEPT

    baseline.take((500 * 3600.0, 0.0, None), 20 * 3600.0, frozen=False)
    assert len(baseline.points) == 1


def test_a_baseline_takes_no_more_than_its_share_of_runs_that_come_close():
    baseline = Baseline()
    for second in range(0, 7200, 60):
        baseline.take((float(second), 0.0, 0.0), 72 * 3600.0, frozen=False)

    assert len(baseline.points) == 2


def test_a_median_needs_enough_runs_and_takes_the_middle():
    baseline = Baseline(points=[(float(k), float(k), None) for k in range(4)])
    assert baseline.usual(5) == (None, None)

    baseline.medians = None
    assert baseline.usual(4) == (1.5, None)

    assert Baseline(points=baseline.points[:3]).usual(3) == (1.0, None)


def test_what_came_in_while_frozen_is_adopted_or_forgotten():
    baseline = Baseline(points=[(0.0, 1.0, None)])
    baseline.take((9e4, 2.0, None), 3 * DAY_S, frozen=True)
    baseline.thaw()
    baseline.adopt()
    assert baseline.usual(1) == (1.0, None)

    baseline.take((9e4, 2.0, None), 3 * DAY_S, frozen=True)
    baseline.adopt()
    assert baseline.usual(1) == (2.0, None)


def test_a_season_learns_each_part_of_the_day_and_shrinks_it():
    season = Season()
    for day in range(16):
        for hour in (1, 2, 13):
            season.take((day * 24 + hour) * 3600.0, 0.4 if hour == 13 else -0.1, DAY_S)

    assert season.at(13.5 * 3600, DAY_S) == round(0.4 * 14 / 22, 4)
    assert season.at(1 * 3600, DAY_S) == round(-0.1 * 28 / 36, 4)
    assert season.at(20 * 3600, DAY_S) == 0


def test_a_season_is_not_moved_by_what_comes_late_or_too_often():
    season = Season()
    season.take(DAY_S, 0.1, DAY_S)
    season.take(0.0, 9.0, DAY_S)
    for _ in range(100):
        season.take(DAY_S, 0.1, DAY_S)

    assert len(season.filling) == 60
