"""What a dashboard lets people choose: a Prometheus, values of labels, and where the board is."""

from typing import Any

from pacewatch.words.metrics import METRICS

Json = dict[str, Any]

SOURCE: Json = {"type": "prometheus", "uid": "${source}"}

BOARD = "http://127.0.0.1:8420"
"""Where the board is, until the dashboard's own field says otherwise."""


def variable(name: str, label: str, *, of: str = "pacewatch_window_samples") -> Json:
    """Return a variable over the values of a label of a metric."""
    query = f"label_values({METRICS[of].name}, {name})"
    return {
        "type": "query",
        "name": name,
        "label": label,
        "datasource": SOURCE,
        "query": {"query": query, "refId": name},
        "definition": query,
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": ["All"], "value": ["$__all"]},
    }


def source_variable() -> Json:
    """Return the variable that chooses the Prometheus."""
    return {
        "type": "datasource",
        "name": "source",
        "label": "Prometheus",
        "query": "prometheus",
        "refresh": 1,
        "current": {},
    }


def board_variable() -> Json:
    """Return the field that says where people reach the board."""
    said = {"text": BOARD, "value": BOARD}
    return {"type": "textbox", "name": "board", "label": "Board", "query": BOARD, "current": said}
