"""The wheel: what is in it, and that it works where the source is not."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"pacewatch", "probe", "aggregator", "dashboards"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_four_packages_and_no_other(wheel):
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}

    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES


def test_the_wheel_carries_every_file_of_the_packages(wheel):
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    ours = {
        str(file.relative_to(ROOT))
        for package in PACKAGES
        for file in (ROOT / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }

    assert ours - held == set()
    for ending in (".sql", ".toml", ".json", ".html", ".css"):
        assert any(name.endswith(ending) for name in held), ending


def test_the_wheel_works_away_from_the_source(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    done = subprocess.run(
        [sys.executable, "-c", _CHECK, str(tmp_path / "site")],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(tmp_path / "site")] * len(PACKAGES)


_CHECK = """
import sys
from pathlib import Path
sys.meta_path = [finder for finder in sys.meta_path if "editable" not in repr(finder).lower()]
sys.path = [sys.argv[1]] + [p for p in sys.path if p and "editable" not in p]
import aggregator, dashboards, pacewatch, probe
for package in (aggregator, dashboards, pacewatch, probe):
    print(Path(package.__file__).parents[1])
from pacewatch.config import load_fleet
assert len(load_fleet(None, {}).catalog) > 20
from aggregator.db import queries
from dashboards.publish import committed
assert committed("endpoints")
from aggregator.api.manual import INDEX, manual
assert {INDEX, "runbooks/RegionSilent.md"} <= set(manual())
import pacewatch.cli.app
"""
