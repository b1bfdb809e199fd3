"""The aggregator as a process."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from support.stack import free_port

from aggregator import db

PACEWATCH = (sys.executable, "-m", "pacewatch")
CONFIG = '[[endpoint]]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'


@pytest.fixture
def environment(database_url, tmp_path):
    (tmp_path / "pacewatch.toml").write_text(CONFIG)
    return {
        **os.environ,
        "PACEWATCH_CONFIG": str(tmp_path / "pacewatch.toml"),
        "PACEWATCH_DATABASE_URL": database_url,
        "PACEWATCH_LISTEN": f"127.0.0.1:{free_port()}",
    }


def run(environment, *words):
    return subprocess.run(
        (*PACEWATCH, *words), env=environment, capture_output=True, text=True, timeout=180
    )


def wait_until_ready(process, address, timeout_s=120):
    end = time.monotonic() + timeout_s
    while time.monotonic() < end and process.poll() is None:
        try:
            return urllib.request.urlopen(f"http://{address}/readyz", timeout=5).status
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
    raise AssertionError(f"not ready: {process.poll()}")


def test_on_an_empty_store_it_makes_the_tables_serves_until_sigterm_and_ends_with_0(environment):
    with subprocess.Popen(
        (*PACEWATCH, "aggregator"), env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert wait_until_ready(process, environment["PACEWATCH_LISTEN"]) == 200
        finally:
            process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=120)

    assert process.returncode == 0
    lines = [json.loads(line) for line in said.splitlines()]
    assert {line["process"] for line in lines} == {"aggregator"}
    assert [line["made"] for line in lines if line["event"] == "store.migrated"] == [
        list(db.migrations())
    ]


def test_a_port_in_use_is_one_sentence_and_exit_code_1(environment):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        done = run(environment | {"PACEWATCH_LISTEN": address}, "aggregator")

    assert done.returncode == 1
    assert done.stderr == (
        f"pacewatch: PACEWATCH_LISTEN: cannot listen on {address}: address already in use "
        "(allowed: a free port of an address of this host)\n"
    )


@pytest.mark.parametrize("process", ["aggregator", "central"])
def test_a_store_of_a_newer_version_is_one_sentence_and_exit_code_1(
    environment, database_url, process
):
    db.migrate(database_url)
    with db.connect(database_url) as connection:
        connection.execute("insert into migration (name) values ('9999_later')")

    done = run(environment | {"PACEWATCH_BROKER_URL": "redis://127.0.0.1:9"}, process)

    assert done.returncode == 1
    assert done.stderr == (
        "pacewatch: the store is of a newer version: it has 9999_later, unknown here "
        "(allowed: a version at least as new as the one that made it)\n"
    )


def test_a_store_of_the_other_kind_is_one_sentence_and_exit_code_1(environment, database_url):
    db.migrate(database_url)
    with db.connect(database_url) as connection:
        db.require_store(connection, True)

    done = run(environment, "aggregator")

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "pacewatch: the store holds simulated measurements and this fleet is real "
        "(allowed: a database of its own for each)"
    )


def test_a_token_for_a_store_without_tables_is_one_sentence(environment):
    done = run(environment, "token", "issue", "eu-west")

    assert (done.returncode, done.stderr) == (
        1,
        "pacewatch: the store lacks migration 0001_start (pacewatch migrate makes it)\n",
    )


def test_tokens_are_issued_listed_and_revoked_and_shown_once(environment):
    run(environment, "migrate")
    token = run(environment, "token", "issue", "eu-west").stdout.strip()

    listed = run(environment, "token", "list")
    revoked = run(environment, "token", "revoke", "eu-west")
    again = run(environment, "token", "revoke", "eu-west")

    assert token.startswith("pacewatch_")
    assert "eu-west" in listed.stdout
    assert token not in listed.stdout
    assert revoked.stdout == "revoked 1\n"
    assert (again.returncode, again.stderr) == (
        1,
        'pacewatch: region "eu-west": no valid token to revoke (pacewatch token list)\n',
    )


def test_an_address_beyond_this_host_is_refused_in_clear(environment):
    done = run(environment | {"PACEWATCH_LISTEN": "0.0.0.0:8420"}, "aggregator")

    assert done.returncode == 2
    assert "PACEWATCH_ALLOW_UNENCRYPTED=yes" in done.stderr
