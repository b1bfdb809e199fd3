import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client.openmetrics import parser as openmetrics_parser
from prometheus_client.parser import text_string_to_metric_families
from support.shown import (
    ENDPOINT,
    JUDGEMENT,
    NOW,
    OUTCOME,
    SERIES,
    STORE,
    VERDICT,
    WINDOW,
    WORKER,
    make_rows,
    unmeasured,
)

from aggregator.exposition import content_type, write_families
from aggregator.metrics import make_page
from aggregator.standing import WORKER_SHOWN
from pacewatch.words.metrics import METRICS
from pacewatch.words.outcome import MISSED_REASONS, Outcome
from pacewatch.words.verdict import Verdict

DOCS = Path(__file__).parents[3] / "docs"
ROLLING = (
    "pacewatch_time_to_first_token_seconds",
    "pacewatch_time_to_first_answer_token_seconds",
    "pacewatch_output_tokens_per_second",
    "pacewatch_end_to_end_seconds",
)
PARALLEL = replace(SERIES, load="parallel", series_id=2)


def page_text(now=NOW, *, openmetrics=False, quantiles=(), **changes):
    page = make_page(make_rows(**changes), now=now, window=WINDOW, quantiles=quantiles)
    return b"".join(write_families(page, openmetrics=openmetrics)).decode()


