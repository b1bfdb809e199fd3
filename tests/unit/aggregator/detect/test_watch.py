import json
from dataclasses import replace
from math import isfinite, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.judged import HOUR_S, REGIONS, bad, feed, good, learnt, make_watch, played

from aggregator.detect.chart import Chart
from aggregator.detect.regions import compare_regions
from aggregator.detect.rules import MOST_ORDERED, daily_budget, make_rules
from aggregator.detect.scope import FAILED_Z
from aggregator.detect.slowness import zs_of
from aggregator.detect.standing import Met, suspected_of, troubles_of
from aggregator.detect.state import state_of, watch_of
from aggregator.detect.suspicion import Suspicion, next_round
from aggregator.detect.turn import POOLED, Turn
from aggregator.detect.verdict import judge
from aggregator.detect.watch import Watch
from pacewatch.words.judging import Limits
from pacewatch.words.slot import Load, Purpose
from pacewatch.words.verdict import Slowness, Trouble, Verdict


def turns(changes):
    return [(c.turn, c.scope, c.trouble) for c in changes]


def test_nothing_is_said_until_enough_good_runs_are_known():
    watch = make_watch()
    feed(watch, 0, 33)
    assert judge(watch).verdict is Verdict.LEARNING

    feed(watch, 33, 6)
    assert judge(watch).verdict is Verdict.OK


def test_a_halved_speed_is_suspected_then_slow_then_ok_again():
    watch = learnt()
    changes = feed(watch, 72, 12, speed=50)
    assert turns(changes)[0] == (Turn.SUSPECTED, POOLED, Trouble.OUTPUT_SPEED)
    alarm = next(c for c in changes if c.turn is Turn.ALARM)
    assert (alarm.scope, alarm.trouble, alarm.since) == (POOLED, Trouble.OUTPUT_SPEED, 71 * HOUR_S)
    assert judge(watch).verdict is Verdict.SLOW
    assert zs_of(watch, POOLED, Slowness.OUTPUT_SPEED) == pytest.approx([log(2)] * 12, abs=0.01)

    changes = feed(watch, 84, 12)
    assert (Turn.EASED, POOLED, Trouble.OUTPUT_SPEED) in turns(changes)
    assert judge(watch).verdict is Verdict.OK


def test_a_first_token_five_times_as_late_is_found_by_the_chart_for_big_slowdowns():
    changes = feed(learnt(), 72, 12, ttft_s=2.5)

    assert next(c for c in changes if c.turn is Turn.ALARM).chart is Chart.TTFT_BIG


def test_a_slowdown_of_days_is_never_called_ok_and_becomes_a_new_level_after_two_weeks():
    watch = learnt()
    changes = feed(watch, 72, 14 * 24, speed=50)
    assert Turn.EASED not in {c.turn for c in changes}
    assert judge(watch).verdict is Verdict.SLOW

    changes = feed(watch, 72 + 14 * 24, 24, speed=50)
    assert Turn.NEW_LEVEL in {c.turn for c in changes}
    assert judge(watch).verdict is Verdict.OK


def test_trouble_of_one_region_is_that_regions():
    watch = learnt()
    for k in range(20):
        hour = 72 + k
        watch.take([good(hour, ttft_s=5.0)], hour * HOUR_S)
        watch.take([good(hour, "r01"), good(hour, "r02")], hour * HOUR_S)

    found = judge(watch)
    assert found.regions == {"r00": Verdict.SLOW, "r01": Verdict.OK, "r02": Verdict.OK}
    assert found.verdict is Verdict.OK


def test_the_end_of_one_regions_trouble_thaws_its_baselines_alone():
    watch = learnt()
    feed(watch, 72, 12, speed=50)
    watch.charts["r00"][Chart.SPEED].alarmed_at = 1.0
    watch.charts["r00"][Chart.SPEED].s = 9.0
    feed(watch, 84, 12)

    aside = {key[0]: bool(one.aside) for key, one in watch.baselines.items()}
    assert not aside["r01"]


def test_failures_in_a_row_are_failing():
    watch = learnt()
    changes = feed(watch, 72, 4, bad)

    assert (Turn.ALARM, POOLED, Trouble.FAILURES) in turns(changes)
    assert judge(watch).verdict is Verdict.FAILING


