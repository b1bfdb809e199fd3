from datetime import UTC, datetime, timedelta

import pytest
from support.dispatching import dispatch_fleet, make_endpoint

from aggregator.dispatch import resend_after_s, resumed
from aggregator.slots import plan_start
from pacewatch.words.endpoint import Limits
from pacewatch.words.fleet import DEMO_SCHEDULE, Schedule

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
EARLIER = NOW - timedelta(hours=5)
LATER = NOW + timedelta(hours=1)
SCHEDULE = Schedule()


@pytest.mark.parametrize(
    ("total_s", "after_s"),
    [(20.0, 600.0), (600.0, 600.0), (900.0, 900.0)],
)
def test_a_slot_is_sent_again_after_ten_minutes_or_the_longest_run(
    total_s: float, after_s: float
) -> None:
    fleet = dispatch_fleet(endpoints=[make_endpoint("a/b", limits=Limits(total_s=total_s))])

    assert resend_after_s(fleet, "a/b") == after_s


def test_a_slot_of_an_endpoint_that_is_gone_is_sent_again_by_the_schedule() -> None:
    assert resend_after_s(dispatch_fleet(), "gone/away") == 600.0


def test_in_the_demo_a_slot_is_sent_again_within_its_validity() -> None:
    near = make_endpoint("a/b", limits=Limits(total_s=20))
    fleet = dispatch_fleet(endpoints=[near], schedule=DEMO_SCHEDULE)

    assert resend_after_s(fleet, "a/b") == 25.0 < DEMO_SCHEDULE.validity_s


class TestPlanStart:
    def test_a_store_without_a_plan_is_planned_from_now(self) -> None:
        assert plan_start(SCHEDULE, planned_until=None, changed=True, now=NOW) == NOW

    def test_a_plan_goes_on_where_it_ended(self) -> None:
        assert plan_start(SCHEDULE, planned_until=LATER, changed=False, now=NOW) == LATER
        assert plan_start(SCHEDULE, planned_until=EARLIER, changed=False, now=NOW) == EARLIER

    def test_a_changed_schedule_is_planned_anew_from_now(self) -> None:
        assert plan_start(SCHEDULE, planned_until=LATER, changed=True, now=NOW) == NOW

    def test_a_gap_is_planned_behind_by_a_changed_schedule_too(self) -> None:
        assert plan_start(SCHEDULE, planned_until=EARLIER, changed=True, now=NOW) == EARLIER

    def test_a_gap_is_planned_behind_a_window_at_most(self) -> None:
        long_ago = NOW - timedelta(days=30)

        start = plan_start(SCHEDULE, planned_until=long_ago, changed=False, now=NOW)
        assert start == NOW - timedelta(hours=72)


class TestResumed:
    FRESH_S = 90.0

    def test_a_first_tick_resumes_nothing(self) -> None:
        assert resumed(None, None, self.FRESH_S, NOW) is None

    def test_ticks_in_time_leave_it_as_it_is(self) -> None:
        before = NOW - timedelta(seconds=90)
        assert resumed(before, EARLIER, self.FRESH_S, NOW) == EARLIER

    def test_a_tick_after_a_silence_longer_than_a_heartbeat_stands_resumes(self) -> None:
        before = NOW - timedelta(seconds=91)
        assert resumed(before, EARLIER, self.FRESH_S, NOW) == NOW
