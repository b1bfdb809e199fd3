"""A real Prometheus scrapes the demo; the dashboards' queries and the shipped rules run on it."""

from collections.abc import Iterator

import pytest
from support.prometheus import Prometheus, running_prometheus
from support.servers import short_folder
from support.stack import running_up, until

from dashboards.panels import queries_of
from dashboards.publish import DASHBOARDS

NOT_YET = (
    'quantile="0.5"',  # medians need six runs of a series, which the demo has after some minutes
    'quantile="0.95"',
    "pacewatch_slowdown_ratio",
    "pacewatch_incident_open",  # all is well
    "pacewatch_definition_version",  # which no upgrade has changed
    "verdict!~",
    "pacewatch_runs_missed_total",
    "pacewatch_budget_left_usd",  # the demo has no caps
    "pacewatch_database_used_ratio",  # nor a size
    "pacewatch_rate_limit_left_ratio",  # for as long as a provider says
)
"""What a demo that has just started has no rows of."""

QUERIES = [(name, query) for name, build in DASHBOARDS.items() for query in queries_of(build())]


@pytest.fixture(scope="module")
def prometheus() -> Iterator[Prometheus]:
    with (
        short_folder() as folder,
        running_up(folder, "--demo") as up,
        running_prometheus(folder, up.url.removeprefix("http://")) as found,
    ):
        until(up.measured)
        until(lambda: found.rows("pacewatch_latest_output_tokens_per_second"))
        yield found


@pytest.mark.parametrize(("name", "query"), QUERIES)
def test_a_dashboards_query_runs_and_finds_what_the_demo_has(prometheus, name, query):
    for variable in ("provider", "model", "region", "workload", "load", "simulated"):
        query = query.replace(f"${variable}", ".*")
    assert "$" not in query

    rows = prometheus.rows(query)

    if not any(word in query for word in NOT_YET):
        assert rows or until(lambda: prometheus.rows(query))


def test_every_value_of_the_demo_is_labelled_simulated(prometheus):
    assert prometheus.rows('count({__name__=~"pacewatch_.+", simulated!="true"})') == []


def test_the_shipped_rules_are_evaluated_without_an_error_and_only_the_watchdog_fires(prometheus):
    def evaluated():
        groups = prometheus.get("rules")["data"]["groups"]
        rules = [rule for group in groups for rule in group["rules"]]
        return rules if all(rule["health"] != "unknown" for rule in rules) else None

    rules = until(evaluated)

    alerts = {rule["name"]: rule["state"] for rule in rules if rule["type"] == "alerting"}
    assert {"Watchdog", "ProviderSlow", "RegionSilent", "AggregatorDown"} <= set(alerts)
    assert {rule["health"] for rule in rules} == {"ok"}
    assert {name for name, state in alerts.items() if state == "firing"} == {"Watchdog"}