def test_a_lone_failure_is_no_alarm():
    watch = learnt()
    changes = [*watch.take([bad(72)], 72 * HOUR_S), *feed(watch, 73, 5)]

    assert [c.turn for c in changes] == [Turn.SUSPECTED, Turn.UNCONFIRMED]


def test_rate_limits_go_to_the_quota_and_are_no_verdict():
    watch = learnt()
    changes = feed(watch, 72, 4, bad, limited=True)

    assert (Turn.ALARM, POOLED, Trouble.QUOTA) in turns(changes)
    assert judge(watch).verdict is Verdict.OK


@pytest.mark.parametrize(("regions", "said_by"), [(REGIONS, "r01"), (("r00",), "r00")])
def test_a_model_is_not_served_after_two_runs_in_a_row(regions, said_by):
    watch = learnt(regions)
    watch.take([bad(72, gone=True)], 72 * HOUR_S)
    assert judge(watch).verdict is Verdict.OK

    changes = watch.take([bad(73, said_by, gone=True)], 73 * HOUR_S)
    assert (Turn.ALARM, POOLED, Trouble.GONE) in turns(changes)
    assert judge(watch).verdict is Verdict.NOT_SERVED

    assert turns(watch.take([good(74)], 74 * HOUR_S))[0] == (Turn.EASED, POOLED, Trouble.GONE)


def test_one_region_alone_or_a_model_that_never_worked_is_not_gone():
    watch = learnt()
    feed(watch, 72, 2, bad, gone=True)
    watch = learnt()
    for hour in (72, 73):
        watch.take([bad(hour, gone=True)], hour * HOUR_S)
    assert judge(watch).verdict is Verdict.OK

    watch = make_watch()
    feed(watch, 0, 4, bad, gone=True)
    assert judge(watch).verdict is Verdict.LEARNING


def test_a_run_three_hours_late_does_not_vote():
    watch = learnt()

    assert watch.take([bad(72)], 76 * HOUR_S) == []


def test_silence_goes_before_slow_and_is_the_endpoints_when_it_is_everywhere():
    silent = {"r00", "r02"}
    watch = learnt()
    feed(watch, 72, 12, speed=50)
    assert judge(watch, silent).regions["r00"] is Verdict.SILENT
    assert judge(watch, silent).verdict is Verdict.SLOW
    assert judge(learnt(), set(REGIONS)).verdict is Verdict.SILENT


def test_limits_and_floors_stand_beside_what_is_usual():
    watch = learnt(limits=Limits(slow_ttft_s=0.2))
    feed(watch, 72, 12)
    assert judge(watch).verdict is Verdict.SLOW

    watch = learnt(limits=Limits(slow_tokens_per_s=150.0))
    assert judge(watch).verdict is Verdict.SLOW
    assert judge(learnt(limits=Limits(failing_ttft_s=0.4))).verdict is Verdict.FAILING

    watch = learnt(limits=Limits(floor_ttft_s=2.0, floor_tokens_per_s=20.0))
    feed(watch, 72, 24, ttft_s=1.5, speed=30)
    assert judge(watch).verdict is Verdict.OK


def test_trouble_over_a_limit_ends_where_the_limit_is_no_longer_set():
    watch = learnt(limits=Limits(slow_ttft_s=0.2, slow_tokens_per_s=150.0))
    assert watch.alarms(POOLED) == [Chart.TTFT_LIMIT, Chart.SPEED_LIMIT]

    lifted = replace(watch.rules, limits=Limits(slow_tokens_per_s=150.0))
    again = watch_of(json.loads(json.dumps(state_of(watch))), lifted)
    assert again.alarms(POOLED) == [Chart.SPEED_LIMIT]
    assert watch_of(state_of(watch), watch.rules).alarms(POOLED) == watch.alarms(POOLED)


def test_slower_than_the_failing_limit_is_a_failure_in_all_that_follows_from_one():
    watch = learnt(limits=Limits(failing_ttft_s=1.0))
    assert [c.turn for c in feed(watch, 72, 1, ttft_s=1.2)] == [Turn.SUSPECTED]
    assert len(watch.orders(72 * HOUR_S, 24)) == 3

    changes = feed(watch, 72.1, 4, ttft_s=1.2, step_h=0.1)
    (alarm,) = [c for c in changes if c.turn is Turn.ALARM and c.scope == ""]
    assert alarm.trouble is Trouble.FAILURES
    assert judge(watch).verdict is Verdict.FAILING
    found = compare_regions(watch, Met(trouble=Trouble.FAILURES, region="", since=71 * HOUR_S))
    assert found.zs == dict.fromkeys(REGIONS, FAILED_Z)


