"""`pacewatch probe` as people call it."""

import json
import os
import pty
import signal
import socket
import subprocess
import sys
import threading
import time

from support.answers import GOOD, endless, event, good_case, head, raw
from support.replay import Asked, Player, Replay, replay


def command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pacewatch", "probe", *words],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "COLUMNS": "100", **environment},
    )


def test_any_server_is_measured_without_a_file_and_its_record_has_figures_beside():
    with replay(good_case(GOOD, every_ms=60)) as served:
        done = command(
            *("--base-url", f"{served.url}/v1", "--protocol", "openai-chat", "--model", "tide-1"),
            *("--key-env", "TIDE_KEY", "--first-token", "5", "--stall", "5", "--total", "9"),
            *("--workload", "short", "--json"),
            TIDE_KEY="test-key-0123456789",
        )

    record = json.loads(done.stdout)
    (request,) = record["requests"]
    assert done.returncode == 0
    assert served.asked[0].headers["authorization"] == "Bearer test-key-0123456789"
    assert request["outcome"] == "ok"
    assert request["figures"].keys() == {
        *("ttft_s", "answer_s", "end_to_end_s", "output_tokens_per_s", "stall_s")
    }
    assert request["figures"]["ttft_s"] == request["chunks"]["at_us"][0] / 1e6
    assert "test-key" not in done.stdout + done.stderr


def test_an_outcome_that_is_not_ok_is_exit_code_1_and_has_no_figures():
    with replay(raw(head(429, retry_after="7"))) as served:
        words = ("--base-url", f"{served.url}/v1", "--model", "tide-1")
        shown, told = command(*words), command(*words, "--json")

    assert (shown.returncode, told.returncode) == (1, 1)
    assert "rate limited" in shown.stdout
    assert set(json.loads(told.stdout)["requests"][0]["figures"].values()) == {None}


def test_wrong_use_is_exit_code_2_with_every_fault_in_a_sentence():
    done = command("--base-url", "nowhere", "--protocol", "openai-chatt")

    assert done.returncode == 2
    assert "--base-url: is no http or https address" in done.stderr
    assert '--protocol: unknown word "openai-chatt" (did you mean "openai-chat"?)' in done.stderr
    assert "--model: is missing" in done.stderr
    assert "Traceback" not in done.stderr


def test_runs_are_repeated_one_after_another_and_told_as_a_list():
    with replay(good_case()) as served:
        done = command(
            *("--base-url", f"{served.url}/v1", "--model", "tide-1", "--workload", "short"),
            *("--repeat", "2", "--json"),
        )

    first, second = json.loads(done.stdout)
    assert done.returncode == 0
    assert len(served.asked) == 2
    assert first["run"] != second["run"]
    assert [run["load"] for run in (first, second)] == ["single", "single"]


def test_requests_of_a_parallel_run_are_one_record_and_a_table():
    with replay(good_case()) as served:
        words = ("--base-url", f"{served.url}/v1", "--model", "tide-1", "--workload", "short")
        told = command(*words, "--parallel", "3", "--json")
        shown = command(*words, "--parallel", "3")

    record = json.loads(told.stdout)
    assert (record["load"], len(record["requests"])) == ("parallel", 3)
    assert (record["alone"]["load"], len(record["alone"]["requests"])) == ("single", 1)
    assert len(served.asked) == 2 * 4
    assert "3 requests together: 3 of 3 ok" in shown.stdout
    assert shown.stderr == ""


SLOW = endless(head(), event("x").encode(), every_s=0.1)


def first_good() -> Player:
    """Answers its first request well, and the others without an end."""
    first = threading.Lock()

    def play(sock: socket.socket, asked: Asked) -> bool:
        good = raw(head(), *(text.encode() for text in GOOD))
        return (good if first.acquire(blocking=False) else SLOW)(sock, asked)

    return play


def started(*words: str, **streams: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "pacewatch", "probe", *words],
        env={**os.environ, "COLUMNS": "100", "TERM": "xterm"},
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams},
    )


def wait_for(served: Replay, requests: int) -> None:
    """Wait until so many requests have come."""
    end = time.monotonic() + 60
    while len(served.asked) < requests:
        assert time.monotonic() < end, "nobody asked in 60 s"
        time.sleep(0.05)


def test_ctrl_c_shows_what_was_measured_and_no_traceback():
    with replay(first_good()) as served:
        url = f"{served.url}/v1"
        running = started("--base-url", url, "--model", "tide-1", "--repeat", "9", "--json")
        wait_for(served, 2)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)

    assert running.returncode == 130
    assert err == b"Stopped\n"
    assert [run["requests"][0]["outcome"] for run in json.loads(out)] == ["ok"]


def read_until(screen: int, text: bytes, shown: bytes = b"") -> bytes:
    """What a terminal was sent, until that text came or nobody writes any more."""
    while text not in shown:
        try:
            shown += os.read(screen, 65_536)
        except OSError:
            break
    return shown


def test_a_watched_answer_is_drawn_on_the_terminal_which_is_left_as_it_was():
    screen, terminal = pty.openpty()
    with replay(SLOW) as served:
        words = ("--base-url", f"{served.url}/v1", "--model", "tide-1", "--watch")
        running = started(*words, stdout=terminal, stderr=terminal)
        os.close(terminal)
        drawn = read_until(screen, b"chunks")
        running.send_signal(signal.SIGINT)
        drawn = read_until(screen, b"nothing more", drawn)
        code = running.wait(60)
    os.close(screen)

    assert code == 130
    assert "█" in drawn.decode()
    assert drawn.rindex(b"\x1b[?25h") > drawn.rindex(b"\x1b[?25l")
    assert b"Traceback" not in drawn
