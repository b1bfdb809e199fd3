import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from aggregator.fleet_file import FleetFile, orders_of
from pacewatch.words.errors import SettingsError

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
ONE = '[[endpoint]]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "one"\n'
TWO = ONE + '[[endpoint]]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "two"\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "pacewatch.toml"
    file.write_text(ONE)
    return file


def models(file: FleetFile, now: datetime = NOW) -> list[str]:
    return [endpoint.model for endpoint in file.current(now).fleet.endpoints]


def test_a_changed_file_is_read_again(path: Path) -> None:
    file = FleetFile(path, {}, NOW)
    assert models(file) == ["one"]

    path.write_text(TWO)

    assert models(file) == ["one", "two"]


def test_a_file_that_did_not_change_is_not_read_again(path: Path) -> None:
    file = FleetFile(path, {}, NOW)

    assert file.current(NOW) is file.current(NOW + timedelta(hours=1))


def test_a_new_day_is_a_reason_to_read_again(path: Path) -> None:
    file = FleetFile(path, {}, NOW)

    assert file.current(NOW) is not file.current(NOW + timedelta(days=1))


@pytest.mark.parametrize("text", ["endpoints = 3\n", "no toml", None])
def test_an_unreadable_file_keeps_the_last_good_reading_and_is_told_once(
    path: Path, caplog: pytest.LogCaptureFixture, text: str | None
) -> None:
    file = FleetFile(path, {}, NOW)
    if text is None:
        path.unlink()
    else:
        path.write_text(text)

    with caplog.at_level(logging.WARNING):
        assert [models(file), models(file), models(file)] == [["one"]] * 3

    assert [record.getMessage() for record in caplog.records] == ["fleet.unreadable"]


def test_a_file_that_is_mended_is_taken_up(path: Path) -> None:
    file = FleetFile(path, {}, NOW)
    path.write_text("no toml")
    assert models(file) == ["one"]

    path.write_text(TWO)

    assert models(file) == ["one", "two"]


def test_a_bad_file_at_the_start_is_refused(path: Path) -> None:
    path.write_text("endpoints = 3\n")

    with pytest.raises(SettingsError):
        FleetFile(path, {}, NOW)


def schedule_hash(path: Path, text: str) -> str:
    path.write_text(text)
    return FleetFile(path, {}, NOW).current(NOW).schedule_hash


@pytest.mark.parametrize(
    "more",
    [
        "[schedule]\nsingle_per_day = 12\n",
        "[schedule]\nvalidity_s = 900\n",
        "[regions.mars]\n",
        'workloads = ["long"]\n',
    ],
)
def test_whatever_changes_a_slot_changes_the_schedules_hash(path: Path, more: str) -> None:
    first, second = (more, "") if more.startswith("workloads") else ("", more)

    assert schedule_hash(path, ONE) != schedule_hash(path, first + ONE + second)


def test_what_changes_no_slot_leaves_the_schedules_hash(path: Path) -> None:
    watched = ONE + 'importance = "watch"\n'

    assert schedule_hash(path, ONE) == schedule_hash(path, watched)


def test_the_schedules_hash_is_the_same_in_every_process(path: Path) -> None:
    fleet = FleetFile(path, {}, NOW).current(NOW).fleet

    assert orders_of(fleet) == orders_of(fleet)
