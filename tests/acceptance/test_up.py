"""`pacewatch up` as a person starts it: the demo, an endpoint of one's own, and its refusals."""

import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from support.servers import short_folder
from support.stack import run_up, running_up, until
from support.standin import standin

README = Path(__file__).parents[2] / "README.md"
(THREE_LINES,) = re.findall(r"^```toml\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
"""The server of one's own that the README shows."""


def three_lines(url: str) -> str:
    """The README's lines, with the address of another server."""
    assert THREE_LINES.count("\n") == 3
    return THREE_LINES.replace("http://127.0.0.1:9911/v1", url)


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as made:
        yield made


def are_gone(processes: list[psutil.Process]) -> bool:
    return not psutil.wait_procs(processes, timeout=0.1)[1]


def test_an_endpoint_of_ones_own_is_measured_and_nothing_simulated_appears(folder):
    with standin() as url:
        (folder / "pacewatch.toml").write_text(three_lines(url))
        with running_up(folder, "--yes") as up:
            until(up.measured)

            board = up.get("/api/board")
            endpoints = up.endpoints()
            kinds = up.rows("select distinct simulated from series")

    assert board["simulated"] is False
    assert len(endpoints) == 1 and not endpoints[0]["simulated"]
    assert kinds == [(False,)]


BESIDE = """[[endpoint]]
base_url = "http://nowhere.invalid/v1"
model = "lost"
id = "lost/lost"
[[endpoint]]
base_url = "{url}"
model = "smollm2"
id = "locked/smollm2"
key_env = "WRONG_API_KEY"
"""


def test_a_wrong_address_and_a_refused_key_are_each_told_in_a_sentence_and_harm_nothing(folder):
    with standin() as url, standin(key="right") as locked:
        (folder / "pacewatch.toml").write_text(three_lines(url) + BESIDE.format(url=locked))
        with running_up(folder, "--yes", WRONG_API_KEY="sk-wrong") as up:
            until(up.measured)
            until(lambda: len(up.get("/api/status").get("failing", ())) == 2)
            problems = up.get("/api/status")["problems"]
            page = " ".join(up.text("/").split())
            measured = up.measured()
        told = (
            page
            + up.said.read_text()
            + "".join(log.read_text() for log in (up.state / "logs").iterdir())
        )

    assert problems == [
        "endpoint locked/smollm2: failing in local: the key was refused (401 or 403)",
        "endpoint lost/lost: failing in local: the host name does not resolve",
    ]
    assert "failing: the key was refused (401 or 403); never yet well" in page
    assert "failing: the host name does not resolve; never yet well" in page
    assert len(measured) == 1
    assert "sk-wrong" not in told


def test_a_killed_up_leaves_no_process_and_the_next_one_goes_on(folder):
    with standin() as url:
        (folder / "pacewatch.toml").write_text(three_lines(url))
        with running_up(folder, "--yes") as up:
            until(up.measured)
            family = up.family()
            up.process.kill()
            up.process.wait()
            until(lambda: are_gone(family))

        with running_up(folder, "--yes") as up:
            until(up.measured)

            assert up.stop(signal.SIGTERM) == 0


def test_real_endpoints_without_a_terminal_need_a_word(folder):
    (folder / "pacewatch.toml").write_text(three_lines("http://127.0.0.1:9/v1"))

    done = run_up(folder)

    assert done.returncode == 2
    assert "(allowed: --yes, or accept_spending = true under [spending])" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_in_use_is_one_sentence(folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        done = run_up(folder, "--demo", "--listen", f"127.0.0.1:{port}")

    assert done.returncode == 1
    assert done.stderr == (
        f"pacewatch: 127.0.0.1:{port}: address already in use "
        "(allowed: a free address; --listen host:port names it)\n"
    )


def test_an_address_beyond_loopback_is_refused(folder):
    done = run_up(folder, "--demo", "--listen", "192.0.2.1:8420")

    assert done.returncode == 2
    assert "neither TLS nor loopback" in done.stderr


@pytest.mark.parametrize(
    ("stamp", "said"),
    [
        (
            '{"kind": "real", "layout": 1}',
            "holds real measurements, and simulated ones never meet them",
        ),
        ('{"kind": "simulated", "layout": 99}', "is of layout 99, this version's is 1"),
    ],
)
def test_a_state_folder_of_another_kind_or_version_is_one_sentence_and_stays(folder, stamp, said):
    (folder / "state").mkdir()
    (folder / "state" / "state.json").write_text(stamp)

    done = run_up(folder, "--demo")

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
    assert (folder / "state" / "state.json").read_text() == stamp
    assert not (folder / "state" / "postgres").exists()


def test_an_unknown_key_of_the_file_is_named_before_anything_is_started(folder):
    (folder / "pacewatch.toml").write_text('endpoint = ["groq/*"]\n')

    done = run_up(folder)

    assert done.returncode == 2
    assert done.stderr.startswith("pacewatch: pacewatch.toml: endpoint")
    assert not (folder / "state").exists()
