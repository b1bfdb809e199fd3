"""The worker as a process: a real broker, a simulated provider on real sockets, and an aggregator
whose answers the test chooses.
"""

from datetime import UTC, datetime

import psutil
import pytest
from support.inlet import served_inlet
from support.servers import short_folder
from support.simulator import running_simulator
from support.workers import (
    FAST,
    REGION,
    send,
    simulated_endpoints,
    task_for,
    worker_process,
    write_config,
)

from pacewatch.words.slot import from_rfc3339

MOST_BYTES = 300_000_000
"""What a worker may take in memory with no run in hand."""
QUEUE = f"probe.{REGION}"
ENDPOINTS = [endpoint.id for endpoint in simulated_endpoints()]


@pytest.fixture(scope="module")
def simulator():
    with running_simulator(*simulated_endpoints(), regions=(REGION,)) as running:
        yield running


@pytest.fixture(autouse=True)
def clean(simulator):
    yield
    simulator.clear()


@pytest.fixture
def inlet():
    with served_inlet() as served:
        yield served


@pytest.fixture
def folder(simulator):
    with short_folder() as made:
        write_config(made, simulator.address.regions[REGION])
        yield made


@pytest.fixture
def worker(folder, broker, inlet):
    config = folder / "pacewatch.toml"
    with worker_process(folder, broker=broker, aggregator_url=inlet.url, config=config) as made:
        yield made


@pytest.fixture
def asked(simulator):
    """The endpoints that the simulated providers were asked for in this test, each time."""
    before = len(simulator.requests())
    return lambda: [line["endpoint"] for line in simulator.requests()[before:]]


def outcomes(record):
    return [request["outcome"] for request in record["requests"]]


def test_a_task_becomes_one_pushed_run_and_a_worker_never_starts_a_run_twice(
    worker, broker, inlet, simulator, asked
):
    worker.start()
    task = task_for(load="parallel")
    send(broker, task, task, task)
    inlet.wait_until(lambda served: served.stored)
    send(broker, task)
    worker.wait_for(lambda: len(worker.events("run.known")) == 3)

    [record] = inlet.stored.values()
    assert record["run"] == task["run"]
    assert outcomes(record) == ["ok"] * 10
    assert len(asked()) == 10
    assert broker.waiting(QUEUE) == []


def test_forged_messages_are_one_sentence_each_and_harm_nothing(worker, broker, inlet):
    worker.start()
    for line in ("no JSON at all", "[]", "\x80", '{"headers": 7}', "null", "[" * 9_000):
        broker.ask("LPUSH", QUEUE, line)
    send(broker, {"not": "a task"}, task_for() | {"base_url": "http://203.0.113.7"}, "x", None)
    send(broker, task_for(), name="celery.backend_cleanup")
    send(broker, task_for(), compression="zlib")
    send(broker, task_for(), serializer="yaml" if _has_yaml() else "pickle")
    good = task_for()
    # what a message asks for beyond its task is not done: it is neither late nor chained
    send(broker, good, countdown=3_600, link=_signature())
    inlet.wait_until(lambda served: served.stored)

    assert inlet.runs() == [good["run"]]
    refused = worker.events("task.refused")
    assert len(refused) == 13
    assert all("\n" not in line["reason"] for line in refused)
    assert [line for line in worker.lines() if line["level"] in {"error", "critical"}] == []
    assert broker.ask("LLEN", QUEUE) == 0
    assert broker.traces_of_open_celery() == []


def test_thousands_of_forged_tasks_cost_their_refusals_and_the_real_one_behind_them_is_run(
    worker, broker, inlet
):
    broker.ask("LPUSH", QUEUE, *['{"headers": {"task": "rm"}, "body": "e30="}'] * 3_000)
    good = task_for()
    send(broker, good)
    worker.start()
    inlet.wait_until(lambda served: served.stored, 120)

    assert inlet.runs() == [good["run"]]
    assert broker.ask("LLEN", QUEUE) == 0
    assert psutil.Process(worker.process.pid).memory_info().rss < MOST_BYTES


def _has_yaml():
    try:
        import yaml  # noqa: F401
    except ImportError:
        return False
    return True


def _signature():
    from celery import Celery

    return Celery(set_as_current=False).signature("celery.backend_cleanup")


