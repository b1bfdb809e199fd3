"""The shipped files of Prometheus and Alertmanager, by their own tools."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pacewatch.words.metrics import METRICS
from pacewatch.words.outcome import VOTING_OUTCOMES
from pacewatch.words.verdict import PAGING, Blame, Trouble

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


@pytest.mark.parametrize("alert", [name for name in ALERTS if name != "Watchdog"])
def test_every_alert_is_tested_both_ways_and_with_nothing_to_scrape(alert):
    text = "".join(file.read_text("utf-8") for file in Path(__file__).parent.glob("*_test.yml"))
    without_scrapes = re.findall(
        rf"- name: (?:(?!\n  - name:).)*job=\"pacewatch\"[^\n]*\n\s+values: '[^']*\b0x\d"
        rf"(?:(?!\n  - name:).)*alertname: {alert}\n",
        text,
        re.DOTALL,
    )

    cases = re.findall(rf"alertname: {alert}(?:,|\n\s+)\s*exp_alerts:( \[\])?", text)
    assert " []" in cases, f"{alert}: no case where it stays quiet"
    assert "" in cases, f"{alert}: no case where it fires"
    assert without_scrapes, f"{alert}: no case where the aggregator cannot be scraped"


def test_an_alert_stands_on_nothing_that_goes_away_with_a_scrape():
    """Rules that record keep what was last told; alerts read these, and their texts what they may
    miss.
    """
    for file in RULES:
        for alert in re.findall(
            r"- alert: \w+.*?(?=labels:)", file.read_text("utf-8"), flags=re.DOTALL
        ):
            assert not re.search(r"(?<!\")\bpacewatch_\w+", alert), alert


@pytest.mark.parametrize("alert", ALERTS)
def test_every_alert_has_a_runbook_that_its_address_names(alert):
    address = f"runbook_url: '{{{{ $externalLabels.board }}}}/runbooks/{alert}.md'"
    assert any(address in file.read_text("utf-8") for file in RULES)
    assert (ROOT / "docs/runbooks" / f"{alert}.md").is_file()


@pytest.mark.parametrize("alert", ALERTS)
def test_a_runbook_has_its_six_parts_and_three_commands_to_begin_with(alert):
    text = (ROOT / "docs/runbooks" / f"{alert}.md").read_text("utf-8")
    heading, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    look = parts[2].splitlines()[1:]

    assert heading.strip() == f"# {alert}"
    assert [part.partition("\n")[0] for part in parts] == [
        "What it means",
        "What users feel",
        "First look",
        "Likely causes",
        "What to do",
        "When to silence",
    ]
    assert all(part.partition("\n")[2].strip() for part in parts)
    assert [line[:3] for line in look if "`" in line] == ["1. ", "2. ", "3. "]


def _code_of_runbooks() -> list[str]:
    return [
        code
        for alert in ALERTS
        for code in re.findall(
            r"`([^`]+)`", (ROOT / f"docs/runbooks/{alert}.md").read_text("utf-8")
        )
    ]


def test_what_runbooks_have_asked_of_prometheus_can_be_asked(tmp_path):
    asked = [code for code in _code_of_runbooks() if re.search(r"\bpacewatch_\w+[{\[]", code)]
    rules = [f"      - {{ record: asked:{n}, expr: {one!r} }}" for n, one in enumerate(asked)]
    lines = ["groups:", "  - name: runbooks", "    rules:", *rules]
    (tmp_path / "asked.yml").write_text("\n".join(lines))

    assert len(asked) > 5
    assert {name for one in asked for name in re.findall(r"pacewatch_\w+", one)} <= METRICS.keys()
    _promtool("check", "rules", str(tmp_path / "asked.yml"))


def test_what_runbooks_look_at_in_the_compose_file_is_there():
    services = re.findall(
        r"^  ([\w-]+):$", (ROOT / "docker-compose.yml").read_text("utf-8"), re.MULTILINE
    )
    named = [
        found[1]
        for code in _code_of_runbooks()
        if (found := re.search(r"^docker compose logs --since \w+ ([\w-]+)$", code))
    ]

    assert len(named) == sum(code.startswith("docker compose") for code in _code_of_runbooks()) > 2
    assert set(named) <= set(services)


@pytest.mark.parametrize("file", RULES, ids=lambda file: file.name)
def test_rules_ask_for_metrics_that_exist(file):
    named = set(re.findall(r"\bpacewatch_\w+", file.read_text("utf-8")))

    assert named
    assert named <= METRICS.keys()


def test_failing_counts_the_outcomes_that_vote_as_failures():
    text = (ROOT / "deploy/prometheus/rules/providers.yml").read_text("utf-8")
    lists = [counted for counted in re.findall(r"outcome=~'([^']+)'", text) if "server" in counted]

    assert lists
    for counted in lists:
        assert set(counted.split("|")) == VOTING_OUTCOMES


def test_only_classes_that_may_wake_somebody_page():
    text = (ROOT / "deploy/prometheus/rules/held.yml").read_text("utf-8")
    paging = re.findall(r'class=~"([^"]+)", importance="page"\}', text)

    assert [set(classes.split("|")) for classes in paging] == [PAGING]


def test_no_incident_is_left_without_an_alert_nor_has_two():
    text = (ROOT / "deploy/prometheus/rules/providers.yml").read_text("utf-8")
    expressions = re.findall(
        r"expr: (?:\|\n)?(.*?)(?=\n +(?:annotations|labels):)", text, re.DOTALL
    )
    chosen = [", ".join(re.findall(r"\{([^}]*)\}", one)) for one in expressions]

    assert len(chosen) == text.count("- alert: ")
    for blame in Blame:
        for trouble in Trouble:
            words = {"class": blame, "trouble": trouble, "gauge": "pacewatch_incident_open"}
            taken = [one for one in chosen if _matches(one, words)]
            assert len(taken) == 1, (blame, trouble)


def _matches(matchers: str, words: dict[str, str]) -> bool:
    """Tell whether PromQL's matchers take a series with these labels."""
    found = re.findall(r'(\w+)(=~|!~|=)"([^"]*)"', matchers)
    return all(
        bool(re.fullmatch(pattern, words[label])) != (sign == "!~")
        for label, sign, pattern in found
    )
