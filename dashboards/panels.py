"""Panel builders: a panel takes its metric from the table of metrics, and its unit from there.

Plain dictionaries in Grafana's classic dashboard JSON; nothing here knows which dashboard it is on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dashboards.variables import SOURCE, Json, board_variable
from pacewatch.words.metrics import METRICS

SCHEMA_VERSION = 41
"""Of the dashboard JSON: Grafana 12's; older servers read it too."""

YES_NO = "bool_yes_no"
"""The unit of what is 1 or 0."""

TIMES = "suffix: times"

_WORST_IS_LARGEST = ("s", "short", TIMES)
"""Units whose largest value stands first."""

CHOSEN_BY = ("provider", "model", "region", "workload", "load", "simulated")
"""The labels by which the variables of a dashboard choose; a metric has some of them."""


def unit_of(metric: str) -> str:
    """Return Grafana's unit for a metric, from the ending of its name."""
    if metric.endswith("_timestamp_seconds"):
        return "dateTimeFromNow"
    if metric.endswith("_tokens_per_second"):
        return "suffix: tok/s"
    if metric.endswith(("_usd_total", "_usd")):
        return "currencyUSD"
    if metric.endswith(("_used_ratio", "_left_ratio")):
        return "percentunit"
    return "s" if metric.endswith("_seconds") else "short"


def selected(metric: str, *more: str) -> str:
    """Return the metric with the dashboard's matchers; raises KeyError for a metric not told of."""
    word = METRICS[metric]
    chosen = (f'{label}=~"${label}"' for label in CHOSEN_BY if label in word.labels)
    return f"{word.name}{{{','.join((*chosen, *more))}}}"


def open_incidents() -> str:
    """Return the open incidents with the dashboard's matchers; one of no single provider or region
    is of each.
    """
    chosen = ('provider=~"$provider|"', 'region=~"$region|"', 'simulated=~"$simulated"')
    return f"{METRICS['pacewatch_incident_open'].name}{{{','.join(chosen)}}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One PromQL query of a panel."""

    expr: str
    legend: str = ""
    is_instant: bool = False

    def target(self, letter: str) -> Json:
        """Return the query as a panel holds it."""
        return {
            "refId": letter,
            "datasource": SOURCE,
            "editorMode": "code",
            "expr": self.expr,
            "legendFormat": self.legend,
            "instant": self.is_instant,
            "range": not self.is_instant,
            "format": "table" if self.is_instant and not self.legend else "time_series",
        }


def linked(panel: Json, key: str, title: str, path: str) -> Json:
    """Return a table whose cells of a key lead to a page of the board: `path` and the cell."""
    config = panel["fieldConfig"]
    link = {"title": title, "url": f"${{board}}{path}${{__value.raw}}", "targetBlank": True}
    override = {
        "matcher": {"id": "byName", "options": key},
        "properties": [{"id": "links", "value": [link]}],
    }
    return panel | {"fieldConfig": config | {"overrides": [*config["overrides"], override]}}


def with_none(panel: Json, text: str) -> Json:
    """Return a panel that says this where there is nothing to show, and not "No data"."""
    config = panel["fieldConfig"]
    return panel | {
        "fieldConfig": config | {"defaults": config["defaults"] | {"noValue": text}},
    }


def place(x: int, y: int, width: int, height: int) -> Json:
    """Return a place on the grid of 24 columns."""
    return {"x": x, "y": y, "w": width, "h": height}


def timeseries(title: str, text: str, unit: str, where: Json, queries: Sequence[Query]) -> Json:
    """Return a panel of lines over time; the legend is a table with the worst first."""
    return _panel("timeseries", title, text, where, queries) | {
        "fieldConfig": {
            "defaults": {
                "unit": unit,
                "min": 0,
                "custom": {"lineWidth": 1, "fillOpacity": 0, "spanNulls": False, "pointSize": 4},
            },
            "overrides": [],
        },
        "options": {
            "legend": {
                "displayMode": "table",
                "placement": "bottom",
                "calcs": ["lastNotNull"],
                "sortBy": "Last *",
                "sortDesc": unit in _WORST_IS_LARGEST,
            },
            "tooltip": {"mode": "multi", "sort": "asc"},
        },
    }


