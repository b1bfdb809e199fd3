"""The dashboard of the endpoints: speed and first token, rolling and latest, worst first."""

from dashboards.panels import (
    Column,
    Query,
    bars,
    dashboard,
    place,
    selected,
    table,
    timeseries,
    unit_of,
)
from dashboards.variables import Json, source_variable, variable

_SPEED = "pacewatch_output_tokens_per_second"
_TTFT = "pacewatch_time_to_first_token_seconds"
_LATEST_SPEED = "pacewatch_latest_output_tokens_per_second"
_LATEST_TTFT = "pacewatch_latest_time_to_first_token_seconds"
_LATEST_RUN = "pacewatch_latest_run_timestamp_seconds"
_SAMPLES = "pacewatch_window_samples"
_TRIED = "pacewatch_requests_tried_total"
_SUCCEEDED = "pacewatch_requests_succeeded_total"

_MEDIAN = 'quantile="0.5"'
_P95 = 'quantile="0.95"'
_KEYS = ("endpoint", "region", "load")
_TOO_FEW = "too few runs"


def _by(expression: str) -> str:
    return f"max by ({', '.join(_KEYS)}) ({expression})"


def build() -> Json:
    """Return the dashboard."""
    return dashboard(
        "pacewatch-endpoints",
        "Pacewatch: endpoints",
        "How fast every endpoint is, from every region: 72-hour medians and the latest run.",
        [
            source_variable(),
            variable("model", "Model"),
            variable("provider", "Provider"),
            variable("region", "Region"),
            variable("workload", "Workload"),
            variable("load", "Load"),
            variable("simulated", "Simulated"),
        ],
        [_all(), *_medians(), *_over_time(), _success()],
    )


def _all() -> Json:
    return table(
        "Endpoints, slowest first",
        "A median is told from six runs on, five under parallel load.",
        place(0, 0, 24, 11),
        _KEYS,
        [
            Column(
                name="Speed, median",
                expr=_by(selected(_SPEED, _MEDIAN)),
                unit=unit_of(_SPEED),
                none=_TOO_FEW,
            ),
            Column(name="Speed, latest", expr=_by(selected(_LATEST_SPEED)), unit=unit_of(_SPEED)),
            Column(
                name="First token, median",
                expr=_by(selected(_TTFT, _MEDIAN)),
                unit=unit_of(_TTFT),
                none=_TOO_FEW,
            ),
            Column(
                name="First token, p95",
                expr=_by(selected(_TTFT, _P95)),
                unit=unit_of(_TTFT),
                none=_TOO_FEW,
            ),
            Column(name="First token, latest", expr=_by(selected(_LATEST_TTFT)), unit="s"),
            Column(name="Runs", expr=_by(selected(_SAMPLES)), unit="short"),
            Column(name="Age", expr=f"time() - {_by(selected(_LATEST_RUN))}", unit="s"),
        ],
    )


def _medians() -> list[Json]:
    speed, ttft = selected(_SPEED, _MEDIAN), selected(_TTFT, _MEDIAN)
    legend = "{{endpoint}} {{region}} {{load}}"
    return [
        bars(
            "Output speed, 72-hour median, slowest first",
            "Tokens after the first arrival over the time from the first arrival to the last.",
            unit_of(_SPEED),
            place(0, 11, 12, 12),
            Query(expr=f"sort({_by(speed)})", legend=legend, is_instant=True),
        ),
        bars(
            "Time to first token, 72-hour median, slowest first",
            "To the first token-bearing chunk, reasoning included, connection set-up not.",
            unit_of(_TTFT),
            place(12, 11, 12, 12),
            Query(expr=f"sort_desc({_by(ttft)})", legend=legend, is_instant=True),
        ),
    ]


def _over_time() -> list[Json]:
    legend = "{{endpoint}} {{region}} {{load}}"
    rows = (
        ("Output speed", _SPEED, _LATEST_SPEED, 23),
        ("Time to first token", _TTFT, _LATEST_TTFT, 33),
    )
    panels: list[Json] = []
    for title, rolling, latest, y in rows:
        panels += [
            timeseries(
                f"{title}, latest run",
                "One value a run: what a slowdown shows first.",
                unit_of(rolling),
                place(0, y, 12, 10),
                [Query(expr=_by(selected(latest)), legend=legend)],
            ),
            timeseries(
                f"{title}, 72-hour median",
                "It needs a day and a half to move; no alert stands on it.",
                unit_of(rolling),
                place(12, y, 12, 10),
                [Query(expr=_by(selected(rolling, _MEDIAN)), legend=legend)],
            ),
        ]
    return panels


def _success() -> Json:
    succeeded, tried = (
        f"sum by (endpoint) (increase({selected(metric)}[24h]))" for metric in (_SUCCEEDED, _TRIED)
    )
    return timeseries(
        "Requests that succeeded, over 24 hours",
        "Succeeded over tried; our own faults are in neither.",
        "percentunit",
        place(0, 43, 24, 10),
        [Query(expr=f"{succeeded} / ({tried} > 0)", legend="{{endpoint}}")],
    )
