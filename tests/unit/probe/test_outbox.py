import json
from datetime import UTC, datetime

import pytest
from support.timings import make_run

from pacewatch.words.wire import encode_run
from probe.disk import Disk
from probe.outbox import Outbox, Waiting, body_of, choose

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def disk(tmp_path):
    with Disk(tmp_path, simulated=False) as held:
        yield held


def waiting(*places, size=10):
    return [Waiting(place=place, unpacked_bytes=size) for place in places]


def test_a_kept_run_is_there_after_a_restart_and_reads_as_it_was(tmp_path):
    run = make_run()
    with Disk(tmp_path, simulated=False) as disk:
        Outbox(disk).keep(run)
    with Disk(tmp_path, simulated=False) as disk:
        [kept] = Outbox(disk).batch()

    assert encode_run(run) == json.loads(kept.record)
    assert {"runs": [encode_run(run)]} == json.loads(body_of([kept]))
    assert (run.run_id, run.execution) == (kept.run_id, kept.execution)


def test_an_execution_is_kept_once(disk):
    outbox = Outbox(disk)
    outbox.keep(make_run())
    outbox.keep(make_run())

    assert outbox.runs() == 1


def test_a_taken_run_leaves_and_the_others_stay(disk):
    outbox = Outbox(disk)
    for name in "abc":
        outbox.keep(make_run(name=name))
    first, *others = outbox.batch()
    outbox.drop([first])

    assert others == outbox.batch()
    assert {kept.run_id for kept in others} == set(outbox.run_ids())


def test_a_refused_run_is_set_aside_with_its_reason(disk):
    outbox = Outbox(disk)
    outbox.keep(make_run())
    [kept] = outbox.batch()
    outbox.refuse(kept, "its region disagrees with the slot", NOW)

    assert outbox.batch() == []
    assert [(kept.run_id, "its region disagrees with the slot")] == outbox.refused()


def test_the_refused_ones_are_kept_within_bounds_the_newest(disk, monkeypatch):
    monkeypatch.setattr("probe.outbox.KEPT_REFUSED", 2)
    outbox = Outbox(disk)
    for name in "abc":
        outbox.keep(make_run(name=name))
        [kept] = outbox.batch()
        outbox.refuse(kept, name, NOW)

    assert [reason for _, reason in outbox.refused()] == ["b", "c"]


def test_fresh_and_old_runs_go_three_to_one():
    fresh = waiting(*range(1000, 900, -1))
    old = waiting(*range(1, 101))

    assert choose(fresh, old, max_runs=8) == [1000, 999, 998, 1, 997, 996, 995, 2]


def test_fewer_runs_than_a_batch_holds_all_go():
    fresh = waiting(5, 4, 3, 2, 1)

    assert {1, 2, 3, 4, 5} == set(choose(fresh, fresh[::-1]))


def test_a_batch_stays_within_its_bytes():
    fresh = waiting(3, 2, 1, size=100)

    assert choose(fresh, fresh[::-1], max_bytes=220) == [3, 2]


def test_a_run_that_is_too_large_is_sent_alone_and_blocks_no_other():
    fresh = [Waiting(place=2, unpacked_bytes=9_999), Waiting(place=1, unpacked_bytes=1)]

    assert choose(fresh, fresh[::-1], max_bytes=100) == [2]
    assert choose(fresh[1:], fresh[1:], max_bytes=100) == [1]


def test_an_outbox_over_its_bound_is_full_until_runs_leave(disk):
    outbox = Outbox(disk, max_bytes=100, min_free_bytes=0)
    assert not outbox.is_full()
    outbox.keep(make_run())
    assert outbox.is_full()
    outbox.drop(outbox.batch())
    assert not outbox.is_full()


def test_an_outbox_on_a_disk_without_room_is_full(disk):
    assert Outbox(disk, min_free_bytes=1 << 60).is_full()
