from dataclasses import replace
from datetime import timedelta

import pytest
from support.boards import board_fleet
from support.shown import ENDPOINT, NOW, SERIES, WINDOW, WORKER, unmeasured

from aggregator.board import Board, BoardEndpoint, BoardModel, BoardSeries, pools_of
from aggregator.cells import Around, OverRegions, State, pooled_cell, region_cell
from aggregator.changes import Change
from aggregator.figure_lines import statistic_text
from aggregator.notices import caption_of, legend_of, notices_of
from aggregator.page import Choice, make_sections
from aggregator.pooled import Median
from aggregator.remarks import remarks_of
from aggregator.rows import TogetherRow
from aggregator.standing import region_standings
from aggregator.tabs import load_tabs, page_links, region_tabs, workload_tabs
from aggregator.tones import Tone
from aggregator.verdict_views import Believed
from pacewatch.words.flag import Figure
from pacewatch.words.slot import Load

SLOWER = replace(
    SERIES, output_tokens_per_s=[230.0, 235.0, 238.8, 240.0, 250.0], speed_low=235.0, speed_high=240
)
CHOICE = Choice(region=None, workload="standard", load=Load.SINGLE)


def series_of(*rows, failing=(), answer_only=(), pooled=None, together=()):
    around = Around(
        together={row.series_id: row for row in together},
        now=NOW,
        window=WINDOW,
        failing=frozenset(failing),
        answer_only=frozenset(answer_only),
    )
    cells = {row.region: region_cell(row, around) for row in rows}
    return BoardSeries(
        workload="standard",
        load=Load(rows[0].load),
        pooled=pooled_cell(cells, OverRegions(medians=pooled or {})),
        regions=cells,
    )


def board_of(*series, regions=("eu-west",), workers=(WORKER,), **changes):
    endpoints = tuple(
        BoardEndpoint(
            facts=replace(ENDPOINT, endpoint=f"p{place}/m"), simulated=False, series=(one,)
        )
        for place, one in enumerate(series)
    )
    values = {
        "at": NOW,
        "window": WINDOW,
        "simulated": False,
        "regions": region_standings(regions, workers, NOW),
        "workloads": ("standard",),
        "models": (BoardModel(model="m", endpoints=endpoints),) if endpoints else (),
        "next_slot_at": None,
    } | changes
    return Board(**values)


def lines_of(*series):
    (section,) = make_sections(board_of(*series), CHOICE, NOW)
    return section.lines


def test_bars_are_scaled_within_the_model_and_leave_room_for_the_interval():
    fast, slow = lines_of(series_of(SERIES), series_of(SLOWER))

    assert (fast.bar.filled, slow.bar.filled) == ("99.7%", "49.9%")
    assert float(fast.bar.low[:-1]) + float(fast.bar.spread[:-1]) == pytest.approx(100)
    assert slow.bar.label == "239 tokens per second, 50% of the fastest"


@pytest.mark.parametrize(("runs", "percent"), [(5, 90), (6, 95), (24, 95)])
def test_an_interval_says_how_often_it_holds_the_median(runs, percent):
    (line,) = lines_of(series_of(replace(SERIES, load="parallel", speed_runs=runs)))

    assert line.interval == f"{percent} % interval: 466\u2013479"


AMONG = replace(
    SERIES,
    load="parallel",
    ttft_s=[0.5, 0.55, 0.62, 0.7, 0.9],
    output_tokens_per_s=[100.0, 200.0, 238.8, 250.0, 300.0],
    speed_low=220.0,
    speed_high=245.0,
)
TOGETHER = TogetherRow(
    series_id=1,
    system_tokens_per_s=2_100.0,
    system_runs=12,
    system_low=2_000.0,
    system_high=2_200.0,
    alone_id=2,
    alone_tokens_per_s=477.6,
    alone_speed_runs=24,
    alone_speed_low=466.0,
    alone_speed_high=479.0,
    alone_ttft_s=0.31,
    alone_ttft_runs=24,
    alone_ttft_low=0.27,
    alone_ttft_high=0.36,
)


def test_parallel_runs_show_their_throughput_and_how_much_slower_each_request_is():
    (line,) = lines_of(series_of(AMONG, together=[TOGETHER]))

    (remark,) = line.remarks
    assert remark.text == (
        "2,100 tokens/s in all (2,000\u20132,200), each 2.0 times slower than alone (1.9\u20132.2)"
    )
    assert remark.title == (
        "in all: 12 runs, 95 % interval; slower: 22 runs and 24 alone, at least 90 % interval"
    )


