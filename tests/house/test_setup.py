"""`scripts/setup` on a machine whose Python lacks venv, with the tools of that machine played."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("scripts/setup", "requirements/run.lock", "pyproject.toml")

PYTHON = """#!/bin/sh
case "$*" in
  *ensurepip*) [ -e "$HOME/venv-is-there" ] ;;
  "-c "*) ;;
  "-m venv .venv") mkdir -p .venv/bin; cp "$0" .venv/bin/python ;;
  *) echo "python $*" >> "$HOME/asked" ;;
esac
"""
APT = """#!/bin/sh
echo "apt-get $*" >> "$HOME/asked"
case "$*" in install*python3-venv*) touch "$HOME/venv-is-there" ;; esac
"""


@pytest.fixture
def bare(tmp_path):
    """A clone, and a machine with a Python without venv and neither uv nor anything of ours."""
    for part in PARTS:
        (tmp_path / part).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / part, tmp_path / part)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("cat", "cksum", "cp", "dirname", "mkdir", "rm", "touch"):
        (tools / name).symlink_to(shutil.which(name) or "")
    for name, text in (("python3", PYTHON), ("apt-get", APT)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    return tmp_path


def set_up(bare: Path, uid: int) -> tuple[int, str, str]:
    (bare / "tools" / "id").write_text(f"#!/bin/sh\necho {uid}\n")
    (bare / "tools" / "id").chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", str(bare / "scripts" / "setup"), "run"],
        env={"PATH": str(bare / "tools"), "HOME": str(bare)},
        capture_output=True,
        text=True,
        check=False,
    )
    asked = bare / "asked"
    return done.returncode, done.stderr, asked.read_text() if asked.exists() else ""


def test_where_venv_lacks_a_person_is_told_the_one_command_that_mends_it(bare):
    code, said, asked = set_up(bare, 1000)

    assert (code, asked) == (1, "")
    assert said == (
        "scripts/setup: this Python lacks venv; on Debian, this mends it: "
        "sudo apt-get install -y python3-venv\n"
    )


@pytest.mark.skipif(not Path("/etc/debian_version").exists(), reason="apt-get is Debian's")
def test_root_on_debian_is_given_it_and_the_install_goes_on_from_the_lock_file(bare):
    code, said, asked = set_up(bare, 0)

    assert code == 0, said
    assert asked.splitlines()[:2] == ["apt-get update -qq", "apt-get install -y python3-venv"]
    assert "--require-hashes -r requirements/run.lock" in asked
    assert asked.splitlines()[-1].endswith("--no-deps --no-build-isolation -e .")


def test_a_python_that_is_too_old_or_absent_is_one_sentence(bare):
    (bare / "tools" / "python3").write_text("#!/bin/sh\nexit 1\n")

    assert set_up(bare, os.getuid())[:2] == (
        1,
        "scripts/setup: Python 3.11 or newer is needed, and none is on the PATH\n",
    )
