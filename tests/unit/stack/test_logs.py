"""Logs are bounded while they are being written."""

import stat

from pacewatch.stack.logs import bound, last_line, open_log


def test_a_long_log_is_set_aside_and_goes_on_at_its_start(tmp_path):
    file = tmp_path / "worker.log"
    with open_log(file) as log:
        log.write(b"x" * 200)

        bound(tmp_path, longest_bytes=100)
        log.write(b"y")

    assert ((tmp_path / "worker.log.1").read_bytes(), file.read_bytes()) == (b"x" * 200, b"y")


def test_a_short_log_is_left_alone(tmp_path):
    (tmp_path / "beat.log").write_text("x")

    bound(tmp_path, longest_bytes=100)

    assert [entry.name for entry in tmp_path.iterdir()] == ["beat.log"]


def test_only_its_owner_reads_a_log_and_its_older_part(tmp_path):
    file = tmp_path / "worker.log"
    with open_log(file) as log:
        log.write(b"x" * 200)

    bound(tmp_path, longest_bytes=100)

    assert [stat.S_IMODE(f.stat().st_mode) for f in tmp_path.iterdir()] == [0o600, 0o600]


def test_the_last_line_that_says_something(tmp_path):
    file = tmp_path / "worker.log"
    file.write_text("first\n  port 8420 is taken \n\n")

    assert last_line(file) == "port 8420 is taken"


def test_a_log_that_is_not_there_says_nothing(tmp_path):
    assert last_line(tmp_path / "none.log") == ""


def test_a_full_log_is_emptied_where_the_disk_has_no_room_to_set_it_aside(tmp_path):
    log = tmp_path / "beat.log"
    log.write_bytes(b"x" * 200)
    (tmp_path / "beat.log.1").symlink_to("/dev/full")

    bound(tmp_path, longest_bytes=100)

    assert log.stat().st_size == 0
    assert not (tmp_path / "beat.log.1").is_symlink()
