from contextlib import ExitStack

import pytest

from pacewatch.words.slot import Load
from probe.room import room, room_folder


def never():
    return False


def is_free(folder, load):
    with room(folder, load, never) as free:
        return free


def test_single_runs_are_beside_one_another(tmp_path):
    with room(tmp_path, Load.SINGLE, never) as free:
        assert free
        assert is_free(tmp_path, Load.SINGLE)


@pytest.mark.parametrize("load", Load)
def test_a_parallel_run_is_alone(tmp_path, load):
    with room(tmp_path, Load.PARALLEL, never) as free:
        assert free
        assert not is_free(tmp_path, load)
    assert is_free(tmp_path, load)


def test_a_parallel_run_waits_for_single_ones_to_end(tmp_path):
    with ExitStack() as running:
        assert running.enter_context(room(tmp_path, Load.SINGLE, never))

        def single_ends():
            running.close()
            return True

        with room(tmp_path, Load.PARALLEL, single_ends) as free:
            assert free


def test_a_single_run_that_comes_later_does_not_go_before_a_waiting_parallel_one(tmp_path):
    seen = []
    with ExitStack() as running:
        assert running.enter_context(room(tmp_path, Load.SINGLE, never))

        def another_single_comes():
            seen.append(is_free(tmp_path, Load.SINGLE))
            running.close()
            return True

        with room(tmp_path, Load.PARALLEL, another_single_comes) as free:
            assert free
    assert seen == [False]


def test_a_single_run_that_waited_goes_before_the_next_parallel_one(tmp_path):
    seen = []
    with ExitStack() as running:
        assert running.enter_context(room(tmp_path, Load.PARALLEL, never))

        def next_parallel_comes():
            running.close()
            seen.append(is_free(tmp_path, Load.PARALLEL))
            return True

        with room(tmp_path, Load.SINGLE, next_parallel_comes) as free:
            assert free
    assert seen == [False]


def test_who_gives_up_waiting_leaves_nothing_locked(tmp_path):
    with room(tmp_path, Load.SINGLE, never):
        assert not is_free(tmp_path, Load.PARALLEL)
        assert is_free(tmp_path, Load.SINGLE)


def test_in_a_simulated_fleet_each_region_counts_as_a_host(tmp_path):
    assert tmp_path == room_folder(tmp_path, simulated=True)


def test_a_real_fleets_room_is_the_hosts(tmp_path, monkeypatch):
    own, host = tmp_path / "own", tmp_path / "host"
    host.mkdir()
    monkeypatch.setattr("probe.room.HOST_FOLDERS", (tmp_path / "missing", host))

    assert host == room_folder(own, simulated=False)


def test_where_the_host_has_no_place_for_locks_the_worker_has(tmp_path, monkeypatch):
    monkeypatch.setattr("probe.room.HOST_FOLDERS", (tmp_path / "missing",))

    assert tmp_path == room_folder(tmp_path, simulated=False)
