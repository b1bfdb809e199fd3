"""The central app over a real broker: what it sends, what it lets in, and a broker that is away."""

import base64
import json
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from queue import Empty, Queue
from typing import Any

import pytest
from celery.beat import Service
from support.broker import Broker
from support.centre import migrated_pool
from support.dispatching import NOON, REGIONS, Centre, dispatch_fleet

from aggregator.central import add_tasks, dispatch_once, keep_up_once, send
from aggregator.dispatch import tick
from aggregator.fleet_file import FleetFile
from aggregator.tasks import MOST_WAITING, QUEUE, BoundedScheduler, beat_entries, make_app
from aggregator.ticks import DISPATCH, JUDGE, NOTIFY, UPKEEP, make_message
from pacewatch.words.fleet import DEMO_SCHEDULE, Schedule
from pacewatch.words.slot import Slot
from pacewatch.words.wire import TASK_NAME, decode_task, encode_task, probe_queue


@pytest.fixture
def slots(database_url: str) -> Iterator[list[Slot]]:
    """First runs of three endpoints in two regions, planned and due."""
    with migrated_pool(database_url, simulated=False) as pool:
        centre = Centre(pool, dispatch_fleet())
        yield [*centre.tick(NOON).sent, *centre.tick(NOON + timedelta(seconds=5)).sent]


def test_a_task_is_json_in_its_regions_queue_and_nothing_more(
    broker: Broker, slots: list[Slot]
) -> None:
    assert send(make_app(broker.url), slots) == 0

    ours = [slot for slot in slots if slot.region == "eu-west"]
    waiting = broker.waiting(probe_queue("eu-west"))
    assert [encode_task(slot) for slot in ours] == [message["args"][0] for message in waiting]
    assert {len(message["args"]) for message in waiting} == {1}
    assert {message["type"] for message in waiting} == {"application/json"}
    headers = waiting[0]["headers"]
    assert (headers["task"], headers["id"]) == (TASK_NAME, str(ours[0].run_id))
    assert (headers["eta"], headers["expires"]) == (None, None), "no clock but the worker's decides"


def test_two_dispatchers_at_once_send_each_task_once(database_url: str, broker: Broker) -> None:
    fleet = dispatch_fleet(endpoints=[f"p{n}/m" for n in range(30)])
    with migrated_pool(database_url, simulated=False) as pool:
        centres = [Centre(pool, fleet), Centre(pool, fleet)]
        together = threading.Barrier(2)

        def run(centre: Centre) -> None:
            app = make_app(broker.url)
            for minute in range(40):
                together.wait(30)
                done = tick(pool, centre.orders, NOON + timedelta(minutes=minute))
                if done is not None:
                    send(app, done.sent)

        threads = [threading.Thread(target=run, args=(centre,)) for centre in centres]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        held = Counter({str(row["run_id"]): row["sends"] for row in centres[0].slots("sends > 0")})

    sent = Counter(
        message["args"][0]["run"]
        for region in REGIONS
        for message in broker.waiting(probe_queue(region))
    )
    assert len(held) >= 60
    assert held == sent
    assert set(sent.values()) == {1}


def test_what_a_broker_that_is_away_did_not_take_is_told_and_left_to_the_second_send(
    broker: Broker, slots: list[Slot]
) -> None:
    app = make_app(broker.url)
    broker.kill()

    assert send(app, slots) == len(slots)

    broker.start()
    assert send(app, slots) == 0
    assert decode_task(broker.waiting(probe_queue("us-east"))[0]["args"][0]).endpoint in {
        slot.endpoint for slot in slots
    }


def test_the_app_knows_its_own_ticks_and_nothing_else(
    database_url: str, broker: Broker, tmp_path: Any
) -> None:
    app = make_app(broker.url)
    with migrated_pool(database_url) as pool:
        file = tmp_path / "pacewatch.toml"
        file.write_text('[simulator]\nlocal = "http://127.0.0.1:9"\n')
        fleet_file = FleetFile(file, {}, NOON)
        add_tasks(app, pool, fleet_file)

        assert set(app.tasks) == {DISPATCH, JUDGE, NOTIFY, UPKEEP}
        assert app.conf.accept_content == ["json"]
        done = dispatch_once(app, pool, fleet_file, NOON)
        assert done is not None
        assert len(broker.waiting(probe_queue("local"))) == len(done.sent) > 0
        assert keep_up_once(pool, fleet_file, NOON).made


