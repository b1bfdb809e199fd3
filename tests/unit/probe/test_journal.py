import json

import pytest
from support.timings import make_run

from pacewatch.words.errors import StoreError
from probe.disk import Disk
from probe.journal import Journal, unpack


@pytest.fixture
def disk(tmp_path):
    with Disk(tmp_path, simulated=False) as held:
        yield held


def test_a_run_is_known_from_its_start_on_and_after_a_restart(tmp_path):
    run = make_run()
    with Disk(tmp_path, simulated=False) as disk:
        journal = Journal(disk)
        assert not journal.knows(run.run_id)
        journal.start(run, 1)
        assert journal.knows(run.run_id)
    with Disk(tmp_path, simulated=False) as disk:
        assert Journal(disk).knows(run.run_id)


def test_no_run_is_started_twice(disk):
    journal = Journal(disk)
    journal.start(make_run(), 1)
    journal.finish(make_run().run_id)

    with pytest.raises(StoreError, match="UNIQUE"):
        journal.start(make_run(), 1)


def test_a_started_run_is_reported_as_all_internal_until_it_is_finished(disk):
    journal = Journal(disk)
    run = make_run()
    journal.start(run, 10)

    [(run_id, execution, packed)] = journal.unfinished()
    record = json.loads(unpack(packed))
    assert (run.run_id, run.execution) == (run_id, execution)
    assert (str(run.run_id), str(run.execution)) == (record["run"], record["execution"])
    assert list(range(10)) == [request["n"] for request in record["requests"]]
    assert {"internal"} == {request["outcome"] for request in record["requests"]}

    journal.finish(run.run_id)
    assert journal.unfinished() == []
    assert journal.runs() == 1


def test_old_finished_runs_are_forgotten_and_unfinished_ones_are_not(disk, monkeypatch):
    monkeypatch.setattr("probe.journal.KEPT", 2)
    journal = Journal(disk)
    runs = [make_run(name=name) for name in "abcde"]
    for run in runs:
        journal.start(run, 1)
        if run is not runs[0]:
            journal.finish(run.run_id)
    journal.start(make_run(name="f"), 1)

    assert [journal.knows(run.run_id) for run in runs] == [True, False, False, False, True]