def test_a_run_without_figures_casts_no_slow_vote():
    watch = learnt()
    run = replace(good(72), ttft_s=None, speed=None)

    assert watch.take([run], 72 * HOUR_S) == []


def test_a_soft_suspicion_orders_six_probes_in_pairs_half_from_the_suspect_region():
    watch = learnt()
    feed(watch, 72, 4, speed=50)
    orders, now = [], 75 * HOUR_S
    for _ in range(5):
        orders.append([order.region for order in watch.orders(now, 12)])
        now += 1_200

    assert [len(one) for one in orders] == [2, 2, 2, 0, 0]
    assert [one.count(orders[0][0]) for one in orders[:3]] == [1, 1, 1]


def test_a_failure_orders_three_at_once_and_three_more_later_where_one_but_the_first_fails():
    watch = learnt()
    watch.take([bad(72)], 72 * HOUR_S)
    first = watch.orders(72 * HOUR_S, 24)
    assert [order.region for order in first] == ["r00", "r01", "r02"]
    assert watch.orders(73 * HOUR_S, 24) == []

    feed(watch, 72.09, 1, purpose=Purpose.CONFIRM)
    watch.take([bad(72.1, "r01", purpose=Purpose.CONFIRM)], 72.1 * HOUR_S)
    assert watch.orders(72.2 * HOUR_S, 15) == []
    assert len(watch.orders(72.3 * HOUR_S, 15)) == 3
    assert watch.orders(72.4 * HOUR_S, 12) == []


def test_two_failures_in_a_row_order_three_more_at_once():
    watch = learnt()
    watch.take([bad(72)], 72 * HOUR_S)
    watch.orders(72 * HOUR_S, 24)

    watch.take([bad(72.01, "r01", purpose=Purpose.CONFIRM)], 72.01 * HOUR_S)
    assert [o.region for o in watch.orders(72.01 * HOUR_S, 15)] == ["r00", "r01", "r00"]


def test_five_failures_in_a_row_alarm_however_high_the_threshold_and_four_do_not():
    watch = learnt(runs_a_day=318.0)
    assert watch.rules.pooled[Chart.FAILURES] > 15
    assert Turn.ALARM not in {c.turn for c in feed(watch, 72, 4, bad)}

    changes = watch.take([bad(76, limited=True), bad(77)], 77 * HOUR_S)
    assert (Turn.ALARM, POOLED, Trouble.FAILURES) in turns(changes)
    assert watch.charts[POOLED][Chart.FAILURES].s == watch.rules.pooled[Chart.FAILURES]


def test_a_good_answer_ends_the_row_of_failures():
    watch = learnt(runs_a_day=318.0)
    feed(watch, 72, 4, bad, step_h=0.1)
    feed(watch, 72.4, 1)

    assert Turn.ALARM not in {c.turn for c in watch.take([bad(72.5)], 72.5 * HOUR_S)}


def test_a_muted_watch_raises_no_alarm_of_a_row_of_failures():
    watch = learnt()
    watch.rules = replace(watch.rules, muted=True)

    assert Turn.ALARM not in {c.turn for c in feed(watch, 72, 9, bad)}
    assert isfinite(watch.charts[POOLED][Chart.FAILURES].s)


def test_a_failure_of_a_slow_endpoint_is_asked_about_as_any_other():
    watch = learnt()
    feed(watch, 72, 12, speed=50)
    changes = watch.take([bad(84)], 84 * HOUR_S)

    assert turns(changes) == [(Turn.SUSPECTED, POOLED, Trouble.FAILURES)]
    assert len(watch.orders(84 * HOUR_S, 24)) == 3
    feed(watch, 84.1, 3, bad, step_h=0.01, purpose=Purpose.CONFIRM)
    assert judge(watch).verdict is Verdict.FAILING
    assert watch.suspicion is None


@pytest.mark.parametrize(
    ("allowed", "asked"), [(99, 3), (24, 3), (23, 2), (12, 2), (11, 1), (1, 1), (0, 0), (-1, 0)]
)
def test_a_failure_has_fewer_probes_at_first_the_less_a_day_still_allows(allowed, asked):
    watch = learnt()
    watch.take([bad(72)], 72 * HOUR_S)
    assert [o.region for o in watch.orders(72 * HOUR_S, allowed)] == ["r00", "r01", "r02"][:asked]