def test_without_enough_runs_alone_it_is_told_how_many_there_are():
    few = replace(TOGETHER, alone_speed_runs=5)
    (line,) = lines_of(series_of(AMONG, together=[few]))

    (remark,) = line.remarks
    assert remark.text.endswith("in all (2,000\u20132,200), to compare 5 of 6 runs alone")
    assert remark.title == "in all: 12 runs, 95 % interval"


def test_of_several_regions_of_which_one_has_measured_it_is_told_as_of_that_one():
    other = replace(unmeasured(AMONG), region="us-east", series_id=2)
    series = series_of(other, AMONG, together=[TOGETHER, replace(TOGETHER, series_id=2)])

    assert series.pooled.together == series.regions["eu-west"].together
    assert series.regions["us-east"].together.throughput.median is None


def test_a_slowdown_over_regions_is_of_those_that_have_measured_both_loads():
    throttled = replace(unmeasured(AMONG), region="us-east", series_id=2, newest_at=NOW)
    only = replace(AMONG, region="ap-south", series_id=3)
    both = replace(AMONG, region="eu-north", series_id=4)
    told = [
        TOGETHER,
        replace(TOGETHER, series_id=2, alone_id=12),
        replace(TOGETHER, series_id=3, alone_id=None, alone_speed_runs=0, alone_ttft_runs=0),
        replace(TOGETHER, series_id=4, alone_id=14),
        replace(TOGETHER, series_id=5, alone_id=15, alone_speed_runs=0, alone_ttft_runs=0),
    ]
    refused = replace(AMONG, region="sa-east", series_id=5)
    around = Around(now=NOW, window=WINDOW, together={row.series_id: row for row in told})

    rows = [AMONG, throttled, only, both, refused]
    assert pools_of(rows, around) == ((1, 2, 3, 4, 5), (1, 4), (2, 14))
    assert pools_of([throttled, only], around) == ((2, 3), (), ())
    assert pools_of([SERIES, both], Around(now=NOW, window=WINDOW)) == ((1, 4), (), ())


def test_over_regions_definitions_are_those_of_all_that_have_runs_in_the_window():
    later = replace(SERIES, region="us-east", series_id=2, definition_low=2, definition_high=3)
    gone = replace(later, region="ap-south", definition_high=9, newest_at=NOW - WINDOW)
    untold = replace(later, region="sa-east", definition_low=None, definition_high=None)

    assert series_of(SERIES, later, gone, untold).pooled.definitions == (1, 3)
    assert series_of(SERIES, gone).pooled.definitions == (1,)
    assert series_of(gone).pooled.definitions == ()


def test_single_runs_have_neither_throughput_nor_slowdown():
    assert series_of(SERIES).pooled.together is None


@pytest.mark.parametrize(
    ("latest", "said"),
    [
        ({"latest_output_tokens_per_s": 240.0}, ["240 tokens/s, its median is 478"]),
        ({"latest_output_tokens_per_s": 320.0}, None),
        ({"latest_output_tokens_per_s": None}, None),
        ({"latest_ttft_s": 3.0}, ["first token after 3.00 s, its median is 310 ms"]),
        ({"latest_ttft_s": 0.9}, None),
    ],
)
def test_a_latest_run_far_from_its_own_median_is_told_and_no_verdict(latest, said):
    told = [
        remark.text for remark in remarks_of(ENDPOINT, series_of(replace(SERIES, **latest)), NOW)
    ]

    assert told == ([f"latest run: {text}" for text in said] if said else ["ok"])


def test_of_several_regions_the_one_whose_latest_run_is_far_off_is_named():
    slow = replace(SERIES, region="us-east", series_id=2, latest_output_tokens_per_s=100.0)
    (remark,) = remarks_of(ENDPOINT, series_of(SERIES, slow), NOW)

    assert remark.text == "latest run in us-east: 100 tokens/s, its median is 478"


