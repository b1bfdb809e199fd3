from datetime import UTC, datetime, timedelta

from probe.clock import Clock, offset_s
from probe.disk import Disk

CENTRE = datetime(2026, 3, 1, 12, tzinfo=UTC)
AHEAD = timedelta(hours=2)


def test_the_offset_takes_both_ways_as_equally_long():
    asked_at = CENTRE + AHEAD
    answered_at = asked_at + timedelta(seconds=4)

    assert offset_s(asked_at, answered_at, CENTRE + timedelta(seconds=2)) == 7_200.0


def test_a_clock_two_hours_ahead_tells_the_centres_time_once_it_was_told(tmp_path):
    with Disk(tmp_path, simulated=False) as disk:
        clock = Clock(disk, lambda: CENTRE + AHEAD)
        assert clock.offset_s is None
        clock.learn(CENTRE + AHEAD, CENTRE + AHEAD, CENTRE)
        assert clock.centre_now() == CENTRE


def test_the_offset_outlives_the_worker(tmp_path):
    with Disk(tmp_path, simulated=False) as disk:
        Clock(disk).learn(CENTRE + AHEAD, CENTRE + AHEAD, CENTRE)
    with Disk(tmp_path, simulated=False) as disk:
        assert Clock(disk).offset_s == 7_200.0


def test_small_steps_of_the_offset_reach_the_disk_once_they_add_up(tmp_path):
    with Disk(tmp_path, simulated=False) as disk:
        clock = Clock(disk)
        for step in range(5):
            there = CENTRE + timedelta(seconds=0.06 * step)
            clock.learn(there, there, CENTRE)
    with Disk(tmp_path, simulated=False) as disk:
        assert Clock(disk).offset_s == 0.24
