"""A real Prometheus scrapes the demo; the dashboards' queries and the shipped rules run on it."""

import http.client
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from support.servers import short_folder
from support.stack import free_port, running_up, until

from dashboards.panels import queries_of
from dashboards.publish import DASHBOARDS

ROOT = Path(__file__).parents[2]
QUERIES = [(name, query) for name, build in DASHBOARDS.items() for query in queries_of(build())]

CONFIGURATION = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: ["{rules}/*.yml"]
scrape_configs:
  - job_name: pacewatch
    static_configs: [{{targets: ["{target}"]}}]
"""


class Prometheus:
    """A running Prometheus."""

    def __init__(self, port: int) -> None:
        self._port = port

    def get(self, path: str, **words: str) -> dict:
        """The answer's JSON; what Prometheus says of itself where it has no answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)
        try:
            connection.request("GET", f"/api/v1/{path}?{urlencode(words)}")
            return json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            return {"status": "error", "error": repr(error)}
        finally:
            connection.close()

    def rows(self, query: str) -> list[dict]:
        """The samples of an instant query; fails where it is no query."""
        answer = self.get("query", query=query)
        assert answer["status"] == "success", answer
        return answer["data"]["result"]


@pytest.fixture(scope="module")
def prometheus() -> Iterator[Prometheus]:
    program = shutil.which("prometheus")
    assert program, "prometheus is missing; scripts/tools installs it"
    with short_folder() as folder, running_up(folder, "--demo") as up:
        port = free_port()
        (folder / "prometheus.yml").write_text(
            CONFIGURATION.format(
                rules=ROOT / "deploy/prometheus/rules", target=up.url.removeprefix("http://")
            )
        )
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
            until(up.measured)
            until(lambda: found.rows("pacewatch_latest_output_tokens_per_second"))
            yield found
        finally:
            process.terminate()
            process.wait(60)


@pytest.mark.parametrize(("name", "query"), QUERIES)
def test_a_dashboards_query_runs_and_finds_what_the_demo_has(prometheus, name, query):
    for variable in ("provider", "model", "region", "workload", "load", "simulated"):
        query = query.replace(f"${variable}", ".*")
    assert "$" not in query

    rows = prometheus.rows(query)

    # medians need six runs of a series, which the demo has after some minutes
    if "quantile=" not in query:
        assert rows or until(lambda: prometheus.rows(query))


def test_every_value_of_the_demo_is_labelled_simulated(prometheus):
    assert prometheus.rows('count({__name__=~"pacewatch_.+", simulated!="true"})') == []


def test_the_shipped_rules_are_evaluated_without_an_error_and_none_fires(prometheus):
    def evaluated():
        groups = prometheus.get("rules")["data"]["groups"]
        rules = [rule for group in groups for rule in group["rules"]]
        return rules if all(rule["health"] != "unknown" for rule in rules) else None

    rules = until(evaluated)

    assert {rule["name"] for rule in rules} == {"EndpointFailing", "RegionSilent", "AggregatorDown"}
    assert {rule["health"] for rule in rules} == {"ok"}
    assert {rule["state"] for rule in rules} == {"inactive"}