def test_a_bar_over_several_regions_bears_a_tick_for_each_of_them():
    pooled = {Figure.SPEED: Median(value=358.2, low=240.0, high=470.0, runs=12)}
    (line,) = lines_of(series_of(SERIES, replace(SLOWER, region="us-east"), pooled=pooled))

    assert [mark.text for mark in line.bar.marks] == ["eu-west: 478", "us-east: 239"]
    assert [mark.at for mark in line.bar.marks] == ["100.0%", "50.0%"]
    assert line.bar.low is None
    assert line.speed == "358"


def test_an_endpoint_without_a_median_has_no_bar_and_no_figure():
    (line,) = lines_of(series_of(unmeasured()))

    assert (line.bar, line.speed, line.ttft, line.runs) == (None, "\u2013", "\u2013", "0")
    assert (line.newest.text, line.newest.exact) == ("\u2013", None)


def test_a_line_tells_the_age_of_the_newest_sample():
    (line,) = lines_of(series_of(SERIES))

    assert (line.newest.text, line.newest.exact) == ("40 min", "2026-12-01T11:20:00Z")


def test_a_model_tells_how_far_its_endpoints_are_apart():
    (section,) = make_sections(board_of(series_of(SERIES), series_of(SLOWER)), CHOICE, NOW)

    assert section.summary == "2 endpoints, the fastest 2.0 times as fast as the slowest"


@pytest.mark.parametrize(
    ("series", "tone", "text"),
    [
        (series_of(SERIES), Tone.FINE, "ok"),
        (series_of(unmeasured()), Tone.QUIET, "no run yet"),
        (
            series_of(replace(SERIES, latest_outcome="rate_limited")),
            Tone.WARN,
            "latest run: rate limited (429)",
        ),
        (
            series_of(replace(SERIES, latest_outcome="auth", last_success_at=None), failing=[1]),
            Tone.BAD,
            "failing: the key was refused (401 or 403); never yet well",
        ),
        (
            series_of(
                SERIES,
                replace(SERIES, series_id=2, region="us-east", latest_outcome="dns"),
                failing=[2],
            ),
            Tone.BAD,
            "failing in us-east: the host name does not resolve; last well 40 min ago",
        ),
        (
            series_of(
                replace(SERIES, latest_outcome="dns"),
                replace(SERIES, series_id=2, region="us-east", latest_outcome="tls"),
                failing=[1, 2],
            ),
            Tone.BAD,
            "failing everywhere: TLS failed and the host name does not resolve;"
            " last well 40 min ago",
        ),
        (
            series_of(SERIES, answer_only=[1]),
            Tone.QUIET,
            "reasoning hidden: speed of the answer only, first visible token",
        ),
        (
            series_of(replace(SERIES, newest_at=NOW - WINDOW)),
            Tone.QUIET,
            "no run now",
        ),
        (
            series_of(replace(SERIES, speed_runs=5)),
            Tone.QUIET,
            "output speed: 5 of 6 runs for a median",
        ),
        (
            series_of(replace(SERIES, speed_runs=0, output_tokens_per_s=None)),
            Tone.QUIET,
            "output speed: 0 of 6 runs for a median",
        ),
        (
            series_of(replace(SERIES, ttft_runs=2)),
            Tone.QUIET,
            "time to first token: 2 of 6 runs for a median",
        ),
        (
            series_of(replace(SERIES, definition_high=2)),
            Tone.QUIET,
            "medians mix runs of definitions 1 and 2",
        ),
        (
            series_of(
                replace(SERIES, runs=3, ttft_runs=3, speed_runs=2, answer_runs=3, end_to_end_runs=3)
            ),
            Tone.QUIET,
            "3 of 6 runs for a median; the latest: 472 tokens/s",
        ),
    ],
)
def test_what_is_to_be_said_is_said_in_words(series, tone, text):
    (remark,) = remarks_of(ENDPOINT, series, NOW)

    assert (remark.tone, remark.text) == (tone, text)


def test_an_endpoint_no_longer_picked_is_told_beside_what_it_did_last():
    gone = replace(ENDPOINT, active=False)
    found = remarks_of(gone, series_of(replace(SERIES, latest_outcome="empty")), NOW)

    assert [remark.text for remark in found] == ["latest run: no text", "no longer probed"]


