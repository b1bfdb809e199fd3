"""An hour that does not exist: New York's clocks go from 02:00 to 03:00 on 8 March 2026."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID

import pytest
from support.broker import Broker
from support.centre import migrated_pool
from support.dispatching import REGIONS, Centre, dispatch_fleet

from aggregator.central import send
from aggregator.plan import make_plan
from aggregator.schedule import slots_between
from aggregator.tasks import make_app
from pacewatch.words.slot import Purpose
from pacewatch.words.wire import Task, decode_task, probe_queue

DAY = datetime(2026, 3, 8, tzinfo=UTC)
NEXT_DAY = DAY + timedelta(days=1)
STEP = timedelta(minutes=10)


@pytest.fixture
def in_new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    assert datetime(2026, 3, 8, 12).astimezone().utcoffset() == timedelta(hours=-4)
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_new_york")
def test_the_day_of_the_lost_hour_has_every_slot_once_evenly_spaced(
    database_url: str, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = dispatch_fleet()
    app = make_app(broker.url)
    with migrated_pool(database_url, simulated=False) as pool:
        centre = Centre(pool, fleet)
        now = DAY - timedelta(hours=1)
        while now < NEXT_DAY + timedelta(hours=1):
            assert send(app, centre.tick(now).sent) == 0
            now += STEP
        sends = Counter({row["run_id"]: row["sends"] for row in centre.slots("sends > 0")})
    tasks = [
        decode_task(message["args"][0])
        for region in REGIONS
        for message in broker.waiting(probe_queue(region))
    ]
    assert sends == Counter(task.run_id for task in tasks)
    assert set(sends.values()) == {1}

    of_the_day = [
        task
        for task in tasks
        if DAY <= task.slot_at < NEXT_DAY and task.purpose is Purpose.SCHEDULED
    ]
    moments = by_series(of_the_day, broker)
    assert len(moments) == 12
    for (_, _, load), found in moments.items():
        assert len(found) == (8 if load == "single" else 2)
        if load == "single":
            spacings = {b - a for a, b in pairwise(found)}
            assert spacings == {timedelta(hours=3)}

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    planned: set[UUID] = {
        slot.run_id for slot in slots_between(fleet, make_plan(fleet), DAY, NEXT_DAY)
    }
    assert planned == {task.run_id for task in of_the_day}


def by_series(tasks: list[Task], broker: Broker) -> dict[tuple[str, str, str], list[datetime]]:
    """The moments of each endpoint, region and load, in order; the region is the queue's."""
    region_of = {
        message["args"][0]["run"]: region
        for region in REGIONS
        for message in broker.waiting(probe_queue(region))
    }
    moments: dict[tuple[str, str, str], list[datetime]] = defaultdict(list)
    for task in sorted(tasks, key=lambda task: task.slot_at):
        key = (task.endpoint, region_of[str(task.run_id)], str(task.load))
        moments[key].append(task.slot_at)
    return moments
