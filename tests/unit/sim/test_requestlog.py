import json
from pathlib import Path

from pacewatch.sim.requestlog import LineLog


def lines(path: Path) -> list[int]:
    return [json.loads(line)["n"] for line in path.read_text().splitlines()]


def test_lines_stand_in_the_file_at_once(tmp_path):
    log = LineLog(tmp_path / "log")

    log.write({"n": 1})

    assert lines(tmp_path / "log") == [1]
    log.close()


def test_a_log_goes_on_where_it_ended(tmp_path):
    for n in (1, 2):
        log = LineLog(tmp_path / "log")
        log.write({"n": n})
        log.close()

    assert lines(tmp_path / "log") == [1, 2]


def test_a_full_log_is_put_aside_once(tmp_path):
    log = LineLog(tmp_path / "log", max_bytes=20)

    for n in range(1, 6):
        log.write({"n": n})
    log.close()

    assert lines(tmp_path / "log.1") == [3, 4]
    assert lines(tmp_path / "log") == [5]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log", "log.1"]


def test_the_file_is_for_its_user_alone(tmp_path):
    LineLog(tmp_path / "log").close()

    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600
