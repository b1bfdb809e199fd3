"""`pacewatch probe` as people call it."""

import json
import os
import subprocess
import sys

from support.answers import GOOD, good_case, head, raw
from support.replay import replay


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