def test_where_the_one_probe_of_a_failure_fails_too_three_more_go_out_at_once():
    watch = learnt()
    watch.take([bad(72)], 72 * HOUR_S)
    watch.orders(72 * HOUR_S, 4)

    watch.take([bad(72.1, purpose=Purpose.CONFIRM)], 72.1 * HOUR_S)
    assert [o.region for o in watch.orders(72.1 * HOUR_S, 3)] == ["r01", "r02", "r00"]


@pytest.mark.parametrize(("allowed", "asked"), [(12, 2), (6, 1)])
def test_as_many_good_answers_as_were_asked_for_clear_a_failure(allowed, asked):
    watch = learnt()
    watch.take([bad(72)], 72 * HOUR_S)
    watch.orders(72 * HOUR_S, allowed)
    changes = [feed(watch, 72.1 + k / 100, 1, purpose=Purpose.CONFIRM) for k in range(asked)]

    assert [c.turn for one in changes for c in one] == [Turn.CLEARED]
    assert changes[-1]


def test_good_answers_of_the_schedule_clear_a_failure_where_they_are_from_its_region():
    watch = learnt()
    watch.take([bad(72)], 72 * HOUR_S)
    watch.orders(72 * HOUR_S, 24)
    for k in range(4):
        watch.take([good(72.1 + k / 100, "r01")], (72.1 + k / 100) * HOUR_S)
    assert watch.suspicion is not None

    changes = [
        change
        for k in range(3)
        for change in watch.take([good(72.2 + k / 100)], (72.2 + k / 100) * HOUR_S)
    ]
    assert [c.turn for c in changes] == [Turn.CLEARED]


def test_a_confirming_probe_that_met_a_rate_limit_is_no_good_answer():
    watch = learnt()
    watch.take([bad(72)], 72 * HOUR_S)
    watch.orders(72 * HOUR_S, 6)

    assert watch.take([bad(72.1, limited=True, purpose=Purpose.CONFIRM)], 72.1 * HOUR_S) == []
    assert watch.suspicion is not None


def test_the_last_probe_of_a_day_is_from_the_suspect_region_and_is_not_spent_on_what_is_slow():
    watch = learnt()
    watch.take([bad(72)], 72 * HOUR_S)
    assert [order.region for order in watch.orders(72 * HOUR_S, 1)] == ["r00"]

    watch = learnt()
    feed(watch, 72, 4, speed=50)
    assert watch.orders(75 * HOUR_S, 7) == []


SHARES = st.lists(st.tuples(st.integers(0, 26), st.booleans()), min_size=1, max_size=8)


@given(SHARES, st.booleans())
def test_of_two_probes_or_more_a_third_to_two_thirds_are_from_the_suspect_region(rounds, hard):
    suspicion = Suspicion(since=0, region="r01", workload="standard", hard=hard, due_at=0)
    asked = []
    for now, (allowed, turns_hard) in enumerate(rounds):
        suspicion.hard |= turns_hard
        suspicion.due_at = now
        asked += next_round(suspicion, REGIONS, now, gap_s=1, allowed=allowed)

        own = sum(order.region == "r01" for order in asked)
        assert len(asked) < 2 or len(asked) <= 3 * own <= 2 * len(asked)
    assert len(asked) <= MOST_ORDERED


def test_where_the_suspect_region_is_not_heard_the_others_are_asked_alone():
    suspicion = Suspicion(since=0, region="r01", workload="standard", hard=True, due_at=0)

    asked = next_round(suspicion, ("r00", "r02"), 0, gap_s=1, allowed=24)
    assert [order.region for order in asked] == ["r00", "r02", "r00"]


def test_a_slowdown_whose_level_drifts_halfway_back_is_not_called_ok():
    watch = learnt()
    feed(watch, 72, 12, speed=50)

    feed(watch, 84, 48, speed=75)
    assert judge(watch).verdict is Verdict.SLOW


def test_good_answers_of_confirming_probes_clear_a_failure():
    watch = learnt()
    watch.take([bad(72)], 72 * HOUR_S)
    changes = feed(watch, 72.1, 3, step_h=0.01, purpose=Purpose.CONFIRM)

    assert [c.turn for c in changes] == [Turn.CLEARED]
    assert watch.suspicion is None


