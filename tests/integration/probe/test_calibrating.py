"""What a worker makes of its own calibrations."""

import json
import sys
import threading
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.benches import bench_on, heartbeat_of, make_task
from support.inlet import served_inlet
from support.servers import short_folder
from support.simulator import running_simulator
from support.stopping import reader_of, stopping
from support.workers import (
    REGION,
    send,
    simulated_endpoints,
    task_for,
    worker_process,
    write_config,
)

from pacewatch.words.flag import Flag
from pacewatch.words.slot import Load
from probe import calibrating, calibration, timing_error
from probe.calibrating import AGAIN_S, EVERY_S, PUT_OFF_S, SOON_S, Calibrating, rest_s
from probe.calibration import Play
from probe.carry import carry
from probe.centre import open_client
from probe.reading import Reading
from probe.room import room
from probe.settings import Settings

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

WIDE = {
    "probe.timing_error.MOST_TTFT_S": 0.2,
    "probe.timing_error.MOST_MEDIAN_SPEED": 60.0,
    "probe.timing_error.MOST_SPEED": 60.0,
    "probe.calibrating.SIMULATED_SLACK": 1.0,
    "probe.calibrating.TRIES": 1,
    "probe.calibrating.BREATH_S": 0.1,
}
"""Limits that a busy host keeps, and a reader that is stopped for half a second does not."""

SMALL = (Play(tokens_per_s=200, streams=2, is_tls=True, tokens=60),)


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Calibrates with wide limits and in little time."""
    for place, number in WIDE.items():
        monkeypatch.setattr(place, number)
    monkeypatch.setattr(calibration, "SHORT", SMALL)
    with closing(Reading()) as reading:
        yield Calibrating(
            reading=reading, folder=tmp_path, locks=tmp_path, simulated=False, wall=lambda: NOW
        )


def gets_in(folder: Path) -> bool:
    """Whether a single run would find room at once."""
    with room(folder, Load.SINGLE, lambda: False) as is_free:
        return is_free


def test_a_worker_is_suspect_while_its_reader_cannot_keep_up_and_then_no_more(own):
    pid = own.reading.start().pid
    with stopping(pid):
        again_s = own.calibrate()
    assert (own.doubt, own.told()["over"], again_s) == (Flag.PROBER_SUSPECT, "ttft", AGAIN_S)

    again_s = own.calibrate()

    assert (own.doubt, own.told()["over"], again_s) == (None, "", EVERY_S)
    assert own.told()["at"] == "2026-03-01T12:00:00Z"


def test_a_suspect_worker_tries_itself_again_soon_and_then_less_and_less_often():
    assert [rest_s(suspected) for suspected in range(6)] == [
        EVERY_S,
        AGAIN_S,
        2 * AGAIN_S,
        4 * AGAIN_S,
        SOON_S,
        SOON_S,
    ]


@pytest.mark.parametrize(("most_s", "tries"), [(0.0, 3), (60.0, 1)], ids=["over", "within"])
def test_what_is_over_a_limit_is_tried_again_before_it_counts(own, monkeypatch, most_s, tries):
    monkeypatch.setattr(calibrating, "TRIES", 3)
    monkeypatch.setattr(timing_error, "MOST_TTFT_S", most_s)
    made = []
    monkeypatch.setattr(own, "wall", lambda: made.append(NOW) or NOW)
    own.calibrate()

    assert len(made) == tries


def test_a_run_goes_before_a_calibration_and_waits_for_none_that_waits(own, tmp_path, monkeypatch):
    monkeypatch.setattr(calibrating, "ROOM_S", 0.2)
    with room(tmp_path, Load.SINGLE, lambda: False):
        again_s = own.calibrate()

        assert (again_s, own.latest) == (PUT_OFF_S, None)
        assert gets_in(tmp_path)


def test_a_calibration_is_alone_on_its_host(own, tmp_path):
    thread = threading.Thread(target=own.calibrate)
    thread.start()
    was_shut = False
    while thread.is_alive():
        was_shut = was_shut or not gets_in(tmp_path)
        thread.join(0.05)

    assert was_shut
    assert own.latest is not None
    assert gets_in(tmp_path)


def test_one_that_cannot_be_made_is_made_later_and_accuses_nobody(own, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")

    assert own.calibrate() == SOON_S
    assert (own.latest, own.is_suspect, own.told()) == (None, False, None)
    assert own.doubt is Flag.UNCALIBRATED


@pytest.mark.parametrize("doubt", [None, Flag.PROBER_SUSPECT, Flag.UNCALIBRATED])
def test_timings_of_a_worker_in_doubt_are_flagged(tmp_path, doubt):
    with bench_on(tmp_path, doubt=doubt) as bench:
        carry(bench, make_task())
        [kept] = bench.outbox.batch()

    [request] = json.loads(kept.record)["requests"]
    found = {Flag.PROBER_SUSPECT, Flag.UNCALIBRATED} & {Flag(one) for one in request["flags"]}
    assert found == ({doubt} if doubt else set())


def test_each_suspicion_that_a_heartbeat_tells_of_has_the_worker_calibrate(
    own, tmp_path, monkeypatch
):
    monkeypatch.setattr(calibrating, "SOON_S", 0.05)
    made = threading.Semaphore(0)
    monkeypatch.setattr(own, "wall", lambda: made.release() or NOW)
    thread = threading.Thread(target=own.run)
    with served_inlet() as inlet, bench_on(tmp_path) as bench:
        settings = Settings(
            region=REGION, broker_url="", aggregator_url=inlet.url, token="t", state=tmp_path
        )
        with open_client(settings, None) as client:
            heartbeat = heartbeat_of(bench, client, suspected=own.ask)
            thread.start()
            assert made.acquire(timeout=30)
            for suspected_at in ("2026-03-01T11:00:00Z", "2026-03-01T11:20:00Z"):
                inlet.suspected_at = suspected_at
                heartbeat.beat()
                assert made.acquire(timeout=30)
                heartbeat.beat()
                assert not made.acquire(timeout=0.5)
            own.stop()
            thread.join(30)


def test_a_worker_tells_of_its_calibrations_and_flags_what_it_measures_meanwhile(broker):
    numbers = {**WIDE, "probe.calibrating.EVERY_S": 0.3, "probe.calibrating.SOON_S": 0.3}
    with (
        running_simulator(*simulated_endpoints(), regions=(REGION,)) as simulator,
        short_folder() as folder,
        served_inlet() as inlet,
    ):
        config = write_config(folder, simulator.address.regions[REGION])
        given = {"broker": broker, "aggregator_url": inlet.url, "config": config}

        def flags_of_a_run() -> list[str]:
            known = len(inlet.stored)
            send(broker, task_for())
            inlet.wait_until(lambda served: len(served.stored) > known)
            return list(inlet.stored.values())[-1]["requests"][0]["flags"]

        with worker_process(folder, numbers=numbers, **given) as worker:

            def wait_until_over(over: str) -> None:
                worker.wait_for(
                    lambda: (made := worker.events("calibration.made")) and made[-1]["over"] == over
                )

            worker.start()
            wait_until_over("")
            with stopping(reader_of(worker.process.pid)):
                wait_until_over("ttft")
                assert str(Flag.PROBER_SUSPECT) in flags_of_a_run()
                inlet.wait_until(lambda served: served.heartbeats[-1]["calibration"]["over"])
            wait_until_over("")
            assert str(Flag.PROBER_SUSPECT) not in flags_of_a_run()

    told = inlet.heartbeats[-1]["calibration"]
    assert told["requests"] == 11
    assert told["ttft_p99_s"] > 0
