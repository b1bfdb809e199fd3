"""Rows as metrics, board and status read them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from aggregator.judgement_metrics import IncidentRow, JudgedRow, JudgementRows, VerdictRow
from aggregator.metrics import Rows
from aggregator.rows import (
    EndpointRow,
    MissedRow,
    NoticeRow,
    OutcomeRow,
    PlaceRow,
    ScrapedSeries,
    SeriesRow,
    StoreRow,
    WorkerRow,
)

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
WINDOW = timedelta(hours=72)

ENDPOINT = EndpointRow(
    endpoint="groq/gpt-oss-120b",
    provider="groq",
    provider_name="Groq",
    model="gpt-oss-120b",
    precision="unknown",
    protocol="openai-chat",
    importance="notify",
    base_host="api.groq.com",
    location=None,
    account=None,
    tier=None,
    price_input_usd=0.15,
    price_output_usd=0.6,
    active=True,
)

SERIES = SeriesRow(
    series_id=1,
    endpoint="groq/gpt-oss-120b",
    region="eu-west",
    workload="standard",
    load="single",
    simulated=False,
    runs=24,
    requests=24,
    good=23,
    ttft_s=[0.2, 0.25, 0.31, 0.4, 0.9],
    answer_s=[0.5, 0.55, 0.61, 0.7, 1.2],
    output_tokens_per_s=[430.0, 460.0, 477.6, 480.0, 490.0],
    end_to_end_s=[2.2, 2.3, 2.4, 2.5, 3.1],
    ttft_runs=23,
    ttft_low=0.27,
    ttft_high=0.36,
    answer_runs=23,
    answer_low=0.56,
    answer_high=0.66,
    speed_runs=22,
    speed_low=466.0,
    speed_high=479.0,
    end_to_end_runs=23,
    end_to_end_low=2.35,
    end_to_end_high=2.45,
    newest_at=NOW - timedelta(minutes=40),
    latest_at=NOW - timedelta(minutes=40),
    latest_run_id=UUID(int=1),
    latest_outcome="ok",
    latest_ttft_s=0.33,
    latest_output_tokens_per_s=471.5,
    latest_end_to_end_s=2.45,
    last_success_at=NOW - timedelta(minutes=40),
    tried=312,
    succeeded=309,
    definition_low=1,
    definition_high=1,
)

UNMEASURED: dict[str, Any] = {
    "runs": 0,
    "requests": 0,
    "good": 0,
    "ttft_s": None,
    "answer_s": None,
    "output_tokens_per_s": None,
    "end_to_end_s": None,
    "ttft_runs": 0,
    "ttft_low": None,
    "ttft_high": None,
    "answer_runs": 0,
    "answer_low": None,
    "answer_high": None,
    "speed_runs": 0,
    "speed_low": None,
    "speed_high": None,
    "end_to_end_runs": 0,
    "end_to_end_low": None,
    "end_to_end_high": None,
    "newest_at": None,
    "latest_at": None,
    "latest_run_id": None,
    "latest_outcome": None,
    "latest_ttft_s": None,
    "latest_output_tokens_per_s": None,
    "latest_end_to_end_s": None,
    "last_success_at": None,
    "tried": 0,
    "succeeded": 0,
    "definition_low": None,
    "definition_high": None,
}
"""What a series holds before its first run."""

WORKER = WorkerRow(
    region="eu-west",
    worker="eu-west-1",
    version="0.1.0",
    catalog="0123456789abcdef",
    last_seen_at=NOW - timedelta(seconds=12),
    clock_offset_s=0.004,
    in_hand=2,
    outbox_runs=1,
    budget_left_usd=3.2,
    rate_limits=[
        {"provider": "groq", "key": "GROQ_API_KEY", "unit": "requests", "left_ratio": 0.75}
    ],
    calibration={"arrival_p50_s": 0.000012, "arrival_p99_s": 0.0031, "over": "", "stamp": "kernel"},
)

VERDICT = VerdictRow(
    endpoint="groq/gpt-oss-120b",
    region="",
    verdict="slow",
    ttft_ratio=1.04,
    speed_ratio=2.1,
    end_to_end_ratio=1.8,
    under_load_ratio=2.3,
)

INCIDENT = IncidentRow(
    incident_id=7,
    provider="groq",
    region="",
    trouble="output_speed",
    blame="provider",
    importance="notify",
)

JUDGEMENT = JudgementRows(
    verdicts=[VERDICT, replace(VERDICT, region="eu-west")],
    judged=[JudgedRow(endpoint="groq/gpt-oss-120b", judged_at=NOW - timedelta(seconds=3))],
    incidents=[INCIDENT],
)

STORE = StoreRow(simulated=False, catalog_hash="0123456789abcdef", ticked_at=NOW, judged_at=NOW)

PLACE = PlaceRow(
    endpoint="groq/gpt-oss-120b",
    region="eu-west",
    simulated=False,
    recovered=1,
    duplicate=2,
    cost_usd=0.75,
)

OUTCOME = OutcomeRow(
    endpoint="groq/gpt-oss-120b",
    region="eu-west",
    simulated=False,
    outcome="ok",
    purpose="scheduled",
    requests=309,
)

MISSED = MissedRow(
    endpoint="groq/gpt-oss-120b", region="eu-west", simulated=False, reason="lost", runs=3
)


def unmeasured(series: SeriesRow = SERIES, **changes: Any) -> SeriesRow:
    """The series as it is before its first run."""
    return replace(series, **(UNMEASURED | changes))


def make_rows(**changes: Any) -> Rows:
    """One endpoint in one region, measured for days."""
    whole = Rows(
        store=STORE,
        endpoints=[ENDPOINT],
        series=[SERIES],
        places=[PLACE],
        outcomes=[OUTCOME],
        notices=[NoticeRow(channel="ops", waiting=1, given_up=2)],
        missed=[MISSED],
        workers=[WORKER],
        judgement=JUDGEMENT,
        used_ratio=0.31,
    )
    rows = replace(whole, **changes)
    scraped = [
        ScrapedSeries._make(getattr(row, name) for name in ScrapedSeries._fields)
        for row in rows.series
    ]
    return replace(rows, series=scraped)
