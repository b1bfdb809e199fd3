import contextlib
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.asking import ask
from support.servers import short_folder
from support.simulator import RunningSimulator, make_endpoint, running_simulator

from pacewatch.blanks import simulate
from pacewatch.catalog import read_catalog
from pacewatch.cli.app import main
from pacewatch.sim.address import FILE_NAME, read_address

QUICK = make_endpoint("groq/quick", tokens_per_s=400.0)


@pytest.fixture(scope="module")
def simulator() -> Iterator[RunningSimulator]:
    with running_simulator(QUICK, regions=("eu-west", "us-east")) as running:
        yield running


def pacewatch(state: Path, *words: str) -> tuple[int, str, str]:
    """Run the command line in this process; returns exit code, output and errors."""
    out, errors = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
        pytest.raises(SystemExit) as left,
    ):
        patch.setenv("PACEWATCH_STATE", str(state))
        patch.setattr(sys, "argv", ["pacewatch", *words])
        main()
    return left.value.code, out.getvalue(), errors.getvalue()


def test_a_fault_is_switched_on_shown_and_taken_away(simulator):
    state = simulator.state
    asked = ("simulate", "slow", "groq/quick", "--factor", "0.5", "--ttft-add", "2")

    assert pacewatch(state, *asked, "--region", "us-east") == (
        0,
        "on: slow groq/quick, factor 0.5, ttft_add_s 2, from us-east\n",
        "",
    )
    assert json.loads(pacewatch(state, "simulate", "list", "--json")[1]) == {
        "faults": [
            {
                "kind": "slow",
                "target": "groq/quick",
                "region": "us-east",
                "factor": 0.5,
                "ttft_add_s": 2.0,
            }
        ]
    }
    assert pacewatch(state, "simulate", "clear") == (0, "cleared: 1\nno fault is on\n", "")


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("fail", "all", "--status", "529"), {"kind": "fail", "status": 529}),
        (("rate-limit", "all", "--retry-after", "9"), {"kind": "rate-limit", "retry_after_s": 9}),
        (("stall", "all"), {"kind": "stall"}),
        (("disconnect", "all"), {"kind": "disconnect"}),
        (("not-served", "all"), {"kind": "not-served"}),
        (("auth", "all"), {"kind": "auth"}),
        (("payment", "all"), {"kind": "payment"}),
        (("retired", "all"), {"kind": "retired"}),
        (("stream-error", "all"), {"kind": "stream-error", "why": "overloaded"}),
        (
            ("stream-error", "all", "--why", "rate-limit"),
            {"kind": "stream-error", "why": "rate-limit"},
        ),
        (("filter", "all"), {"kind": "filter"}),
        (("empty", "all"), {"kind": "empty"}),
        (("broken", "all", "--how", "long-line"), {"kind": "broken", "how": "long-line"}),
        (("cache", "all"), {"kind": "cache"}),
        (("change", "all"), {"kind": "change"}),
    ],
)
def test_each_kind_has_its_command(simulator, words, fault):
    _, out, _ = pacewatch(simulator.state, "simulate", *words, "--json")
    simulator.clear()

    assert json.loads(out) == {"faults": [{"target": "all", "region": None, **fault}]}


def test_a_word_is_shown_as_it_is(simulator):
    shown = pacewatch(simulator.state, "simulate", "broken", "all", "--how", "bomb")
    simulator.clear()

    assert shown == (0, "on: broken all, how bomb, from all regions\n", "")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("stream-error", "groq", "--why", "fun"),
            'fault stream-error: why "fun" is unknown (known: overloaded, rate-limit, server)',
        ),
        (
            ("slow", "groq/quik", "--factor", "0.5"),
            '"groq/quik" is no endpoint or provider of this demo (did you mean "groq/quick"?)',
        ),
        (
            ("slow", "groq"),
            "fault slow: factor or ttft_add_s is needed (--factor 0.5, --ttft-add 2)",
        ),
        (
            ("stall", "groq", "--region", "mars"),
            '"mars" is no region of this demo (known: eu-west, us-east)',
        ),
    ],
)
def test_what_cannot_be_is_one_sentence_and_exit_code_2(simulator, words, sentence):
    assert pacewatch(simulator.state, "simulate", *words) == (2, "", f"pacewatch: {sentence}\n")


def test_without_a_demo_the_command_says_how_to_start_one(tmp_path):
    assert pacewatch(tmp_path, "simulate", "list") == (
        1,
        "",
        f"pacewatch: no demo is running on {tmp_path} "
        "(pacewatch up --demo starts one, PACEWATCH_STATE names its folder)\n",
    )


def test_a_simulator_that_was_killed_is_no_demo(tmp_path):
    with running_simulator(QUICK) as killed:
        os.kill(killed.pid, signal.SIGKILL)
        (tmp_path / FILE_NAME).write_bytes((killed.state / FILE_NAME).read_bytes())

    code, _, errors = pacewatch(tmp_path, "simulate", "list")

    assert code == 1
    assert errors.startswith("pacewatch: no demo is running: its simulator does not answer")


def test_serve_serves_the_catalog_until_it_is_told_to_stop():
    with short_folder() as state:
        words = ("simulate", "serve", "--region", "eu-west=0", "--state", str(state))
        process = subprocess.Popen(
            [sys.executable, "-m", "pacewatch", *words],
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            end = time.monotonic() + 20
            while not (state / FILE_NAME).exists():
                assert time.monotonic() < end, "the simulator did not start"
                time.sleep(0.02)
            url = read_address(state).regions["eu-west"] + "/groq/openai/v1/chat/completions"
            assert ask(url, "llama-3.3-70b-versatile", max_tokens=2).is_ended
        finally:
            process.send_signal(signal.SIGTERM)
            _, log = process.communicate(timeout=20)

        assert process.returncode == 0
        assert [json.loads(line)["event"] for line in log.splitlines()] == [
            "simulator.ready",
            "simulator.stopped",
        ]
        assert not (state / FILE_NAME).exists()


def test_a_port_in_use_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        words = ("simulate", "serve", "--region", f"eu-west={port}", "--state", str(tmp_path))
        done = subprocess.run(
            [sys.executable, "-m", "pacewatch", *words], capture_output=True, text=True, timeout=60
        )

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        f"pacewatch: simulator: region eu-west: port {port} cannot be opened"
    )
    assert not (tmp_path / FILE_NAME).exists()


@pytest.mark.parametrize("text", ["eu-west", "eu-west=70000"])
def test_a_region_without_a_port_is_wrong_use(tmp_path, text):
    code, _, errors = pacewatch(
        tmp_path, "simulate", "serve", "--region", text, "--state", str(tmp_path)
    )

    assert code == 2
    assert errors == (
        f'pacewatch: --region "{text}": a name and a port are needed (form: eu-west=41001)\n'
    )


def test_every_command_of_the_how_to_works():
    page = Path(__file__).parents[3] / "docs/how-to/watch-a-slowdown-in-the-demo.md"
    commands = re.findall(r"^pacewatch (simulate .*)$", page.read_text("utf-8"), re.MULTILINE)
    catalog = (simulate(endpoint) for endpoint in read_catalog().endpoints.values())

    with running_simulator(*catalog, regions=("eu-west", "us-east")) as running:
        done = [pacewatch(running.state, *command.split()) for command in commands]

    assert len(done) >= 6
    assert [(code, errors) for code, _, errors in done] == [(0, "")] * len(done)
    assert done[-1][1] == "cleared: 4\nno fault is on\n"
