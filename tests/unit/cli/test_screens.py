import json

import pytest
from support.golden import FOLDER

from pacewatch.cli import board_screen, status_screen
from pacewatch.cli.render import to_string
from pacewatch.words.slot import from_rfc3339
from pacewatch.words.verdict import Slowness


def document(name):
    return json.loads((FOLDER / "api" / name).read_text(encoding="utf-8"))


def board_text(width, *, load="single", workload=None, **changes):
    found = document("board.json") | changes
    return to_string(
        *board_screen.parts(found, workload=workload, load=load, width=width), width=width
    )


def status_text(width, **changes):
    return to_string(
        *status_screen.parts(document("status.json") | changes, width=width), width=width
    )


@pytest.mark.parametrize("width", [80, 140])
def test_the_screens_read_as_the_golden_ones(golden, width):
    golden(f"cli/board-{width}.txt", board_text(width))
    golden(f"cli/status-{width}.txt", status_text(width))


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_line_is_longer_than_the_screen(width):
    texts = (board_text(width), board_text(width, load="parallel"), status_text(width))
    lines = "".join(texts).splitlines()

    assert max(map(len, lines)) <= width


def test_a_fleet_that_is_well_is_told_in_one_line():
    text = status_text(80, problems=[], failing=[])

    assert "All is well: 6 endpoints, 5 of them measured, from 2 regions." in text
    assert "Failing" not in text


def test_a_region_without_a_worker_is_told():
    region = {"region": "ap-south", "state": "unseen", "last_seen_at": None, "workers": []}

    lines = status_text(80, regions=[region]).splitlines()

    assert any(line.startswith("ap-south   none yet") for line in lines)


def test_a_board_of_real_measurements_has_no_remark_on_a_simulator():
    assert board_screen.SIMULATED in board_text(80)
    assert board_screen.SIMULATED not in board_text(80, simulated=False)


def test_an_id_stays_whole_beside_a_remark_that_needs_room():
    slow = {f"{name}_times": 2.04 for name in Slowness}
    models = document("board.json")["models"]
    endpoints = [one for model in models for one in model["endpoints"]]
    for one in endpoints:
        one["verdict"] = {"verdict": "slow", "since": "2026-12-02T11:00:00Z", **slow}
        one["endpoint"] += "-70b-instruct"
    text = board_text(100, models=models)

    assert [one["endpoint"] for one in endpoints if one["endpoint"] not in text] == []


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({}, "Incident 7: groq: slow, for 30 min (region path; open)"),
        (
            {"state": "eased", "eased_at": "2026-12-02T11:50:00Z"},
            "Incident 7: groq: slow, for 20 min (region path; as usual again)",
        ),
    ],
)
def test_an_incident_stands_above_the_board_with_how_it_stands(fields, line):
    one = {
        "incident": 7,
        "title": "groq: slow",
        "class": "region_path",
        "state": "confirmed",
        "pages": True,
        "since": "2026-12-02T11:30:00Z",
        "acknowledged_at": None,
        "eased_at": None,
        "ended_at": None,
        "unusual_end": None,
    }
    found = board_screen.incident_line(one | fields, from_rfc3339("2026-12-02T12:00:00Z"))

    assert found.plain == line


def test_what_is_not_planned_is_told_as_such():
    assert "Nothing of that kind is measured or planned." in board_text(80, workload="long")


def test_a_parallel_board_shows_the_parallel_series():
    (zai,) = [line for line in board_text(80, load="parallel").splitlines() if "zai" in line]

    assert "1 of 5 runs" in zai


def test_a_parallel_board_shows_what_all_requests_get_and_how_much_slower_each_is():
    (line,) = [one for one in board_text(140, load="parallel").splitlines() if "cerebras" in one]

    assert line.endswith("950 in all (856\u20131,014), slowdown 1.0 (0.9\u20131.1)")


@pytest.mark.parametrize(
    ("offset_s", "text"),
    [(0.003, "+3 ms"), (-0.0001, "+0 ms"), (-7203.1, "-7,203 s"), (1.5, "+1.50 s")],
)
def test_a_clock_is_told_as_ahead_or_behind(offset_s, text):
    assert status_screen.clock_text(offset_s) == text


SINCE = "2026-12-02T11:00:00Z"


def believed(verdict, **times):
    told = {f"{figure}_times": None for figure in Slowness} | times
    return {"verdict": verdict, "since": SINCE, **told}


def with_verdict(verdict, of="cerebras/gpt-oss-120b", **latest):
    found = document("board.json")
    for model in found["models"]:
        for endpoint in model["endpoints"]:
            if endpoint["endpoint"] == of:
                endpoint["verdict"] = verdict
                for series in endpoint["series"]:
                    series["regions"]["eu-west"]["latest"].update(latest)
    return board_text(140, models=found["models"])


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        (
            believed("slow", output_speed_times=2.12, first_token_times=1.01, end_to_end_times=1.8),
            "output 2.1, end to end 1.8",
        ),
        (believed("not_served"), "not served for 60 min"),
        (believed("silent"), "silent for 60 min"),
        (believed("learning"), "learning"),
    ],
)
def test_a_line_tells_what_is_believed(verdict, text):
    line = next(line for line in with_verdict(verdict).splitlines() if "cerebras" in line)

    assert text in line
    assert not line.endswith(" ok")


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        (
            "slow",
            "slow for 60 min: output 2.1 times slower; failing in eu-west: server error (5xx)",
        ),
        ("failing", "failing in eu-west: server error (5xx)"),
        ("not_served", "not served for 60 min"),
    ],
)
def test_failures_of_one_region_hide_no_other_trouble(verdict, text):
    asked = {
        "endpoint": {"verdict": believed(verdict, output_speed_times=2.12), "verdicts": {}},
        "series": {
            "pooled": {"failing_in": ["eu-west"], "latest": None},
            "regions": {
                "eu-west": {"latest": {"outcome": "server_error"}},
                "us-east": {"latest": {"outcome": "ok"}},
            },
        },
    }

    told = board_screen.remark(**asked, now=from_rfc3339("2026-12-02T12:00:00Z"))

    assert told.plain == text


def test_a_latest_run_far_from_its_median_is_marked_as_on_the_page():
    line = next(
        line
        for line in with_verdict(None, output_tokens_per_s=240.0).splitlines()
        if "cerebras" in line
    )

    assert "latest run in eu-west: 240 tokens/s" in line


def test_medians_over_runs_of_two_definitions_are_marked_as_on_the_page():
    models = document("board.json")["models"]
    for model in models:
        for endpoint in model["endpoints"]:
            for series in endpoint["series"]:
                series["pooled"]["definitions"] = [1, 2]

    line = next(line for line in board_text(140, models=models).splitlines() if "cerebras" in line)

    assert line.endswith("medians mix definitions 1 and 2")


def test_a_figure_that_too_few_runs_have_is_told_as_on_the_page():
    models = document("board.json")["models"]
    for model in models:
        for endpoint in model["endpoints"]:
            for series in endpoint["series"]:
                series["pooled"]["output_tokens_per_s"].update(runs=2, median=None)

    line = next(line for line in board_text(140, models=models).splitlines() if "cerebras" in line)

    assert line.endswith("output speed: 2 of 6 runs for a median")
