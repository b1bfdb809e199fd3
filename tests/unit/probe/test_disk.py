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


def test_a_file_that_is_no_database_is_one_sentence(tmp_path):
    (tmp_path / "worker.sqlite").write_bytes(b"no database at all" * 100)

    with pytest.raises(StoreError, match="file is not a database"):
        Disk(tmp_path, simulated=True)


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
