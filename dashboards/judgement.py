"""The dashboard of the judgement: what is believed of endpoints, how much slower, and incidents."""

from dashboards.panels import (
    TIMES,
    YES_NO,
    Column,
    Query,
    dashboard,
    largest_first,
    linked,
    open_incidents,
    place,
    selected,
    stacked,
    table,
    timeseries,
    with_none,
)
from dashboards.variables import Json, source_variable, variable

_VERDICT = "pacewatch_verdict"
_REGION_VERDICT = "pacewatch_region_verdict"
_RATIO = "pacewatch_slowdown_ratio"
_JUDGED = "pacewatch_judged_timestamp_seconds"
_TICKED = "pacewatch_judging_ticked_timestamp_seconds"
_TROUBLED = 'verdict!~"ok|learning"'


def build() -> Json:
    """Return the dashboard."""
    return dashboard(
        "pacewatch-judgement",
        "Pacewatch: judgement",
        "What is believed of every endpoint, how much slower than usual it is, and incidents.",
        [
            source_variable(),
            variable("provider", "Provider", of=_VERDICT),
            variable("model", "Model", of=_VERDICT),
            variable("region", "Region", of=_REGION_VERDICT),
            variable("simulated", "Simulated", of=_VERDICT),
        ],
        [_incidents(), _troubled(), _counted(), *_ratios(), _judged()],
    )


def _incidents() -> Json:
    keys = ("incident", "provider", "region", "class", "trouble", "importance")
    open_s = f"sum by ({', '.join(keys)}) (count_over_time({open_incidents()}[1d:1m])) * 60"
    shown = table(
        "Incidents of the last 24 hours",
        "Confirmed ones, and how long each was open of these 24 hours; a number leads to its page. "
        "One that widened has a row for each thing it was.",
        place(0, 0, 12, 9),
        keys,
        [Column(name="Open", expr=open_s, unit="s")],
    )
    return with_none(linked(shown, "incident", "Incident", "/incidents/"), "No incident")


def _troubled() -> Json:
    keys = ("endpoint", "region", "verdict")
    found = f"max by ({', '.join(keys)}) ({selected(_REGION_VERDICT, _TROUBLED)} == 1)"
    ratio = f"max by (endpoint) ({selected(_RATIO)})"
    shown = largest_first(
        table(
            "Endpoints that are not as usual, by region",
            "Slow, failing, not served or silent there; the ratio is over all regions.",
            place(12, 0, 12, 9),
            keys,
            [
                Column(
                    name="Times slower",
                    expr=f"{found} * on (endpoint) group_left {ratio}",
                    unit=TIMES,
                ),
                Column(name="Is so", expr=found, unit=YES_NO),
            ],
        )
    )
    return with_none(shown, "All are as usual")


def _counted() -> Json:
    return stacked(
        timeseries(
            "Endpoints by verdict",
            "Over all regions; a verdict follows each run by seconds.",
            "short",
            place(0, 9, 24, 8),
            [Query(expr=f"sum by (verdict) ({selected(_VERDICT)})", legend="{{verdict}}")],
        )
    )


def _ratios() -> list[Json]:
    figures = (
        ("Time to first token", 'metric="first_token"', 0),
        ("Output speed", 'metric="output_speed"', 12),
        ("End to end", 'metric="end_to_end"', 0),
        ("Under load, end to end", 'metric="under_load"', 12),
    )
    return [
        timeseries(
            f"{title}, times slower than usual",
            "Recent runs against the last 72 hours: 1 is as usual, 2 is twice as slow.",
            TIMES,
            place(x, 17 + n // 2 * 10, 12, 10),
            [Query(expr=f"max by (endpoint) ({selected(_RATIO, figure)})", legend="{{endpoint}}")],
        )
        for n, (title, figure, x) in enumerate(figures)
    ]


def _judged() -> Json:
    return timeseries(
        "Time since judging",
        "Since the latest round, and since the endpoint that was judged the longest ago was.",
        "s",
        place(0, 37, 24, 8),
        [
            Query(expr=f"time() - max({selected(_TICKED)})", legend="latest round"),
            Query(expr=f"time() - min({selected(_JUDGED)})", legend="oldest judgement"),
        ],
    )
