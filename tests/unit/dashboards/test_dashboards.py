import json
import re

import pytest

from dashboards.panels import queries_of, selected, unit_of
from dashboards.publish import DASHBOARDS, as_text, committed, write
from pacewatch.words.metrics import METRICS

EVERY = pytest.mark.parametrize("name", DASHBOARDS)


@EVERY
def test_the_committed_file_is_the_built_one(name):
    """`python -m dashboards.publish` writes it anew."""
    assert committed(name) == as_text(DASHBOARDS[name]())


@EVERY
def test_every_query_asks_for_metrics_that_exist_with_labels_they_have(name):
    for query in queries_of(DASHBOARDS[name]()):
        named = re.findall(r"(pacewatch_\w+)\{([^}]*)\}", query)
        assert named, query
        for metric, matchers in named:
            used = set(re.findall(r"(\w+)=~?", matchers))
            assert used <= set(METRICS[metric].labels), (metric, used)


@EVERY
def test_panels_have_numbers_places_and_texts_of_their_own(name):
    board = DASHBOARDS[name]()
    taken = set()
    for panel in board["panels"]:
        grid = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(grid["x"], grid["x"] + grid["w"])
            for y in range(grid["y"], grid["y"] + grid["h"])
        }
        assert not cells & taken, panel["title"]
        assert grid["x"] + grid["w"] <= 24
        taken |= cells
        assert panel["description"]
    assert len({p["id"] for p in board["panels"]}) == len(board["panels"])
    assert len({p["title"] for p in board["panels"]}) == len(board["panels"])


@EVERY
def test_the_variables_are_those_that_the_queries_name(name):
    board = DASHBOARDS[name]()
    declared = {v["name"] for v in board["templating"]["list"]}

    named = set(re.findall(r"\$\{?(\w+)", json.dumps([board["panels"], board["links"]])))
    assert {one for one in named if not one.startswith("__")} == declared


def test_a_metric_that_is_not_told_of_cannot_be_asked_for():
    with pytest.raises(KeyError):
        selected("pacewatch_time_to_first_tolken_seconds")


@pytest.mark.parametrize(
    ("metric", "unit"),
    [
        ("pacewatch_time_to_first_token_seconds", "s"),
        ("pacewatch_latest_run_timestamp_seconds", "dateTimeFromNow"),
        ("pacewatch_output_tokens_per_second", "suffix: tok/s"),
        ("pacewatch_probe_cost_usd_total", "currencyUSD"),
        ("pacewatch_window_samples", "short"),
    ],
)
def test_the_unit_follows_from_the_name(metric, unit):
    assert unit_of(metric) == unit


def test_written_files_are_read_back_as_json(tmp_path):
    for file in write(tmp_path / "made"):
        assert json.loads(file.read_text())["uid"].startswith("pacewatch-")


def test_an_incident_in_a_table_leads_to_its_page():
    (table,) = (
        p for p in DASHBOARDS["judgement"]()["panels"] if p["title"].startswith("Incidents")
    )
    fields = table["fieldConfig"]["overrides"]
    (links,) = (o["properties"] for o in fields if o["matcher"]["options"] == "incident")

    assert links[0]["value"][0]["url"] == "${board}/incidents/${__value.raw}"
    assert "No incident" in table["fieldConfig"]["defaults"]["noValue"]


def test_an_incident_of_no_single_provider_or_region_is_of_each_that_is_chosen():
    for build in DASHBOARDS.values():
        query = annotation(build(), "Incidents")
        assert 'provider=~"$provider|"' in query
        assert 'region=~"$region|"' in query


def annotation(board, name):
    """The query of what is marked on every panel."""
    (query,) = (one["expr"] for one in board["annotations"]["list"] if one["name"] == name)
    return query


@EVERY
def test_every_panel_marks_where_the_definitions_changed(name):
    version = 'max(pacewatch_definition_version{simulated=~"$simulated"}'

    query = annotation(DASHBOARDS[name](), "Definitions")

    assert query == f"{version}) != {version} offset 5m)"


def test_in_the_table_of_endpoints_a_statistic_of_too_few_runs_is_told_as_such():
    panels = DASHBOARDS["endpoints"]()["panels"]
    (table,) = (one for one in panels if one["type"] == "table")

    told = {
        override["matcher"]["options"]: {p["id"]: p["value"] for p in override["properties"]}
        for override in table["fieldConfig"]["overrides"]
    }

    few = {name for name, found in told.items() if found.get("noValue") == "too few runs"}
    assert few == {name for name in told if name.endswith((", median", ", p95"))} != set()
