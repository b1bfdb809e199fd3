import json
from datetime import timedelta

import pytest
from support.benches import NOW, bench_on, make_endpoint, make_fleet, make_task

from pacewatch.words.endpoint import Auth
from pacewatch.words.fleet import Schedule, Spending
from pacewatch.words.outcome import Decline, Outcome
from pacewatch.words.slot import Load
from pacewatch.words.spending import Caps
from pacewatch.words.timing import RateLimits, Timing
from probe.carry import carry, planned_run, prepare, recover
from probe.headroom import Account


def records(bench):
    return [json.loads(kept.record) for kept in bench.outbox.batch()]


def test_a_task_that_may_be_run_is_looked_up_in_the_workers_own_catalog(tmp_path):
    with bench_on(tmp_path) as bench:
        job = prepare(bench, make_task(load=Load.PARALLEL))

    assert (
        job.endpoint.id,
        job.workload.name,
        job.key.reveal(),
        job.requests,
    ) == ("own/model", "short", "k", 10)


def test_a_parallel_run_makes_as_many_requests_as_the_file_says(tmp_path):
    fleet = make_fleet(schedule=Schedule(parallel_requests=4))
    with bench_on(tmp_path, fleet=fleet) as bench:
        assert prepare(bench, make_task(load=Load.PARALLEL)).requests == 4
        assert prepare(bench, make_task(load=Load.SINGLE)).requests == 1


def test_a_job_shows_no_key(tmp_path):
    with bench_on(tmp_path, environment={"OWN_API_KEY": "very-secret"}) as bench:
        assert "very-secret" not in repr(prepare(bench, make_task()))
        assert "very-secret" not in repr(bench)


@pytest.mark.parametrize(
    ("fleet", "task", "reason"),
    [
        (make_fleet(), {"valid_until": NOW - timedelta(seconds=1)}, Decline.LATE),
        (make_fleet(), {"endpoint": "own/other"}, Decline.UNKNOWN_ENDPOINT),
        (make_fleet(), {"workload": "other"}, Decline.CATALOG),
        (make_fleet(make_endpoint(protocol="novel")), {}, Decline.CATALOG),
        (make_fleet(make_endpoint(key_names=("NO_SUCH_KEY",))), {}, Decline.NO_KEY),
        (make_fleet(spending=Spending(usd_per_day=1e-6)), {}, Decline.BUDGET),
        (make_fleet(spending=Spending(tokens_per_day=399)), {}, Decline.BUDGET),
        (
            make_fleet(spending=Spending(providers={"own": Caps(requests_per_day=0)})),
            {},
            Decline.BUDGET,
        ),
    ],
)
def test_what_is_not_run_is_a_record_with_the_reason_and_no_requests(tmp_path, fleet, task, reason):
    asked = make_task(**task)
    with bench_on(tmp_path, fleet=fleet) as bench:
        carry(bench, asked)
        [record] = records(bench)

    assert (str(asked.run_id), str(reason), []) == (
        record["run"],
        record["declined"],
        record["requests"],
    )


def test_a_declined_run_is_not_in_the_journal(tmp_path):
    task = make_task(valid_until=NOW - timedelta(seconds=1))
    with bench_on(tmp_path) as bench:
        carry(bench, task)

        assert not bench.journal.knows(task.run_id)


def test_a_run_declined_for_the_budget_spends_nothing_of_it(tmp_path):
    with bench_on(tmp_path, fleet=make_fleet(spending=Spending(usd_per_day=1e-6))) as bench:
        carry(bench, make_task())

        assert bench.budget.spent(NOW).usd == 0.0


def test_a_run_is_declined_while_its_keys_rate_limit_is_nearly_eaten_up(tmp_path):
    limits = RateLimits(tokens_left=100, tokens_limit=6_000, tokens_reset_s=3)
    account = Account(provider="own", key_name="OWN_API_KEY")
    with bench_on(tmp_path) as bench:
        bench.headroom.note(account, "any", [Timing(n=0, outcome=Outcome.OK, limits=limits)], NOW)
        carry(bench, make_task())
        [record] = records(bench)

        assert (record["declined"], record["requests"]) == ("headroom", [])
        assert bench.budget.spent(NOW).requests == 0


def test_a_full_disk_is_told_by_the_heartbeat_and_starts_nothing(tmp_path):
    task = make_task()
    with bench_on(tmp_path, max_bytes=-1) as bench:
        carry(bench, task)

        assert [task.run_id] == bench.hand.full()
        assert records(bench) == []
        assert not bench.journal.knows(task.run_id)


def test_a_simulated_fleet_reads_no_key(tmp_path):
    fleet = make_fleet(make_endpoint(auth=Auth.BEARER), simulated=True)
    with bench_on(tmp_path, fleet=fleet) as bench:
        assert prepare(bench, make_task()).key is None


def test_what_a_killed_worker_had_started_is_reported_as_internal_at_its_next_start(tmp_path):
    task = make_task(load=Load.PARALLEL)
    with bench_on(tmp_path) as bench:
        planned = planned_run(bench, task)
        bench.journal.start(planned, 10)
    with bench_on(tmp_path) as bench:
        assert recover(bench) == 1
        assert recover(bench) == 0
        [record] = records(bench)

    assert (str(task.run_id), str(planned.execution)) == (record["run"], record["execution"])
    assert [request["outcome"] for request in record["requests"]] == ["internal"] * 10
