"""The embedded broker: who may open it, and that it listens nowhere else."""

import os
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import redis
from support.servers import short_folder

from pacewatch.stack import valkey


@pytest.fixture
def served() -> Iterator[tuple[valkey.Valkey, psutil.Process]]:
    with short_folder() as folder:
        ready = valkey.prepare(folder / "valkey")
        process = subprocess.Popen(ready.command, stdout=subprocess.DEVNULL)
        try:
            end = time.monotonic() + 20
            while not ready.answers():
                assert time.monotonic() < end
                time.sleep(0.01)
            yield ready, psutil.Process(process.pid)
        finally:
            process.kill()
            process.wait()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_its_user_can_open_the_socket(served):
    ready, _ = served

    assert (mode(ready.socket.parent), mode(ready.socket)) == (0o700, 0o600)


def test_it_listens_on_no_tcp_port(served):
    _, process = served

    assert process.net_connections("inet") == []


def test_it_keeps_nothing_on_disk(served):
    ready, _ = served
    with redis.Redis(unix_socket_path=str(ready.socket)) as client:
        client.set("a", "b")
        client.shutdown()

    assert [entry for entry in ready.folder.iterdir() if entry.is_file()] == []


def test_its_memory_is_bounded(served):
    ready, _ = served
    with redis.Redis(unix_socket_path=str(ready.socket)) as client:
        assert client.config_get("maxmemory")["maxmemory"] == "67108864"


def test_a_socket_left_by_a_killed_one_is_no_hindrance(served):
    ready, process = served
    process.kill()
    process.wait()

    again = subprocess.Popen(ready.command, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 20
        while not ready.answers():
            assert again.poll() is None and time.monotonic() < end
            time.sleep(0.01)
    finally:
        again.kill()
        again.wait()


def test_a_path_too_long_for_a_socket_gets_a_short_one_of_ours(tmp_path):
    ready = valkey.prepare(tmp_path / ("x" * 90))

    try:
        assert (0o700, os.geteuid()) == (
            mode(ready.socket.parent),
            ready.socket.parent.stat().st_uid,
        )
        assert len(str(ready.socket)) < 100
    finally:
        ready.socket.parent.rmdir()
