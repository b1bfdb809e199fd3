"""What each process of the stack is told, and what it is not."""

import sys
from pathlib import Path

import pytest

from pacewatch.stack.crew import Site, local_url
from pacewatch.stack.pulse import Pulse
from pacewatch.stack.valkey import Valkey

DATABASE = "postgresql://pacewatch:secret@127.0.0.1:15432/pacewatch"
STATE = Path("/srv/pw")


@pytest.fixture
def site() -> Site:
    return Site(
        state=STATE,
        config=STATE / "pacewatch.toml",
        listen="127.0.0.1:8420",
        aggregator_url="http://127.0.0.1:8420",
        pulse=Pulse("http://127.0.0.1:8420"),
        broker=Valkey(binary=Path("/v"), socket=STATE / "valkey.sock", folder=STATE),
        ordinary={"PATH": "/bin"},
        keys={"GROQ_API_KEY": "gsk-secret"},
        addresses={"OPS_URL": "json://secret"},
    )


def test_the_worker_alone_holds_provider_keys(site):
    worker = site.worker("local", STATE / "token")
    centre = [
        site.aggregator(DATABASE),
        site.centre("central", DATABASE),
        site.centre("beat", DATABASE),
    ]

    assert worker.environment["GROQ_API_KEY"] == "gsk-secret"
    assert {part.environment["GROQ_API_KEY"] for part in centre} == {"held-by-the-worker"}


def test_the_central_worker_alone_knows_where_people_are_told(site):
    others = [
        site.worker("local", STATE / "token"),
        site.aggregator(DATABASE),
        site.centre("beat", DATABASE),
        site.simulator({"eu-west": 15001}),
    ]

    assert site.centre("central", DATABASE).environment["OPS_URL"] == "json://secret"
    assert not [part.name for part in others if "OPS_URL" in part.environment]


def test_the_worker_is_not_told_where_the_database_is(site):
    worker = site.worker("local", STATE / "token")

    assert not [value for value in worker.environment.values() if "postgresql" in value]


def test_the_simulator_is_told_neither_database_nor_broker_nor_key(site):
    simulator = site.simulator({"eu-west": 15001})

    assert simulator.environment == {
        "PATH": "/bin",
        "PACEWATCH_CONFIG": "/srv/pw/pacewatch.toml",
        "PACEWATCH_STATE": "/srv/pw",
    }


def test_no_secret_stands_in_a_command_line(site):
    parts = [
        site.simulator({"eu-west": 15001}),
        site.aggregator(DATABASE),
        site.centre("central", DATABASE),
        site.worker("local", STATE / "token"),
    ]

    assert not [word for part in parts for word in part.command if "secret" in word]


def test_a_folder_of_that_name_where_up_was_called_is_not_taken_for_ours(site):
    assert site.worker("local", STATE / "token").command[:4] == (
        sys.executable,
        "-P",
        "-m",
        "pacewatch",
    )


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8420"),
        ("0.0.0.0", "http://127.0.0.1:8420"),  # noqa: S104 - it is asked, not bound
        ("::1", "http://[::1]:8420"),
        ("localhost", "http://localhost:8420"),
    ],
)
def test_processes_of_this_machine_find_the_aggregator_on_loopback(host, url):
    assert local_url(host, 8420) == url
