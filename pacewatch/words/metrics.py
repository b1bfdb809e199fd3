"""Every metric Pacewatch exposes: name, kind, help, labels. Read by /metrics, dashboards, docs and
rule tests.
"""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a metric is to Prometheus."""

    GAUGE = "gauge"
    COUNTER = "counter"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricWord:
    """One metric family."""

    name: str
    """As scraped; a counter's with `_total`."""
    kind: Kind
    help: str
    labels: tuple[str, ...]


SERIES_LABELS = ("endpoint", "provider", "model", "region", "workload", "load", "simulated")
PLACE_LABELS = ("endpoint", "provider", "model", "region", "simulated")
"""Of what is told per (endpoint, region)."""
JUDGED_LABELS = ("endpoint", "provider", "model", "simulated")
"""Of what is told per endpoint."""


def _gauge(name: str, text: str, *labels: str) -> MetricWord:
    return MetricWord(name=name, kind=Kind.GAUGE, help=text, labels=labels)


def _counter(name: str, text: str, *labels: str) -> MetricWord:
    return MetricWord(name=name, kind=Kind.COUNTER, help=text, labels=labels)


METRICS: dict[str, MetricWord] = {
    word.name: word
    for word in (
        _gauge(
            "pacewatch_time_to_first_token_seconds",
            "Quantiles over the window of the time to the first token, reasoning included.",
            *SERIES_LABELS,
            "quantile",
        ),
        _gauge(
            "pacewatch_time_to_first_answer_token_seconds",
            "Quantiles over the window of the time to the first chunk of the visible answer.",
            *SERIES_LABELS,
            "quantile",
        ),
        _gauge(
            "pacewatch_output_tokens_per_second",
            "Quantiles over the window of output speed, o200k tokens after the first arrival.",
            *SERIES_LABELS,
            "quantile",
        ),
        _gauge(
            "pacewatch_end_to_end_seconds",
            "Quantiles over the window of the time to the last token-bearing chunk.",
            *SERIES_LABELS,
            "quantile",
        ),
        _gauge("pacewatch_window_samples", "Runs in the window of the series.", *SERIES_LABELS),
        _gauge(
            "pacewatch_latest_time_to_first_token_seconds",
            "Time to first token of the latest run.",
            *SERIES_LABELS,
        ),
        _gauge(
            "pacewatch_latest_output_tokens_per_second",
            "Output speed of the latest run.",
            *SERIES_LABELS,
        ),
        _gauge(
            "pacewatch_latest_end_to_end_seconds",
            "End-to-end time of the latest run.",
            *SERIES_LABELS,
        ),
        _gauge(
            "pacewatch_latest_run_timestamp_seconds",
            "The slot's moment of the latest run, Unix time.",
            *SERIES_LABELS,
        ),
        _gauge(
            "pacewatch_last_success_timestamp_seconds",
            "The slot's moment of the latest run with a good request, Unix time.",
            *SERIES_LABELS,
        ),
        _counter(
            "pacewatch_requests_tried_total",
            "Requests sent of the purposes scheduled, first and sentinel; our own faults excluded.",
            *SERIES_LABELS,
        ),
        _counter(
            "pacewatch_requests_succeeded_total",
            "Requests of those that ended well.",
            *SERIES_LABELS,
        ),
        _counter(
            "pacewatch_requests_total",
            "Requests of all purposes by outcome.",
            *PLACE_LABELS,
            "outcome",
            "purpose",
        ),
        _counter(
            "pacewatch_runs_missed_total",
            "Slots that nobody ran, by reason; a run that comes later does not lower it.",
            *PLACE_LABELS,
            "reason",
        ),
        _counter(
            "pacewatch_runs_recovered_total",
            "Runs that came for a slot that had been recorded as missed.",
            *PLACE_LABELS,
        ),
        _counter(
            "pacewatch_runs_duplicate_total",
            "Executions of a run that another execution had already won.",
            *PLACE_LABELS,
        ),
        _counter(
            "pacewatch_probe_cost_usd_total",
            "What the probes cost by the known prices, US$.",
            *PLACE_LABELS,
        ),
        _gauge(
            "pacewatch_verdict",
            "1 for what is believed of the endpoint over all regions, 0 for the other verdicts.",
            *JUDGED_LABELS,
            "verdict",
        ),
        _gauge(
            "pacewatch_region_verdict",
            "1 for what is believed of the endpoint in the region, 0 for the other verdicts.",
            *PLACE_LABELS,
            "verdict",
        ),
        _gauge(
            "pacewatch_slowdown_ratio",
            "How many times slower than usual the recent runs of all regions are; 1 is as usual.",
            *JUDGED_LABELS,
            "metric",
        ),
        _gauge(
            "pacewatch_judged_timestamp_seconds",
            "The moment up to which all that came in of the endpoint has been judged, Unix time.",
            *JUDGED_LABELS,
        ),
        _gauge(
            "pacewatch_incident_open",
            "1 for each confirmed incident until it closes; then it is gone.",
            "incident",
            "class",
            "trouble",
            "provider",
            "region",
            "importance",
            "simulated",
        ),
        _gauge(
            "pacewatch_worker_last_seen_timestamp_seconds",
            "The latest heartbeat of a worker, Unix time.",
            "region",
            "worker",
            "simulated",
        ),
        _gauge(
            "pacewatch_worker_timing_error_seconds",
            "Quantiles of the error of arrival times in the worker's latest own calibration.",
            "region",
            "worker",
            "simulated",
            "quantile",
        ),
        _gauge(
            "pacewatch_worker_suspect",
            "1 where the worker's own calibration was over a limit: its timings do not count.",
            "region",
            "worker",
            "simulated",
        ),
        _gauge(
            "pacewatch_worker_calibrated",
            "1 where a worker has calibrated itself since it started, 0: not known to be exact.",
            "region",
            "worker",
            "simulated",
        ),
        _gauge(
            "pacewatch_worker_clock_offset_seconds",
            "The worker's wall clock less the centre's.",
            "region",
            "worker",
            "simulated",
        ),
        _gauge(
            "pacewatch_worker_catalog_mismatch",
            "1 where the worker's catalog is not the centre's.",
            "region",
            "worker",
            "simulated",
        ),
        _gauge(
            "pacewatch_outbox_runs",
            "Finished runs on the worker's disk that the centre has not committed.",
            "region",
            "worker",
            "simulated",
        ),
        _gauge(
            "pacewatch_budget_left_usd",
            "What is left of the worker's daily cap, US$.",
            "region",
            "worker",
            "simulated",
        ),
        _gauge(
            "pacewatch_rate_limit_left_ratio",
            "The smallest part left of a provider's rate limits, as its answers told the worker.",
            "region",
            "worker",
            "provider",
            "key",
            "unit",
            "simulated",
        ),
        _gauge(
            "pacewatch_endpoint_info",
            "Facts of an endpoint, always 1.",
            "endpoint",
            "provider",
            "model",
            "precision",
            "protocol",
            "importance",
            "base_host",
            "location",
            "account",
            "tier",
            "simulated",
        ),
        _gauge(
            "pacewatch_notices_waiting",
            "Notices of incidents that are still to be sent to a channel.",
            "channel",
            "simulated",
        ),
        _gauge(
            "pacewatch_notices_given_up",
            "Notices of incidents that nobody took in a day, given up within the last day.",
            "channel",
            "simulated",
        ),
        _gauge(
            "pacewatch_judging_ticked_timestamp_seconds",
            "The end of the latest round of judging, Unix time, whether or not there were runs.",
            "simulated",
        ),
        _gauge(
            "pacewatch_definition_version",
            "Version of the definitions that figures are made by; before and after a change of it"
            " they are not to be compared.",
            "simulated",
        ),
        _gauge(
            "pacewatch_database_used_ratio",
            "What the database takes of the room that the file says it has.",
            "simulated",
        ),
        _gauge(
            "pacewatch_price_usd_per_million_tokens",
            "The price the plan and the costs are reckoned with.",
            "endpoint",
            "provider",
            "model",
            "direction",
            "simulated",
        ),
    )
}
"""By name, in the order of the page."""