def test_the_worker_outlives_its_broker_and_does_what_it_had_taken(
    worker, broker, inlet, simulator, asked
):
    simulator.switch_on("slow", "all", ttft_add_s=2)
    worker.start()
    tasks = [task_for() for _ in range(12)]
    send(broker, *tasks)
    worker.wait_for(lambda: len(asked()) == 8)
    worker.wait_for(lambda: broker.ask("LLEN", QUEUE) == 0)
    for _ in range(2):
        failed = len(worker.events("broker.failed"))
        broker.kill()
        worker.wait_for(lambda before=failed: len(worker.events("broker.failed")) > before)
        broker.start()
        tasks.append(task_for())
        send(broker, tasks[-1])
        inlet.wait_until(lambda served: tasks[-1]["run"] in served.runs())
    inlet.wait_until(lambda served: len(served.stored) == len(tasks))

    assert set(inlet.runs()) == {task["run"] for task in tasks}
    assert worker.process.poll() is None


def test_a_broker_that_falls_silent_is_connected_to_anew(folder, broker, inlet):
    config = folder / "pacewatch.toml"
    patience = {"pacewatch.queue.SILENCE_S": 2, "probe.tasks.ANSWER_S": 2}
    with worker_process(
        folder, broker=broker, aggregator_url=inlet.url, config=config, numbers=patience
    ) as worker:
        worker.start()
        with broker.silenced():
            worker.wait_for(lambda: worker.events("broker.failed"))
        worker.wait_for(lambda: worker.events("broker.recovered"))
        task = task_for()
        send(broker, task)
        inlet.wait_until(lambda served: served.stored)

    assert inlet.runs() == [task["run"]]


def test_a_slow_broker_delays_tasks_and_loses_and_doubles_none(worker, broker, inlet, asked):
    tasks = [task_for() for _ in range(6)]
    worker.start()
    with broker.slowed(1.0):
        send(broker, *tasks)
        inlet.wait_until(lambda served: len(served.stored) == len(tasks), 120)

    assert sorted(inlet.runs()) == sorted(task["run"] for task in tasks)
    assert len(asked()) == len(tasks)
    assert worker.events("broker.failed") == []


def test_nothing_is_taken_before_the_centres_time_is_known(folder, broker, simulator):
    config = folder / "pacewatch.toml"
    with served_inlet() as inlet:
        url = inlet.url
        port = inlet.server_address[1]
    # nobody answers there now
    with worker_process(folder, broker=broker, aggregator_url=url, config=config) as worker:
        task = task_for()
        send(broker, task)
        worker.start(wait=False)
        worker.wait_for(lambda: worker.events("heartbeat.failed"))
        assert broker.ask("LLEN", QUEUE) == 1
        with served_inlet(port) as inlet:
            inlet.wait_until(lambda served: served.stored)
            assert inlet.runs() == [task["run"]]


def test_a_worker_whose_clock_is_two_hours_ahead_measures_all_the_same(
    folder, broker, inlet, simulator
):
    config = folder / "pacewatch.toml"
    with worker_process(
        folder, broker=broker, aggregator_url=inlet.url, config=config, ahead_s=7_200
    ) as worker:
        worker.start()
        valid, late = task_for(), task_for(valid_until="2026-01-01T00:00:00Z")
        send(broker, valid, late)
        inlet.wait_until(lambda served: len(served.stored) == 2)

    records = {record["run"]: record for record in inlet.stored.values()}
    assert outcomes(records[valid["run"]]) == ["ok"]
    assert records[late["run"]]["declined"] == "late"
    [request] = records[valid["run"]]["requests"]
    came = request["chunks"]["at_us"]
    assert abs(came[0] / 1e6 - simulator.answers()[-1]["ttft_s"]) < 1.0
    assert came == sorted(came)
    told = from_rfc3339(inlet.heartbeats[0]["clock"]) - datetime.now(UTC)
    assert 7_000 < told.total_seconds() < 7_300


def test_a_run_that_was_cut_short_is_reported_as_internal_and_never_run_again(
    worker, broker, inlet, simulator, asked
):
    simulator.switch_on("slow", FAST, ttft_add_s=15)
    worker.start()
    task = task_for()
    send(broker, task)
    worker.wait_for(asked)
    worker.kill()
    assert inlet.stored == {}
    worker.start()
    inlet.wait_until(lambda served: served.stored)
    send(broker, task)
    worker.wait_for(lambda: worker.events("run.known"))

    [record] = inlet.stored.values()
    assert record["run"] == task["run"]
    assert outcomes(record) == ["internal"]
    assert len(asked()) == 1


