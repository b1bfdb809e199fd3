"""The metronome, what is found against it, and the command that shows it."""

import asyncio
import json
from contextlib import closing

import pytest
from support.stopping import STOPPED_S, stopping
from typer.testing import CliRunner

from pacewatch.cli.app import app
from pacewatch.words.errors import CalibrationError
from pacewatch.words.timing import Stamp
from probe import calibration, timing_error
from probe.asking import ask_together
from probe.calibration import Play, make_pair, metronome, play, play_all
from probe.reading import Reading
from probe.self_signed import Pair
from probe.timing_error import summed


@pytest.fixture
def reading():
    with closing(Reading()) as own:
        yield own


@pytest.mark.parametrize("is_tls", [False, True], ids=["plain", "TLS"])
def test_a_play_is_seen_whole_and_held_against_the_log(reading, tmp_path, is_tls):
    asked = Play(tokens_per_s=500, streams=3, is_tls=is_tls, tokens=50)
    [played] = asyncio.run(play_all([asked], tmp_path, reading))

    raw = played.raw
    assert (len(raw.ttft_s), len(raw.arrival_s), len(raw.speed), raw.lost) == (3, 150, 3, 0)
    assert played.stamp is Stamp.KERNEL
    assert not (tmp_path / "calibration-key.pem").exists()


def test_the_metronome_keeps_its_schedule_and_is_never_early(reading, tmp_path):
    async def sends() -> list[int]:
        async with metronome(make_pair(), tmp_path) as beat:
            asked = beat.question(Play(tokens_per_s=200, streams=1, is_tls=False, tokens=40), "one")
            await ask_together([asked], reading)
            beats = (await beat.log())["one"]
        return [at - beats.asked_ns for at in beats.sends_ns]

    after_ns = asyncio.run(sends())

    assert len(after_ns) == 40
    assert all(at >= 100_000_000 + n * 5_000_000 for n, at in enumerate(after_ns))


def test_a_metronome_that_cannot_be_started_is_said_in_words(tmp_path):
    async def start() -> None:
        async with metronome(Pair(certificate="none", key="none"), tmp_path):
            pass

    with pytest.raises(CalibrationError, match="metronome"):
        asyncio.run(start())


def test_plays_one_after_another_are_told_apart(reading, tmp_path):
    one = Play(tokens_per_s=1000, streams=2, is_tls=False, tokens=20)

    async def twice() -> list[int]:
        async with metronome(make_pair(), tmp_path) as beat:
            return [(await play(one, beat, reading)).raw.lost for _ in range(3)]

    assert asyncio.run(twice()) == [0, 0, 0]


def test_a_reader_that_is_stopped_shows_in_the_error(reading, tmp_path):
    asked = Play(tokens_per_s=200, streams=2, is_tls=False, tokens=60)
    with stopping(reading.start().pid or 0):
        [played] = asyncio.run(play_all([asked], tmp_path, reading))

    errors = summed([played.raw])
    assert errors.lost == 0
    assert errors.ttft_s.p50 > STOPPED_S / 4
    assert "ttft" in errors.over()


def test_a_play_that_takes_much_longer_than_it_should_is_given_up(reading, tmp_path, monkeypatch):
    monkeypatch.setattr(calibration, "LATE_S", -0.1)
    asked = Play(tokens_per_s=500, streams=3, is_tls=False, tokens=25)
    [played] = asyncio.run(play_all([asked], tmp_path, reading))

    assert played.raw.lost == 3


# The command


def test_the_command_tells_json_and_its_exit_code_says_whether_a_limit_was_passed(monkeypatch):
    monkeypatch.setattr(timing_error, "MOST_TTFT_S", 60.0)
    monkeypatch.setattr(timing_error, "MOST_SPEED", 60.0)
    monkeypatch.setattr(timing_error, "MOST_MEDIAN_SPEED", 60.0)
    good = CliRunner().invoke(app, ["calibrate", "--json", "--seconds", "0.1"])
    monkeypatch.setattr(timing_error, "MOST_TTFT_S", 0.0)
    bad = CliRunner().invoke(app, ["calibrate", "--json", "--seconds", "0.1"])

    told = json.loads(good.stdout)
    assert (good.exit_code, told["over"]) == (0, [])
    assert {(play["tls"], play["tokens_per_s"], play["streams"]) for play in told["plays"]} == {
        (tls, rate, streams)
        for tls in (False, True)
        for rate in (80, 500, 1753)
        for streams in (1, 10)
    }
    assert told["all"]["requests"] == 66
    assert told["reader"] in {"realtime", "short_slice", "ordinary"}
    assert (bad.exit_code, json.loads(bad.stdout)["over"]) == (1, ["ttft"])