def read(text):
    """Return {sample name: [(labels, value)]} as Prometheus' own parser reads the text."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def names(**changes):
    return set(read(page_text(**changes)))


def test_the_page_reads_as_the_golden_one(golden):
    rows = {
        "endpoints": [
            ENDPOINT,
            replace(ENDPOINT, endpoint="own/a@fp8#b", model="a", tier='x"\\\n'),
        ],
        "series": [SERIES, PARALLEL, unmeasured(endpoint="own/a@fp8#b", series_id=3)],
    }

    golden("metrics.txt", page_text(**rows))
    golden("metrics.openmetrics.txt", page_text(openmetrics=True, **rows))


def test_every_metric_of_the_table_is_exported_with_exactly_its_labels():
    found = read(page_text())

    assert set(METRICS) == set(found)
    for name, word in METRICS.items():
        assert {tuple(sorted(word.labels))} == {tuple(sorted(labels)) for labels, _ in found[name]}


def test_the_openmetrics_page_holds_the_same_samples():
    plain = read(page_text())
    strict = openmetrics_parser.text_string_to_metric_families(page_text(openmetrics=True))

    samples = [sample for family in strict for sample in family.samples]
    assert sum(map(len, plain.values())) == len(samples)
    for sample in samples:
        assert (sample.labels, sample.value) in plain[sample.name]


def test_no_sample_stands_twice_on_the_page():
    lines = page_text(series=[SERIES, PARALLEL]).splitlines()
    keys = [line.rpartition(" ")[0] for line in lines if not line.startswith("#")]

    assert len(set(keys)) == len(keys)


def test_a_name_of_any_letters_is_read_back_as_it_was():
    odd = 'a"b\\c\nd{}=,\u00e9'
    found = read(page_text(endpoints=[replace(ENDPOINT, account=odd)]))

    assert odd == found["pacewatch_endpoint_info"][0][0]["account"]


def test_an_endpoints_facts_tell_the_host_that_it_is_asked_at():
    info = METRICS["pacewatch_endpoint_info"].labels
    labels, value = read(page_text())["pacewatch_endpoint_info"][0]

    assert (set(info), 1.0) == (set(labels), value)
    assert labels["base_host"] == "api.groq.com"


def test_quantiles_are_the_median_and_for_the_first_token_also_p95():
    found = read(page_text())

    assert {("0.5", 0.31), ("0.95", 0.9)} == {(s["quantile"], v) for s, v in found[ROLLING[0]]}
    assert [(s["quantile"], v) for s, v in found[ROLLING[2]]] == [("0.5", 477.6)]


@pytest.mark.parametrize(
    ("series", "runs", "shown"),
    [(SERIES, 5, False), (SERIES, 6, True), (PARALLEL, 4, False), (PARALLEL, 5, True)],
)
def test_a_median_needs_six_runs_and_five_of_parallel_ones(series, runs, shown):
    counts = dict.fromkeys(("ttft_runs", "answer_runs", "speed_runs", "end_to_end_runs"), runs)
    found = read(page_text(series=[replace(series, runs=runs, **counts)]))

    assert [shown] * 4 == [name in found for name in ROLLING]
    assert [runs] == [value for _, value in found["pacewatch_window_samples"]]


def test_each_figure_counts_the_runs_that_have_it():
    found = names(series=[replace(SERIES, speed_runs=5)])

    assert ROLLING[0] in found
    assert ROLLING[2] not in found


def test_a_window_that_emptied_has_no_gauge_though_nobody_refreshed_its_row():
    aged = replace(SERIES, newest_at=NOW - WINDOW, latest_at=NOW - WINDOW)
    found = names(series=[aged])

    assert not found & {*ROLLING, "pacewatch_window_samples"}
    assert not {name for name in found if name.startswith("pacewatch_latest_time_to")}
    assert {"pacewatch_latest_run_timestamp_seconds", "pacewatch_requests_tried_total"} <= found


def test_the_newest_moment_of_the_window_is_still_in_it():
    edge = NOW - WINDOW + timedelta(microseconds=1)

    assert set(ROLLING) <= names(series=[replace(SERIES, newest_at=edge)])


def test_a_failed_latest_run_has_its_moment_and_no_figure():
    failed = replace(
        SERIES, latest_ttft_s=None, latest_output_tokens_per_s=None, latest_end_to_end_s=None
    )
    found = names(series=[failed])

    assert "pacewatch_latest_run_timestamp_seconds" in found
    assert not {"pacewatch_latest_output_tokens_per_second"} & found


def test_counters_stand_at_zero_before_the_first_run():
    found = read(page_text(series=[unmeasured()], places=[], outcomes=[], missed=[]))

    counters = {name for name, word in METRICS.items() if word.kind == "counter"}
    assert counters <= set(found)
    assert {0.0} == {value for name in counters for _, value in found[name]}
    outcomes = {(s["outcome"], s["purpose"]) for s, _ in found["pacewatch_requests_total"]}
    assert {(o, p) for o in Outcome for p in ("scheduled", "first")} == outcomes
    assert set(MISSED_REASONS) == {s["reason"] for s, _ in found["pacewatch_runs_missed_total"]}
    assert "pacewatch_window_samples" not in found


def test_sentinels_of_a_region_are_counted_from_zero_and_no_other_regions():
    here = unmeasured(workload="sentinel", series_id=2)
    there = unmeasured(region="us-east", series_id=3)
    found = read(page_text(series=[here, there], places=[], outcomes=[], missed=[]))

    told = [
        (labels["region"], labels["outcome"], value)
        for labels, value in found["pacewatch_requests_total"]
        if labels["purpose"] == "sentinel"
    ]
    assert sorted(told) == sorted(("eu-west", str(outcome), 0.0) for outcome in Outcome)


def test_there_are_as_many_samples_as_the_page_of_metrics_says():
    page = (DOCS / "reference/metrics.md").read_text(encoding="utf-8")

    def said(sentence):
        return int(re.search(sentence, page)[1])

    def samples(**changes):
        return sum(len(found) for found in read(page_text(**changes)).values())

    single = replace(SERIES, workload="standard")
    elsewhere = [replace(one, region="us-east") for one in (single, PARALLEL)]
    verdict = replace(VERDICT, region="us-east")
    there = {
        "series": [single, *elsewhere],
        "judgement": replace(JUDGEMENT, verdicts=[*JUDGEMENT.verdicts, verdict]),
    }
    fewer = samples(series=[single])

    assert samples(series=[single, PARALLEL]) - fewer == said(
        r"(\d+) samples for each of its series"
    )
    assert samples(**there) - fewer == said(r"that is (\d+) samples an endpoint and region")
    nobody = replace(JUDGEMENT, verdicts=JUDGEMENT.verdicts[1:], judged=[])
    of_all = samples() - samples(endpoints=[], judgement=nobody)
    assert of_all == said(r"there are (\d+) more, over all regions")
    more = samples(series=[single], quantiles=(0.25,)) - fewer
    assert more == said(r"quantile of the file adds (\d+) a series")
    confirming = [OUTCOME, replace(OUTCOME, purpose="confirm")]
    rare = samples(series=[single], outcomes=confirming) - fewer
    assert rare == said(r"sentinels add (\d+) for each region")


def test_counters_of_an_endpoint_that_is_no_longer_picked_stay_and_its_facts_go():
    gone = replace(ENDPOINT, active=False)
    long_ago = NOW - timedelta(days=30)
    aged = replace(SERIES, newest_at=None, latest_at=long_ago, last_success_at=long_ago)
    found = read(page_text(endpoints=[gone], series=[aged]))

    assert [value for _, value in found["pacewatch_requests_tried_total"]] == [312.0]
    assert [value for _, value in found["pacewatch_probe_cost_usd_total"]] == [0.75]
    assert not set(found) & {
        "pacewatch_endpoint_info",
        "pacewatch_price_usd_per_million_tokens",
        "pacewatch_latest_run_timestamp_seconds",
    }


def test_labels_of_an_endpoint_that_the_store_does_not_know_follow_from_its_id():
    found = read(page_text(endpoints=[], series=[replace(SERIES, endpoint="own/m@fp8#eu")]))

    labels, _ = found["pacewatch_requests_tried_total"][0]
    assert (
        labels["endpoint"],
        labels["provider"],
        labels["model"],
    ) == ("own/m@fp8#eu", "own", "m")


def test_simulated_is_told_on_every_sample():
    found = read(
        page_text(
            store=replace(STORE, simulated=True),
            series=[replace(SERIES, simulated=True)],
            places=[],
            outcomes=[],
            missed=[],
        )
    )

    assert {"true"} == {labels["simulated"] for samples in found.values() for labels, _ in samples}


def test_the_last_worker_of_a_silent_region_stays_and_older_ones_go():
    long_ago = NOW - WORKER_SHOWN
    workers = [
        replace(WORKER, worker="a", last_seen_at=long_ago - timedelta(days=9)),
        replace(WORKER, worker="b", last_seen_at=long_ago - timedelta(days=2)),
        replace(WORKER, region="us-east", worker="c", last_seen_at=long_ago),
        replace(WORKER, region="us-east", worker="d"),
    ]
    found = read(page_text(workers=workers))

    seen = found["pacewatch_worker_last_seen_timestamp_seconds"]
    assert [labels["worker"] for labels, _ in seen] == ["b", "c", "d"]


@pytest.mark.parametrize(("catalog", "value"), [(STORE.catalog_hash, 0.0), ("other", 1.0)])
def test_a_worker_with_another_catalog_is_told(catalog, value):
    found = read(page_text(workers=[replace(WORKER, catalog=catalog)]))

    assert [value] == [v for _, v in found["pacewatch_worker_catalog_mismatch"]]


@pytest.mark.parametrize(("over", "value"), [("", 0), ("ttft speed", 1)])
def test_a_worker_whose_calibration_is_over_a_limit_is_told(over, value):
    found = read(page_text(workers=[replace(WORKER, calibration={"over": over})]))

    assert [value] == [told for _, told in found["pacewatch_worker_suspect"]]
    assert [told for _, told in found["pacewatch_worker_calibrated"]] == [1]


def test_a_worker_that_has_not_calibrated_since_it_started_is_neither_exact_nor_suspect():
    found = read(page_text(workers=[replace(WORKER, calibration=None)]))

    assert [told for _, told in found["pacewatch_worker_calibrated"]] == [0]
    assert "pacewatch_worker_suspect" not in found


def test_judging_that_never_ran_has_no_moment():
    assert "pacewatch_judging_ticked_timestamp_seconds" not in names(
        store=replace(STORE, judged_at=None)
    )


def test_what_no_worker_said_has_no_sample():
    found = names(workers=[replace(WORKER, budget_left_usd=None)], store=None)

    assert not {"pacewatch_budget_left_usd", "pacewatch_worker_catalog_mismatch"} & found


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", "text/plain"),
        ("*/*", "text/plain"),
        ("text/html,application/xhtml+xml", "text/plain"),
        (
            "application/openmetrics-text;version=1.0.0;q=0.5,text/plain",
            "application/openmetrics-text",
        ),
    ],
)
def test_the_format_follows_the_accept_header(accept, kind):
    assert kind == content_type(accept).partition(";")[0]


def test_further_quantiles_are_told_of_every_rolling_figure_where_the_file_asks_for_them():
    def told(**changes):
        found = read(page_text(**changes))
        return {name: {labels["quantile"] for labels, _ in found[name]} for name in ROLLING}

    usual = {"0.5"}

    assert told() == {name: usual for name in ROLLING} | {ROLLING[0]: usual | {"0.95"}}
    assert told(quantiles=(0.05, 0.95)) == {name: {"0.05", "0.5", "0.95"} for name in ROLLING}


@pytest.mark.parametrize("verdict", list(Verdict))
def test_exactly_one_verdict_is_believed_of_an_endpoint_and_of_it_in_a_region(verdict):
    rows = [replace(VERDICT, region=region, verdict=str(verdict)) for region in ("", "eu-west")]
    found = read(page_text(judgement=replace(JUDGEMENT, verdicts=rows)))

    for name in ("pacewatch_verdict", "pacewatch_region_verdict"):
        told = {labels["verdict"]: value for labels, value in found[name]}
        assert {str(one): float(one is verdict) for one in Verdict} == told


def test_without_anything_to_compare_no_ratio_is_told():
    rows = [replace(VERDICT, verdict="learning", ttft_ratio=None)]
    found = read(page_text(judgement=replace(JUDGEMENT, verdicts=rows)))

    told = [(labels["metric"], value) for labels, value in found["pacewatch_slowdown_ratio"]]
    assert told == [("output_speed", 2.1), ("end_to_end", 1.8), ("under_load", 2.3)]


def test_no_incident_that_has_ended_is_told():
    assert "pacewatch_incident_open" not in names(judgement=replace(JUDGEMENT, incidents=[]))
