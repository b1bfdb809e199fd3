import os
import sqlite3
import subprocess
import sys

import pytest

from pacewatch.words.errors import SettingsError, StoreError
from probe.disk import Disk


def test_a_commit_is_on_the_disk_when_it_returns(tmp_path):
    with Disk(tmp_path, simulated=False) as disk:
        assert disk.read("pragma journal_mode") == [("wal",)]
        assert disk.read("pragma synchronous") == [(2,)]  # full


def test_a_second_worker_of_the_folder_says_so_and_stops(tmp_path):
    with (
        Disk(tmp_path, simulated=False),
        pytest.raises(StoreError, match=rf"another worker .* \(process {os.getpid()}\)"),
    ):
        Disk(tmp_path, simulated=False)


def test_a_killed_worker_leaves_no_lock(tmp_path):
    held = "from pathlib import Path; from probe.disk import Disk; import os, sys;"
    killed = f"{held} Disk(Path(sys.argv[1]), simulated=False); os.kill(os.getpid(), 9)"
    done = subprocess.run([sys.executable, "-c", killed, str(tmp_path)], check=False)
    assert done.returncode == -9

    with Disk(tmp_path, simulated=False) as disk:
        assert disk.note("kind") == "real"


def test_a_simulated_folder_takes_no_real_runs(tmp_path):
    Disk(tmp_path, simulated=True).close()

    with pytest.raises(SettingsError, match="holds simulated runs"):
        Disk(tmp_path, simulated=False)


def test_a_folder_of_another_layout_is_refused(tmp_path):
    Disk(tmp_path, simulated=True).close()
    with sqlite3.connect(tmp_path / "worker.sqlite") as connection:
        connection.execute("pragma user_version = 99")
    connection.close()

    with pytest.raises(SettingsError, match="layout 99"):
        Disk(tmp_path, simulated=True)


def spoil(file, *, whole):
    """Leave nothing of a database, or only its first page."""
    held = file.read_bytes()
    file.write_bytes(b"no database at all" * 100 if whole else held[:4_096] + b"x" * 40_000)


@pytest.mark.parametrize("whole", [True, False])
def test_a_spoilt_file_is_set_aside_whole_and_told_and_a_new_one_begun(tmp_path, caplog, whole):
    with Disk(tmp_path, simulated=True) as disk:
        disk.keep_note("old", "note")
    spoil(tmp_path / "worker.sqlite", whole=whole)
    spoilt = (tmp_path / "worker.sqlite").read_bytes()

    with Disk(tmp_path, simulated=True) as disk:
        assert disk.note("old") is None
        disk.keep_note("new", "note")
    with Disk(tmp_path, simulated=True) as disk:
        assert disk.note("new") == "note"

    (aside,) = tmp_path.glob("worker.sqlite.spoilt-??????")
    assert aside.read_bytes() == spoilt
    (told,) = [record for record in caplog.records if record.getMessage() == "disk.set_aside"]
    assert told.facts["file"] == str(aside)


def test_a_block_that_fails_leaves_nothing_behind(tmp_path):
    with Disk(tmp_path, simulated=True) as disk:
        with pytest.raises(ZeroDivisionError), disk.write():
            disk.keep_note("half", "done")
            raise ZeroDivisionError

        assert disk.note("half") is None


def test_a_worker_keeps_its_id_for_as_long_as_its_folder_stays(tmp_path):
    with Disk(tmp_path, simulated=True) as disk:
        first = disk.worker_id("host")
    with Disk(tmp_path, simulated=True) as disk:
        assert first == disk.worker_id("another-host")
    assert first.startswith("host-")


def test_a_folder_of_the_first_layout_keeps_its_ledger(tmp_path):
    with Disk(tmp_path, simulated=False):
        pass
    with sqlite3.connect(tmp_path / "worker.sqlite") as connection:
        connection.executescript(
            "drop table spent; drop table headroom;"
            "create table spent (day text not null, execution blob not null, usd real not null,"
            " primary key (day, execution)) without rowid;"
            "insert into spent values ('2026-03-01', x'01', 0.5); pragma user_version = 1;"
        )
    connection.close()

    with Disk(tmp_path, simulated=False) as disk:
        assert disk.read("select * from spent") == [("2026-03-01", b"\x01", 0.5, "", 0, 0)]
        assert disk.read("select * from headroom") == []