def test_no_probe_is_ordered_beyond_the_budget_and_one_region_orders_from_itself():
    watch = learnt(("r00",))
    assert watch.orders(72 * HOUR_S, 12) == []
    watch.take([bad(72)], 72 * HOUR_S)
    assert [order.region for order in watch.orders(72 * HOUR_S, 24)] == ["r00"] * 3
    assert daily_budget(100) == 12
    assert daily_budget(1000) == 50

    watch = learnt()
    feed(watch, 72, 4, speed=50)
    assert watch.orders(75 * HOUR_S, 0) == []


def test_a_suspicion_of_two_hours_is_left_unconfirmed_and_forgotten_after_four():
    watch = learnt()
    feed(watch, 72, 3, speed=50)
    assert [c.turn for c in watch.take([bad(77, limited=True)], 77 * HOUR_S)] == [Turn.UNCONFIRMED]

    assert watch.suspicion.over
    assert watch.orders(77 * HOUR_S, 12) == []
    watch.take([bad(79, limited=True)], 79 * HOUR_S)
    assert watch.suspicion is None


def test_a_failure_has_probes_of_its_own_though_slowness_was_suspected_before():
    watch = learnt()
    feed(watch, 72, 3, speed=50)
    for k in range(4):
        watch.orders((74 + k / 2) * HOUR_S, 99)
    watch.take([bad(76)], 76 * HOUR_S)

    assert len(watch.orders(76 * HOUR_S, 24)) == 3


def test_what_is_as_usual_again_clears_a_suspicion():
    watch = learnt()
    feed(watch, 72, 3, speed=50, step_h=0.1)

    assert [c.turn for c in feed(watch, 73, 3, step_h=0.1)] == [Turn.CLEARED]


def test_a_suspicion_left_unconfirmed_that_clears_later_is_not_told_twice():
    watch = learnt()
    feed(watch, 72, 3, speed=50)
    watch.suspicion.over = True

    assert feed(watch, 76, 3) == []
    assert watch.suspicion is None


RUNS = st.lists(
    st.tuples(
        st.sampled_from(REGIONS),
        st.sampled_from([0.001, 0.5, 1.0, 60.0]),
        st.sampled_from([0.01, 50.0, 100.0, 5000.0]),
        st.booleans(),
        st.sampled_from(list(Load)),
    ),
    max_size=60,
)


@settings(max_examples=30, deadline=None)
@given(RUNS)
def test_whatever_comes_every_chart_stays_finite_and_within_bounds(runs):
    watch = learnt()
    for k, (region, ttft_s, speed, failed, load) in enumerate(runs):
        hour = 72 + k / 2
        run = (
            bad(hour, region)
            if failed
            else good(hour, region, ttft_s=ttft_s, speed=speed, load=load)
        )
        watch.take([run], hour * HOUR_S)
        for scope, charts in watch.charts.items():
            level = watch.rules.regional if scope else watch.rules.pooled
            for chart, h in zip(charts, level, strict=True):
                assert isfinite(chart.s)
                assert 0 <= chart.s <= h


@settings(max_examples=20, deadline=None)
@given(st.permutations(REGIONS), st.lists(st.sampled_from([0.4, 0.7, 2.5]), min_size=3, max_size=3))
def test_the_order_of_runs_of_one_moment_does_not_matter(order, ttfts):
    runs = {
        region: good(72, region, ttft_s=ttft) for region, ttft in zip(REGIONS, ttfts, strict=True)
    }
    told, shuffled = learnt(), learnt()
    told.take(runs.values(), 72 * HOUR_S)
    shuffled.take([runs[region] for region in order], 72 * HOUR_S)

    assert state_of(shuffled) == state_of(told)


def test_a_watch_goes_on_from_its_state_as_if_it_had_never_stopped():
    watch = played(3).rule
    watch.take([bad(121)], 121 * HOUR_S)
    state = json.loads(json.dumps(state_of(watch)))
    again = watch_of(state, watch.rules)
    later = [good(121.5, speed=50), bad(122)]

    assert json.loads(json.dumps(state_of(again))) == state
    assert again.take(later, 122 * HOUR_S) == watch.take(later, 122 * HOUR_S)
    assert state_of(again) == state_of(watch)
    assert len(json.dumps(state)) < 10_000