def test_a_finished_run_outlives_a_kill_before_anybody_took_it(
    worker, broker, inlet, simulator, asked
):
    inlet.down = True
    worker.start(wait=False)
    worker.wait_for(lambda: worker.events("heartbeat.failed"))
    inlet.down = False
    worker.wait_for(lambda: worker.events("worker.ready"))
    inlet.down = True
    task = task_for()
    send(broker, task)
    worker.wait_for(lambda: worker.events("run.kept"))
    worker.kill()
    assert inlet.stored == {}
    inlet.down = False
    worker.start()
    inlet.wait_until(lambda served: served.stored)

    [record] = inlet.stored.values()
    assert record["run"] == task["run"]
    assert outcomes(record) == ["ok"]
    assert len(asked()) == 1


def test_a_worker_told_to_end_finishes_what_runs_and_gives_back_what_has_not_begun(
    worker, broker, inlet, simulator, asked
):
    simulator.switch_on("slow", "all", ttft_add_s=6)
    worker.start()
    # seven run, a parallel one waits for its host to be free, and four wait for a thread
    tasks = [task_for(endpoint) for endpoint in ENDPOINTS[:7]]
    tasks.append(task_for(ENDPOINTS[7], load="parallel"))
    send(broker, *tasks)
    worker.wait_for(lambda: len(asked()) == 7)
    tasks += [task_for(endpoint) for endpoint in ENDPOINTS[8:12]]
    send(broker, *tasks[8:])
    worker.wait_for(lambda: broker.ask("LLEN", QUEUE) == 0)
    code = worker.stop()

    assert code == 0
    assert sorted(asked()) == sorted(ENDPOINTS[:7])
    assert set(inlet.runs()) == {task["run"] for task in tasks[:7]}
    assert {"ok"} == {outcome for record in inlet.stored.values() for outcome in outcomes(record)}
    given_back = {message["args"][0]["run"] for message in broker.waiting(QUEUE)}
    assert given_back == {task["run"] for task in tasks[7:]}
    assert worker.events("worker.ended")


def test_a_heartbeat_lists_what_is_running(worker, broker, inlet, simulator):
    simulator.switch_on("slow", "all", ttft_add_s=7)
    worker.start()
    task = task_for()
    send(broker, task)
    inlet.wait_until(lambda served: any(task["run"] in b["in_hand"] for b in served.heartbeats))


def test_a_paused_region_declines(worker, broker, inlet):
    inlet.paused = True
    worker.start()
    task = task_for()
    send(broker, task)
    inlet.wait_until(lambda served: served.stored)

    assert [record["declined"] for record in inlet.stored.values()] == ["paused"]


def test_a_parallel_run_is_alone_on_its_host(worker, broker, inlet, simulator):
    simulator.switch_on("slow", "all", ttft_add_s=1)
    worker.start()
    tasks = [task_for(load=load) for load in ("single", "single", "parallel", "single", "parallel")]
    send(broker, *tasks)
    inlet.wait_until(lambda served: len(served.stored) == len(tasks))

    spans = {record["run"]: _span(record) for record in inlet.stored.values()}
    for task in tasks:
        if task["load"] == "parallel":
            begin, end = spans.pop(task["run"])
            assert all(other[1] <= begin or other[0] >= end for other in spans.values())
    assert {record["beside"] for record in inlet.stored.values()} <= {0, 1, 2}


def _span(record):
    begin = from_rfc3339(record["started_at"]).timestamp()
    longest = max(r["sent_us"] + r["end_us"] for r in record["requests"])
    return begin, begin + longest / 1e6


def test_a_second_worker_on_the_same_folder_says_so_and_stops(worker, folder, broker, inlet):
    worker.start()
    config = folder / "pacewatch.toml"
    with worker_process(folder, broker=broker, aggregator_url=inlet.url, config=config) as second:
        second.log = folder / "second.log"
        second.start(wait=False)
        code = second.process.wait(30)

    assert code == 1
    assert "another worker of the region" in second.log.read_text()
    assert "Traceback" not in second.log.read_text()


def test_a_region_that_the_fleet_does_not_have_is_one_sentence(folder, broker, inlet):
    config = folder / "pacewatch.toml"
    with worker_process(folder, broker=broker, aggregator_url=inlet.url, config=config) as worker:
        worker.environment["PACEWATCH_REGION"] = "mars"
        worker.start(wait=False)
        code = worker.process.wait(30)

    assert code == 2
    assert (
        worker.log.read_text()
        == 'pacewatch: PACEWATCH_REGION: "mars" is no region of this fleet (known: eu-west; '
        "pacewatch.toml here, or the file PACEWATCH_CONFIG names, has its regions)\n"
    )
