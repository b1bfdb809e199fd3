"""The shipped Alertmanager files, by Alertmanager's own tool."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy/alertmanager"
CONFIGURATION = FOLDER / "alertmanager.yml"
RULES = sorted((ROOT / "deploy/prometheus/rules").glob("*.yml"))
ALERTS = {name for file in RULES for name in re.findall(r"- alert: (\w+)", file.read_text("utf-8"))}


def _amtool(*words: str) -> str:
    tool = shutil.which("amtool")
    assert tool, "amtool is missing; scripts/tools installs it"
    done = subprocess.run([tool, *words], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_configuration_is_valid_alertmanager():
    said = _amtool("check-config", str(CONFIGURATION))

    assert "1 templates" in said


@pytest.mark.parametrize(
    ("labels", "receiver"),
    [
        (("alertname=ProviderSlow", "severity=page", "provider=groq", "simulated=false"), "page"),
        (("alertname=AggregatorDown", "severity=page"), "page"),
        (("alertname=ProviderSlow", "severity=notify", "provider=groq"), "notify"),
        (("alertname=ProviderThrottled", "severity=notify", "provider=groq"), "notify"),
        (("alertname=RegionSilent", "severity=notify", "region=eu-west"), "notify"),
        (("alertname=Watchdog", "severity=none"), "watchdog"),
        (("alertname=ProviderSlow", "severity=page", "provider=groq", "simulated=true"), "nobody"),
        (("alertname=FleetSilent", "severity=page", "simulated=true"), "nobody"),
    ],
)
def test_an_alert_goes_to_those_whom_it_concerns(labels, receiver):
    words = ("config", "routes", "test", f"--config.file={CONFIGURATION}")

    _amtool(*words, f"--verify.receivers={receiver}", *labels)


def test_the_route_tree_groups_by_provider_where_there_is_one():
    shown = _amtool("config", "routes", "show", f"--config.file={CONFIGURATION}")

    assert shown.count('provider!=""') == 2
    assert CONFIGURATION.read_text("utf-8").count("group_by: [provider]") == 2


def test_every_alert_but_itself_and_the_watchdog_is_hidden_while_the_aggregator_is_down():
    text = CONFIGURATION.read_text("utf-8")
    hidden = re.search(r'"AggregatorDown"\'\]\n.*=~"([^"]+)"', text)

    assert hidden
    assert set(hidden[1].split("|")) == ALERTS - {"AggregatorDown", "Watchdog"}


def test_inhibition_names_alerts_that_exist():
    names = re.findall(r'alertname=~?"([^"]+)"', CONFIGURATION.read_text("utf-8"))

    assert names
    assert {name for several in names for name in several.split("|")} <= ALERTS


def test_no_secret_stands_in_the_configuration():
    text = CONFIGURATION.read_text("utf-8")
    keys = re.findall(r"^[^#\n]*?\b(\w*(?:key|url|token|password)\w*):", text, re.MULTILINE)

    assert set(keys) == {"slack_api_url_file", "routing_key_file", "client_url"}


SLOW = {
    "status": "firing",
    "labels": {"alertname": "ProviderSlow", "severity": "page", "provider": "groq"},
    "annotations": {
        "summary": "groq is slow: gpt-oss-120b 2.0 times slower in output speed",
        "description": "Compared with its own last 72 hours.",
        "incident_url": "http://pacewatch.example/incidents/7",
        "runbook_url": "http://pacewatch.example/runbooks/ProviderSlow.md",
    },
    "startsAt": "2026-12-01T12:00:00Z",
}
FAILING = SLOW | {
    "annotations": {
        "summary": "groq fails",
        "description": "All regions are counted.",
        "runbook_url": "http://pacewatch.example/runbooks/EndpointFailing.md",
    },
    "startsAt": "2026-12-01T13:30:00Z",
}


def _rendered(name: str, folder: Path, *alerts: dict[str, object]) -> str:
    status = "firing" if any(alert["status"] == "firing" for alert in alerts) else "resolved"
    data = {"status": status, "commonLabels": {"severity": "page"}, "alerts": alerts}
    (folder / "data.json").write_text(json.dumps(data))
    return _amtool(
        "template",
        "render",
        f"--template.glob={FOLDER}/templates/*.tmpl",
        f"--template.data={folder}/data.json",
        f'--template.text={{{{ template "{name}" . }}}}',
    )


def test_the_title_has_the_figures_of_the_first_alert_that_fires(tmp_path):
    over = SLOW | {"status": "resolved"}
    summary = "groq is slow: gpt-oss-120b 2.0 times slower in output speed"

    assert _rendered("pacewatch.title", tmp_path, SLOW) == summary
    assert _rendered("pacewatch.title", tmp_path, SLOW, FAILING) == f"{summary} (and 1 more)"
    assert _rendered("pacewatch.title", tmp_path, over, FAILING) == "groq fails"
    assert _rendered("pacewatch.title", tmp_path, over) == f"Over: {summary}"


def test_it_leads_to_the_incident_else_to_the_runbook(tmp_path):
    assert _rendered("pacewatch.link", tmp_path, SLOW) == "http://pacewatch.example/incidents/7"
    assert _rendered("pacewatch.link", tmp_path, FAILING).endswith("/runbooks/EndpointFailing.md")
    assert _rendered("pacewatch.runbook", tmp_path, SLOW).endswith("/runbooks/ProviderSlow.md")


def test_slack_is_told_each_alert_with_its_links(tmp_path):
    said = _rendered("pacewatch.text", tmp_path, SLOW, FAILING | {"status": "resolved"})

    assert said.splitlines() == [
        ":rotating_light: *groq is slow: gpt-oss-120b 2.0 times slower in output speed*",
        "Compared with its own last 72 hours.",
        "<http://pacewatch.example/incidents/7|Incident> · "
        "<http://pacewatch.example/runbooks/ProviderSlow.md|Runbook> · "
        "page, since 12:00 on 2026-12-01 UTC",
        ":white_check_mark: *groq fails*",
        "All regions are counted.",
        "<http://pacewatch.example/runbooks/EndpointFailing.md|Runbook> · "
        "page, since 13:30 on 2026-12-01 UTC",
    ]


def test_the_colour_is_that_of_the_severity_until_it_is_over(tmp_path):
    assert _rendered("pacewatch.color", tmp_path, SLOW) == "danger"
    assert _rendered("pacewatch.color", tmp_path, SLOW | {"status": "resolved"}) == "good"


def test_a_line_for_each_alert_with_its_incident(tmp_path):
    text = "{{ template `pacewatch.lines` .Alerts.Firing }}"
    (tmp_path / "data.json").write_text(json.dumps({"alerts": [SLOW, FAILING]}))
    said = _amtool(
        "template",
        "render",
        f"--template.glob={FOLDER}/templates/*.tmpl",
        f"--template.data={tmp_path}/data.json",
        f"--template.text={text}",
    )

    assert said.splitlines() == [
        "groq is slow: gpt-oss-120b 2.0 times slower in output speed "
        "http://pacewatch.example/incidents/7",
        "groq fails",
    ]