def test_without_a_state_or_with_one_of_another_form_a_watch_begins_anew():
    rules = make_rules(REGIONS, runs_a_day=30)

    assert watch_of(None, rules).baselines == {}
    assert watch_of({"v": 0}, rules).baselines == {}


def test_a_muted_watch_never_alarms_and_shows_how_high_its_charts_go():
    watch = make_watch()
    watch.rules = replace(watch.rules, muted=True)
    feed(watch, 0, 72)

    assert Turn.ALARM not in {c.turn for c in feed(watch, 72, 48, speed=50)}
    assert watch.charts[POOLED][Chart.SPEED].s > watch.rules.pooled[Chart.SPEED]


def test_a_suspicion_ends_as_time_passes_though_no_run_comes():
    watch = learnt()
    assert (watch.due_at, watch.pass_time(72 * HOUR_S)) == (None, [])
    watch.take([bad(72)], 72 * HOUR_S)
    assert watch.due_at == 72 * HOUR_S + 1
    watch.orders(72 * HOUR_S, 12)
    assert watch.due_at == 74 * HOUR_S + 1

    assert [c.turn for c in watch.pass_time(watch.due_at)] == [Turn.UNCONFIRMED]
    assert watch.due_at == 76 * HOUR_S + 1
    assert watch.pass_time(watch.due_at) == []
    assert watch.suspicion is None

    watch = learnt()
    watch.take([bad(72)], 72 * HOUR_S)
    watch.pass_time(75 * HOUR_S)
    assert watch.due_at == 76 * HOUR_S + 1


def test_a_model_that_is_gone_is_suspected_of_nothing_else():
    watch = learnt()
    feed(watch, 72, 3, bad, gone=True)

    assert watch.suspicion is None
    assert [(met.trouble, met.region) for met in troubles_of(watch)] == [(Trouble.GONE, POOLED)]


def test_trouble_that_the_chart_of_all_regions_and_a_regions_tell_is_one():
    watch = learnt()
    feed(watch, 72, 40, speed=50)
    (met,) = troubles_of(watch)
    assert (met.trouble, met.region) == (Trouble.OUTPUT_SPEED, POOLED)

    watch = learnt()
    for k in range(20):
        watch.take([good(72 + k, ttft_s=5.0)], (72 + k) * HOUR_S)
        watch.take([good(72 + k, "r01"), good(72 + k, "r02")], (72 + k) * HOUR_S)
    assert [(met.trouble, met.region) for met in troubles_of(watch)] == [
        (Trouble.FIRST_TOKEN, "r00")
    ]


def test_what_is_suspected_is_told_by_its_worst_chart_until_it_is_settled():
    watch = learnt()
    assert suspected_of(watch) is None
    feed(watch, 72, 3, speed=50)
    assert suspected_of(watch).trouble is Trouble.OUTPUT_SPEED
    watch.suspicion.region = "elsewhere"
    assert suspected_of(watch).trouble is Trouble.OUTPUT_SPEED
    watch.take([bad(75)], 75 * HOUR_S)
    assert suspected_of(watch).trouble is Trouble.FAILURES
    watch.suspicion.over = True
    assert suspected_of(watch) is None


def test_a_shorter_day_has_shorter_hours():
    watch = Watch(make_rules(REGIONS, runs_a_day=30, day_s=480, window_s=1_440, late_s=300))

    assert watch.rules.spacing_s == 16
    assert watch.rules.scaled(3_600) == 20
    assert watch.take([bad(0)], 301) == []


def test_failures_that_are_over_everywhere_are_over_in_each_region_that_answers_well():
    watch = learnt()
    feed(watch, 72, 15, bad)
    assert set(judge(watch).regions.values()) == {Verdict.FAILING}
    changes = [
        *feed(watch, 87, 20),
        *watch.take([good(107, "r00"), good(107, "r02")], 107 * HOUR_S),
    ]

    assert set(judge(watch).regions.values()) == {Verdict.OK}
    assert {c.scope for c in changes if c.turn is Turn.EASED} == {POOLED, *REGIONS}

    watch = learnt()
    feed(watch, 72, 15, bad)
    for k in range(63):
        run = bad(87 + k) if k % 20 == 0 else good(87 + k, REGIONS[1 + k % 2])
        watch.take([run], (87 + k) * HOUR_S)
    assert judge(watch).regions["r00"] is Verdict.FAILING