def test_what_a_provider_changed_is_told_beside_how_the_endpoint_does():
    change = Change(
        change_id=1,
        endpoint=ENDPOINT.endpoint,
        provider=ENDPOINT.provider,
        model=ENDPOINT.model,
        facet="fingerprint",
        value="fp_2",
        before="fp_1",
        changed_at=NOW - timedelta(hours=5),
        noted_at=NOW,
    )
    found = remarks_of(ENDPOINT, series_of(SERIES), NOW, (change,))

    assert [(remark.tone, remark.text) for remark in found] == [
        (Tone.FINE, "ok"),
        (Tone.QUIET, "fingerprint as answered changed 5 h ago"),
    ]


def test_a_figure_that_too_few_runs_have_is_left_out_though_others_are_shown():
    cell = series_of(replace(SERIES, speed_runs=5)).pooled

    assert cell.state is State.SHOWN
    assert cell.statistics[Figure.SPEED].median is None
    assert cell.statistics[Figure.SPEED].runs == 5
    assert cell.statistics[Figure.TTFT].median == 0.31


def test_in_a_table_a_median_of_too_few_runs_says_how_many_there_are_and_are_needed():
    few = series_of(replace(SERIES, speed_runs=5, ttft_runs=0, ttft_s=None)).pooled

    speed, ttft, whole = (
        statistic_text(few, figure) for figure in (Figure.SPEED, Figure.TTFT, Figure.END_TO_END)
    )

    assert (speed.median, speed.interval) == ("\u2013", "5 of 6 runs")
    assert speed.title == "5 runs; a median needs 6"
    assert (ttft.median, ttft.interval, ttft.title) == ("\u2013", "", "0 runs")
    assert (whole.median, whole.interval) == ("2.40 s", "2.35 s\u20132.45 s")


def test_an_address_leaves_out_what_is_usual_and_escapes_the_rest():
    assert CHOICE.query(workload="a&b=<c>", load=None) == "/?workload=a%26b%3D%3Cc%3E"
    paused = replace(CHOICE, region="eu-west", renews=False)
    assert paused.query() == "/?region=eu-west&workload=standard&load=single&refresh=off"


def test_tabs_lead_to_every_region_and_mark_the_chosen_one():
    board = board_of(regions=("eu-west", "us-east"))
    tabs = region_tabs(board, replace(CHOICE, region="us-east"))

    assert [tab.text for tab in tabs] == ["all regions", "eu-west", "us-east"]
    assert [tab.chosen for tab in tabs] == [False, False, True]
    assert tabs[2].note == "no worker yet"


def test_a_single_region_and_a_single_workload_are_no_choice():
    assert [(tab.text, tab.chosen) for tab in region_tabs(board_of(), CHOICE)] == [
        ("eu-west", True)
    ]
    assert workload_tabs(board_of(), CHOICE) == ()
    two = workload_tabs(board_of(workloads=("standard", "long")), CHOICE)
    assert [tab.chosen for tab in two] == [True, False]
    assert [tab.text for tab in load_tabs(board_fleet(), CHOICE)] == ["one request", "10 at once"]


def test_a_choice_that_nobody_knows_is_told_with_what_is_known():
    (unknown,) = notices_of(board_of(), board_fleet(), replace(CHOICE, region="mars"))

    assert unknown.text == "No region is called “mars” here (known: eu-west, us-east)."


def test_a_worker_that_is_not_known_to_be_exact_is_told_while_it_lives():
    found = {"unknown": None, "suspect": {"over": "ttft"}, "exact": {"over": ""}}
    workers = [replace(WORKER, worker=name, calibration=one) for name, one in found.items()]
    gone = replace(workers[0], worker="gone", last_seen_at=NOW - timedelta(minutes=11))
    notices = notices_of(
        board_of(series_of(unmeasured()), workers=[*workers, gone]), board_fleet(), CHOICE
    )

    assert [one.text for one in notices[:-1]] == [
        "Timings of worker unknown in eu-west may be off: it has not calibrated itself since it "
        "started.",
        "Timings of worker suspect in eu-west are in doubt, and their figures do not count: its own"
        " calibration is over a limit.",
    ]


def test_before_the_first_run_the_next_one_is_told():
    board = board_of(series_of(unmeasured()), next_slot_at=NOW + timedelta(seconds=40))
    (notice,) = notices_of(board, board_fleet(), CHOICE)

    assert notice.text == (
        "Nothing measured yet: 1 endpoint in 2 regions. "
        "The next run is due in 40 s; the first ones may be under way."
    )


