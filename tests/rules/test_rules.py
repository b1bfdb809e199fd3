"""The shipped Prometheus files, by Prometheus' own tools."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pacewatch.words.metrics import METRICS
from pacewatch.words.outcome import VOTING_OUTCOMES

ROOT = Path(__file__).parents[2]
RULES = sorted((ROOT / "deploy/prometheus/rules").glob("*.yml"))
ALERTS = [name for file in RULES for name in re.findall(r"- alert: (\w+)", file.read_text("utf-8"))]


def _promtool(*words: str) -> None:
    tool = shutil.which("promtool")
    assert tool, "promtool is missing; scripts/tools installs it"
    done = subprocess.run([tool, *words], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_configuration_is_valid_prometheus():
    _promtool("check", "config", "deploy/prometheus/prometheus.yml")


@pytest.mark.parametrize("file", sorted(Path(__file__).parent.glob("*_test.yml")), ids=str)
def test_rules_fire_when_they_should_and_only_then(file):
    _promtool("test", "rules", str(file))


def test_every_alert_is_tested_both_ways():
    text = "".join(file.read_text("utf-8") for file in Path(__file__).parent.glob("*_test.yml"))
    for alert in ALERTS:
        cases = re.findall(rf"alertname: {alert}\n\s+exp_alerts:( \[\])?", text)
        assert " []" in cases, f"{alert}: no case where it stays quiet"
        assert "" in cases, f"{alert}: no case where it fires"


@pytest.mark.parametrize("alert", ALERTS)
def test_every_alert_has_a_runbook_that_its_address_names(alert):
    address = f"runbook_url: '{{{{ $externalLabels.runbooks }}}}/{alert}.md'"
    assert any(address in file.read_text("utf-8") for file in RULES)
    assert (ROOT / "docs/runbooks" / f"{alert}.md").is_file()


@pytest.mark.parametrize("file", RULES, ids=lambda file: file.name)
def test_rules_ask_for_metrics_that_exist(file):
    named = set(re.findall(r"\bpacewatch_\w+", file.read_text("utf-8")))

    assert named
    assert named <= METRICS.keys()


def test_failing_counts_the_outcomes_that_vote_as_failures():
    text = (ROOT / "deploy/prometheus/rules/pacewatch.yml").read_text("utf-8")
    lists = re.findall(r'outcome=~"([^"]+)"', text)

    assert lists
    for counted in lists:
        assert set(counted.split("|")) == VOTING_OUTCOMES
