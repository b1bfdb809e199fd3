"""What is shipped to run Pacewatch elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pacewatch.config import load_fleet

ROOT = Path(__file__).parents[2]
COMPOSE = Path(sys.executable).parent / "docker-compose"


def _config(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(COMPOSE), "-f", str(ROOT / "docker-compose.yml"), "config"],
        env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_compose_file_is_valid():
    done = _config(PACEWATCH_POSTGRES_PASSWORD="p")

    assert done.returncode == 0, done.stderr
    for service in (
        "aggregator",
        "central",
        "beat",
        "worker",
        "prometheus",
        "alertmanager",
        "grafana",
    ):
        assert f"\n  {service}:\n" in done.stdout


def test_the_compose_file_asks_for_the_password_it_needs():
    done = _config()

    assert done.returncode != 0
    assert "PACEWATCH_POSTGRES_PASSWORD" in done.stderr


def test_what_the_compose_file_publishes_is_this_hosts_loopback():
    published = re.findall(r'"([\d.]+:)?\d+:\d+"', (ROOT / "docker-compose.yml").read_text())

    assert published
    assert set(published) == {"127.0.0.1:"}


def test_the_provider_keys_reach_the_worker_alone():
    text = _config(PACEWATCH_POSTGRES_PASSWORD="p").stdout
    services = re.split(r"\n  (?=\w+:\n)", text.split("\nservices:\n")[1])
    worker = next(s for s in services if s.strip().startswith("worker:"))

    assert "DATABASE_URL" not in worker
    assert "region.env" in (ROOT / "docker-compose.yml").read_text()


def test_the_worker_may_let_its_reader_go_first():
    _, _, worker = (ROOT / "docker-compose.yml").read_text().partition("\n  worker:\n")

    assert "rtprio: 1" in worker.partition("\n  prometheus:")[0]


def test_a_centre_without_keys_has_something_to_plan():
    assert load_fleet(ROOT / "deploy/pacewatch.toml", {}).endpoints


@pytest.mark.parametrize(
    "line", ["COPY requirements/run.lock", "--require-hashes", "USER pacewatch"]
)
def test_the_image_installs_from_the_lock_file_and_runs_as_nobody_special(line):
    assert line in (ROOT / "deploy/Dockerfile").read_text()
