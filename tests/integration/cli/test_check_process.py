import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def call(tmp_path):
    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pacewatch", *arguments],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


def test_a_bad_file_ends_with_wrong_use_and_one_sentence_a_fault(call, tmp_path):
    (tmp_path / "pacewatch.toml").write_text('endpoint_picks = []\n[schedule]\nday_s = "8"\n')
    result = call("check")

    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.splitlines() == [
        'pacewatch: pacewatch.toml: schedule.day_s: a whole number is needed, not "8"',
        'pacewatch: pacewatch.toml: endpoint_picks: unknown key (did you mean "endpoints"?)',
    ]


def test_a_file_that_is_not_there_is_told(call):
    result = call("plan", PACEWATCH_CONFIG="/nowhere/pacewatch.toml")

    assert result.returncode == 2
    assert result.stderr == (
        "pacewatch: /nowhere/pacewatch.toml: cannot be read: No such file or directory\n"
    )


def test_a_good_file_is_fine_and_a_plan_is_told_in_a_pipe(call, tmp_path):
    (tmp_path / "pacewatch.toml").write_text(
        '[[endpoint]]\nbase_url = "http://127.0.0.1:9911/v1"\nmodel = "smollm2"\n'
    )
    check, plan = call("check"), call("plan")

    assert (check.returncode, plan.returncode) == (0, 0)
    assert (check.stderr, plan.stderr) == ("", "")
    assert "127.0.0.1-9911/smollm2" in check.stdout
    assert "\x1b" not in check.stdout + plan.stdout


def test_a_sign_that_the_terminal_cannot_write_ends_nothing(call, tmp_path):
    (tmp_path / "pacewatch.toml").write_text(
        '[[endpoint]]\nbase_url = "http://127.0.0.1:1/v1"\nmodel = "m"\n'
    )
    done = call("check", PYTHONIOENCODING="ascii")

    assert done.returncode == 0, done.stderr
    assert "127.0.0.1-1/m" in done.stdout


@pytest.mark.parametrize("command", ["--version", "plan"])
def test_what_cannot_be_written_is_one_sentence(command, tmp_path):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pacewatch", command],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )

    assert done.returncode == 1
    assert done.stderr == "pacewatch: output: no space left on device\n"


_INTERRUPTED = """
import sys
class Interrupted:
    @staticmethod
    def find_spec(name, *_):
        if name == sys.argv[2]:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted)
from pacewatch.__main__ import main
main()
"""


@pytest.mark.parametrize("where", ["pacewatch.cli.app", "pacewatch.cli.up", "pacewatch.config"])
def test_ctrl_c_while_it_is_being_loaded_ends_it_quietly(where, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED, "check", where],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert done.stderr.strip() in {"", "Aborted!", "Aborted."}
