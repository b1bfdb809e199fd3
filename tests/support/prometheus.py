"""A real Prometheus that scrapes an aggregator by the shipped rules."""

import http.client
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from support.stack import free_port, until

RULES = Path(__file__).parents[2] / "deploy/prometheus/rules"

_CONFIGURATION = """
global:
  scrape_interval: 1s
  evaluation_interval: 1s
  external_labels: {{board: "http://{target}"}}
rule_files: ["{rules}/*.yml"]
alerting: {{alertmanagers: [{{static_configs: [{{targets: [{alertmanager}]}}]}}]}}
scrape_configs:
  - job_name: pacewatch
    static_configs: [{{targets: ["{target}"]}}]
"""


class Prometheus:
    """A running Prometheus."""

    def __init__(self, port: int) -> None:
        self._port = port

    def get(self, path: str, **words: str) -> dict[str, Any]:
        """The answer's JSON; what Prometheus says of itself where it has no answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)
        try:
            connection.request("GET", f"/api/v1/{path}?{urlencode(words)}")
            return json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            return {"status": "error", "error": repr(error)}
        finally:
            connection.close()

    def rows(self, query: str) -> list[dict[str, Any]]:
        """The samples of an instant query; fails where it is no query."""
        answer = self.get("query", query=query)
        assert answer["status"] == "success", answer
        return answer["data"]["result"]

    def values(self, query: str, label: str) -> dict[str, float]:
        """The values of an instant query by one label."""
        return {row["metric"][label]: float(row["value"][1]) for row in self.rows(query)}

    def evaluate(self) -> None:
        """Return when every rule was evaluated on what is scraped by now."""
        now = datetime.now(UTC)

        def is_done() -> bool:
            groups = self.get("rules")["data"]["groups"]
            return all(datetime.fromisoformat(group["lastEvaluation"]) > now for group in groups)

        until(is_done)

    def firing(self) -> set[tuple[str, str | None]]:
        """The alerts that fire, each with its region; without the one that always does."""
        alerts = self.get("alerts")["data"]["alerts"]
        return {
            (alert["labels"]["alertname"], alert["labels"].get("region"))
            for alert in alerts
            if alert["state"] == "firing" and alert["labels"]["alertname"] != "Watchdog"
        }


@contextmanager
def running_prometheus(
    folder: Path, target: str, *, scaled: Callable[[str], str] = str, alertmanager: str = ""
) -> Iterator[Prometheus]:
    """A Prometheus with its files below the folder; `scaled` may shorten the rules' times, and the
    Alertmanager (host:port) is told of alerts.
    """
    program = shutil.which("prometheus")
    assert program, "prometheus is missing; scripts/tools installs it"
    rules = folder / "rules"
    rules.mkdir()
    for file in RULES.glob("*.yml"):
        (rules / file.name).write_text(scaled(file.read_text("utf-8")), "utf-8")
    text = _CONFIGURATION.format(rules=rules, target=target, alertmanager=alertmanager)
    (folder / "prometheus.yml").write_text(text)
    port = free_port()
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(
            [
                program,
                f"--config.file={folder}/prometheus.yml",
                f"--storage.tsdb.path={folder}/data",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=log,
            stderr=log,
        )
    try:
        found = Prometheus(port)
        until(lambda: found.get("query", query="up")["status"] == "success")
        yield found
    finally:
        process.terminate()
        process.wait(60)