def test_caption_and_legend_say_what_is_shown():
    fleet = board_fleet()
    parallel = Choice(region="eu-west", workload="short", load=Load.PARALLEL)

    assert caption_of(fleet, parallel) == (
        "Medians over the last 24 min, from eu-west: workload short (100 tokens in, 300 out), "
        "10 requests at once, each one's own speed."
    )
    assert "A median needs 5 runs. In parentheses stand" in legend_of(board_of(), parallel)
    assert "parentheses" not in legend_of(board_of(), CHOICE)
    assert "95 % confidence (90 % at five runs)" in legend_of(board_of(), parallel)
    assert "90 %" not in legend_of(board_of(), CHOICE)
    assert "ticks" in legend_of(board_of(regions=("eu-west", "us-east")), CHOICE)


def test_a_long_board_links_its_other_parts():
    whole, first = board_of(series_of(SERIES)), board_of(series_of(SERIES), next_after="m")
    later = replace(CHOICE, after="k")

    assert page_links(whole, CHOICE) == ()
    (on,) = page_links(first, CHOICE)
    assert on.address == "/?workload=standard&load=single&after=m"
    assert [link.text for link in page_links(first, later)] == ["first models", "models after m"]
    assert page_links(whole, later)[0].address == "/?workload=standard&load=single"


def believed(verdict, **ratios):
    names = ("ttft_ratio", "speed_ratio", "end_to_end_ratio", "under_load_ratio")
    values = dict.fromkeys(names) | ratios
    since = NOW - timedelta(hours=2)
    return Believed(endpoint="p0/m", region="", verdict=verdict, since=since, **values)


@pytest.mark.parametrize(
    ("verdict", "tone", "text"),
    [
        (believed("ok", speed_ratio=1.0), Tone.FINE, "ok"),
        (believed("learning"), Tone.QUIET, "learning"),
        (
            believed("slow", speed_ratio=2.12, ttft_ratio=1.02),
            Tone.BAD,
            "slow for 2 h: output 2.1 times slower than usual",
        ),
        (
            believed(
                "slow",
                ttft_ratio=1.06,
                speed_ratio=2.12,
                end_to_end_ratio=1.77,
                under_load_ratio=2.3,
            ),
            Tone.BAD,
            "slow for 2 h: first token 1.1, output 2.1, end to end 1.8, under load 2.3 times"
            " slower than usual",
        ),
        (
            believed("slow", speed_ratio=1.0, ttft_ratio=1.01),
            Tone.BAD,
            "slow for 2 h: slower than its own last 72 hours, or than a limit that was set",
        ),
        (
            believed("silent"),
            Tone.WARN,
            "silent for 2 h: nothing is heard of it: no worker, or no run for two spacings",
        ),
    ],
)
def test_a_verdict_of_trouble_stands_beside_the_figures(verdict, tone, text):
    (remark,) = remarks_of(ENDPOINT, series_of(SERIES), NOW, believed=verdict)

    assert (tone, text) == (remark.tone, remark.text)


def test_an_endpoint_whose_runs_fail_is_not_told_twice_to_be_failing():
    series = series_of(replace(SERIES, latest_outcome="server_error"), failing=[SERIES.series_id])

    (remark,) = remarks_of(ENDPOINT, series, NOW, believed=believed("failing"))

    assert remark.text.startswith("failing: server error")


def test_a_model_that_is_gone_is_not_told_to_be_failing_but_when_it_was_last_there():
    series = series_of(replace(SERIES, latest_outcome="not_served"), failing=[SERIES.series_id])

    gone, last = remarks_of(ENDPOINT, series, NOW, believed=believed("not_served"))

    assert gone.text.startswith("not served for 2 h: ")
    assert (last.tone, last.text) == (Tone.QUIET, "last well 40 min ago")


def test_what_learning_means_is_told_once_below_a_board_on_which_it_stands():
    board = board_of(series_of(SERIES), series_of(SLOWER))

    def with_verdicts(word):
        return replace(
            board,
            models=tuple(
                replace(
                    model,
                    endpoints=tuple(
                        replace(one, believed={"": believed(word)}) for one in model.endpoints
                    ),
                )
                for model in board.models
            ),
        )

    told = "Learning: too few good samples to say."
    assert legend_of(with_verdicts("learning"), CHOICE).endswith(f"needs 6 runs. {told}")
    assert told not in legend_of(with_verdicts("ok"), CHOICE)
    assert told not in legend_of(board, CHOICE)