def test_ticks_do_not_pile_up_while_nobody_takes_them(broker: Broker) -> None:
    app = make_app(broker.url)
    app.conf.beat_schedule = beat_entries(DEMO_SCHEDULE)
    scheduler = Service(app, scheduler_cls=BoundedScheduler).scheduler
    entry = scheduler.schedule[DISPATCH]

    for _ in range(3 * MOST_WAITING):
        scheduler.apply_entry(entry)

    waiting = broker.waiting(QUEUE)
    assert [message["headers"]["task"] for message in waiting] == [DISPATCH] * MOST_WAITING


def test_the_first_ticks_come_at_once(broker: Broker) -> None:
    app = make_app(broker.url)
    app.conf.beat_schedule = beat_entries(Schedule(tick_s=3_600))
    scheduler = Service(app, scheduler_cls=BoundedScheduler).scheduler

    for _ in range(4):
        scheduler.tick()

    assert {message["headers"]["task"] for message in broker.waiting(QUEUE)} == {
        DISPATCH,
        JUDGE,
        NOTIFY,
        UPKEEP,
    }


def test_a_failure_is_asked_about_within_ninety_seconds_by_how_often_ticks_come() -> None:
    often = beat_entries(Schedule())

    assert often[JUDGE]["schedule"] + often[DISPATCH]["schedule"] <= 90 / 3


def test_beat_outlives_a_broker_that_is_away(broker: Broker) -> None:
    app = make_app(broker.url)
    app.conf.beat_schedule = beat_entries(DEMO_SCHEDULE)
    scheduler = Service(app, scheduler_cls=BoundedScheduler).scheduler
    entry = scheduler.schedule[DISPATCH]
    broker.kill()
    scheduler.apply_entry(entry)
    broker.start()
    scheduler.apply_entry(entry)

    assert len(broker.waiting(QUEUE)) == 1


def forged(**headers: object) -> dict[str, Any]:
    message = make_message(DISPATCH, QUEUE)
    return message | {"headers": message["headers"] | headers}


HOSTILE: list[str] = [
    "",
    "not json",
    "[" * 100_000,
    "null",
    "[]",
    "{}",
    json.dumps(forged(task="celery.backend_cleanup")),
    json.dumps(forged(task=["pacewatch.dispatch"])),
    json.dumps(forged() | {"headers": "x"}),
]


def test_of_what_lies_in_the_queue_only_the_names_of_ticks_come_out(broker: Broker) -> None:
    chained = json.dumps([[1], {"a": 2}, {"chain": [{"task": "x"}], "callbacks": ["y"]}])
    tick_with_more = forged(eta="2999-01-01T00:00:00Z", compression="application/x-gzip") | {
        "body": base64.b64encode(chained.encode()).decode(),
        "content-type": "application/x-python-serialize",
    }
    for line in [*HOSTILE, json.dumps(tick_with_more)]:
        broker.ask("LPUSH", QUEUE, line)
    app = make_app(broker.url)
    got: Queue[tuple[object, dict[str, Any]]] = Queue()

    with app.connection_for_read() as connection:
        consumer = app.amqp.TaskConsumer(connection, accept=["json"])
        consumer.on_message = lambda message: got.put((message.decode(), message.headers))
        with consumer:
            for _ in range(len(HOSTILE) + 1):
                connection.drain_events(timeout=5)
                if not got.empty():
                    break

    body, headers = got.get_nowait()
    assert body == [[], {}, {}]
    assert (headers["task"], "eta" in headers) == (DISPATCH, False)
    with pytest.raises(Empty):
        got.get_nowait()
    assert broker.ask("LLEN", QUEUE) == 0