def bars(title: str, text: str, unit: str, where: Json, query: Query) -> Json:
    """Return a panel of one bar a series, in the order that the query gives."""
    return _panel("bargauge", title, text, where, (query,)) | {
        "fieldConfig": {
            "defaults": {
                "unit": unit,
                "min": 0,
                "color": {"mode": "fixed", "fixedColor": "blue"},
                "thresholds": {"mode": "absolute", "steps": [{"color": "blue", "value": None}]},
            },
            "overrides": [],
        },
        "options": {
            "displayMode": "basic",
            "orientation": "horizontal",
            "valueMode": "text",
            "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        },
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of figures in a table."""

    name: str
    expr: str
    unit: str
    none: str = ""
    """What stands in a cell without a value; empty: nothing."""

    def properties(self) -> list[Json]:
        """Return how its cells are written."""
        unit = {"id": "unit", "value": self.unit}
        return [unit, {"id": "noValue", "value": self.none}] if self.none else [unit]


def stacked(panel: Json) -> Json:
    """Return a panel of lines as areas on top of one another."""
    config, defaults = panel["fieldConfig"], panel["fieldConfig"]["defaults"]
    custom = {"fillOpacity": 40, "stacking": {"mode": "normal", "group": "A"}}
    drawn = defaults | {"custom": defaults["custom"] | custom}
    return panel | {"fieldConfig": config | {"defaults": drawn}}


def both_ways(panel: Json) -> Json:
    """Return a panel of lines whose values may be below zero."""
    config = panel["fieldConfig"]
    defaults = {name: value for name, value in config["defaults"].items() if name != "min"}
    return panel | {"fieldConfig": config | {"defaults": defaults}}


def table(
    title: str, text: str, where: Json, keys: Sequence[str], columns: Sequence[Column]
) -> Json:
    """Return a table: a row for each set of the key labels, a column a query.

    The rows stand by the first column of figures, the smallest first.
    """
    letters = [chr(ord("A") + i) for i in range(len(columns))]
    renamed = {f"Value #{letter}": c.name for letter, c in zip(letters, columns, strict=True)}
    order = {name: i for i, name in enumerate((*keys, *renamed))}
    queries = [Query(expr=column.expr, is_instant=True) for column in columns]
    return _panel("table", title, text, where, queries) | {
        "fieldConfig": {
            "defaults": {"custom": {"align": "auto", "filterable": True}},
            "overrides": [
                {
                    "matcher": {"id": "byName", "options": column.name},
                    "properties": column.properties(),
                }
                for column in columns
            ],
        },
        "options": {
            "showHeader": True,
            "sortBy": [{"displayName": columns[0].name, "desc": False}],
        },
        "transformations": [
            {"id": "merge", "options": {}},
            {
                "id": "organize",
                "options": {
                    "excludeByName": {"Time": True},
                    "indexByName": order,
                    "renameByName": renamed,
                },
            },
        ],
    }


def largest_first(panel: Json) -> Json:
    """Return a table with its rows the other way round."""
    options, (order,) = panel["options"], panel["options"]["sortBy"]
    return panel | {"options": options | {"sortBy": [order | {"desc": True}]}}


def incidents() -> Json:
    """Return the annotation that marks on every panel when an incident was open."""
    return {
        "name": "Incidents",
        "datasource": SOURCE,
        "enable": True,
        "iconColor": "red",
        "expr": f"max by (incident, provider, class) ({open_incidents()})",
        "step": "60s",
        "titleFormat": "Incident {{incident}}: {{provider}}",
        "textFormat": "class {{class}}",
        "tagKeys": "class",
    }


def definitions() -> Json:
    """Return the annotation that marks on every panel where figures began to be made by other
    definitions.
    """
    version = selected("pacewatch_definition_version")
    return {
        "name": "Definitions",
        "datasource": SOURCE,
        "enable": True,
        "iconColor": "purple",
        "expr": f"max({version}) != max({version} offset 5m)",
        "step": "60s",
        "titleFormat": "The definitions changed",
        "textFormat": "Figures before and after are not to be compared.",
        "tagKeys": "",
    }


def dashboard(uid: str, title: str, text: str, variables: list[Json], panels: list[Json]) -> Json:
    """Return a whole dashboard; panels are numbered in their order."""
    return {
        "uid": uid,
        "title": title,
        "description": text,
        "tags": ["pacewatch"],
        "schemaVersion": SCHEMA_VERSION,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "time": {"from": "now-24h", "to": "now"},
        "timezone": "utc",
        "refresh": "1m",
        "annotations": {"list": [incidents(), definitions()]},
        "links": [
            {
                "type": "link",
                "title": "Board",
                "url": "${board}",
                "targetBlank": True,
                "icon": "dashboard",
            }
        ],
        "templating": {"list": [*variables, board_variable()]},
        "panels": [panel | {"id": number} for number, panel in enumerate(panels, start=1)],
    }


def queries_of(board: Json) -> list[str]:
    """Return every PromQL query of a dashboard: those of its panels in order, then annotations'."""
    panels = [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]
    return panels + [one["expr"] for one in board["annotations"]["list"]]


def _panel(kind: str, title: str, text: str, where: Json, queries: Sequence[Query]) -> Json:
    return {
        "type": kind,
        "title": title,
        "description": text,
        "gridPos": where,
        "datasource": SOURCE,
        "targets": [query.target(chr(ord("A") + i)) for i, query in enumerate(queries)],
    }
