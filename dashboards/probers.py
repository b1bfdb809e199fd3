"""The dashboard of the probers: whether workers are well, exact, within budgets and rate limits."""

from dashboards.panels import (
    YES_NO,
    Column,
    Query,
    both_ways,
    dashboard,
    largest_first,
    place,
    selected,
    table,
    timeseries,
    unit_of,
)
from dashboards.variables import Json, source_variable, variable

_SEEN = "pacewatch_worker_last_seen_timestamp_seconds"
_ERROR = "pacewatch_worker_timing_error_seconds"
_SUSPECT = "pacewatch_worker_suspect"
_CALIBRATED = "pacewatch_worker_calibrated"
_OFFSET = "pacewatch_worker_clock_offset_seconds"
_MISMATCH = "pacewatch_worker_catalog_mismatch"
_OUTBOX = "pacewatch_outbox_runs"
_BUDGET = "pacewatch_budget_left_usd"
_HEADROOM = "pacewatch_rate_limit_left_ratio"
_MISSED = "pacewatch_runs_missed_total"
_COST = "pacewatch_probe_cost_usd_total"
_USED = "pacewatch_database_used_ratio"

_P99 = 'quantile="0.99"'
_KEYS = ("region", "worker")
_LEGEND = "{{region}} {{worker}}"


def _by(expression: str, *keys: str) -> str:
    return f"max by ({', '.join(keys or _KEYS)}) ({expression})"


def build() -> Json:
    """Return the dashboard."""
    return dashboard(
        "pacewatch-probers",
        "Pacewatch: probers",
        "Whether the workers are well, how exact they are, and what budgets and limits leave.",
        [
            source_variable(),
            variable("region", "Region", of=_SEEN),
            variable("provider", "Provider"),
            variable("model", "Model"),
            variable("simulated", "Simulated", of=_SEEN),
        ],
        [_workers(), *_health(), *_limits(), *_losses()],
    )


def _workers() -> Json:
    columns = (
        ("Unheard of for", f"time() - {_by(selected(_SEEN))}", "s"),
        ("Timing error, p99", _by(selected(_ERROR, _P99)), unit_of(_ERROR)),
        ("Calibrated", _by(selected(_CALIBRATED)), YES_NO),
        ("Suspect", _by(selected(_SUSPECT)), YES_NO),
        ("Clock off by", _by(selected(_OFFSET)), unit_of(_OFFSET)),
        ("Catalog differs", _by(selected(_MISMATCH)), YES_NO),
        ("Outbox", _by(selected(_OUTBOX)), "short"),
        ("Budget left", _by(selected(_BUDGET)), unit_of(_BUDGET)),
    )
    return largest_first(
        table(
            "Workers, the longest unheard of first",
            "Suspect: while its own calibration is over a limit: its figures do not count. "
            "Calibrated: since it started; before, how exact it is is not known.",
            place(0, 0, 24, 8),
            _KEYS,
            [Column(name=name, expr=expr, unit=unit) for name, expr, unit in columns],
        )
    )


def _health() -> list[Json]:
    return [
        timeseries(
            "Timing error",
            "Of arrivals in each worker's latest own calibration, median and p99.",
            unit_of(_ERROR),
            place(0, 8, 12, 9),
            [
                Query(
                    expr=_by(selected(_ERROR), *_KEYS, "quantile"), legend=_LEGEND + " {{quantile}}"
                )
            ],
        ),
        both_ways(
            timeseries(
                "Clock, less the centre's",
                "No figure stands on it; signed requests fail when it is off by minutes.",
                unit_of(_OFFSET),
                place(12, 8, 12, 9),
                [Query(expr=_by(selected(_OFFSET)), legend=_LEGEND)],
            )
        ),
        timeseries(
            "Outbox",
            "Finished runs on the worker's disk that the centre has not committed.",
            "short",
            place(0, 17, 12, 9),
            [Query(expr=_by(selected(_OUTBOX)), legend=_LEGEND)],
        ),
        timeseries(
            "Database",
            "Of the room that the file says it has.",
            unit_of(_USED),
            place(12, 17, 12, 9),
            [Query(expr=f"max({selected(_USED)})", legend="used")],
        ),
    ]


def _limits() -> list[Json]:
    return [
        timeseries(
            "Budget left today",
            "Of each worker's daily cap in US$.",
            unit_of(_BUDGET),
            place(0, 26, 12, 9),
            [Query(expr=_by(selected(_BUDGET)), legend=_LEGEND)],
        ),
        timeseries(
            "Rate limit left",
            "As providers' answers told it; under 20 % no run is made.",
            unit_of(_HEADROOM),
            place(12, 26, 12, 9),
            [
                Query(
                    expr=f"min by (provider, key, unit) ({selected(_HEADROOM)})",
                    legend="{{provider}} {{key}} {{unit}}",
                )
            ],
        ),
    ]


def _losses() -> list[Json]:
    return [
        timeseries(
            "Runs that were not made, in six hours",
            "By reason; a run that comes later does not lower it.",
            "short",
            place(0, 35, 12, 9),
            [
                Query(
                    expr=f"sum by (region, reason) (increase({selected(_MISSED)}[6h])) > 0",
                    legend="{{region}} {{reason}}",
                )
            ],
        ),
        timeseries(
            "Cost in 24 hours",
            "Of all probes by the known prices.",
            unit_of(_COST),
            place(12, 35, 12, 9),
            [
                Query(
                    expr=f"sum by (provider) (increase({selected(_COST)}[24h]))",
                    legend="{{provider}}",
                )
            ],
        ),
    ]
