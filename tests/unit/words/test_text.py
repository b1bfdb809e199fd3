from datetime import UTC, datetime, timedelta

import pytest

from pacewatch.words.text import (
    UNKNOWN,
    age_text,
    ago_text,
    count_text,
    far_text,
    few_text,
    hours_text,
    minute_text,
    plural,
    seconds_text,
    slower_figures,
    slower_text,
    span_text,
    speed_text,
    than_usual_text,
    usd_text,
    word_text,
)
from pacewatch.words.verdict import Slowness

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("tokens_per_s", "text"),
    [
        (1753.04, "1,753"),
        (477.6, "478"),
        (99.95, "100"),
        (62.06, "62.1"),
        (9.996, "10.0"),
        (8.424, "8.42"),
        (0.5, "0.50"),
        (None, UNKNOWN),
    ],
)
def test_a_speed_has_three_digits_or_all_whole_ones(tokens_per_s, text):
    assert text == speed_text(tokens_per_s)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.000052, "0.05 ms"),
        (0.00624, "6.24 ms"),
        (0.3424, "342 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.00 s"),
        (12.34, "12.3 s"),
        (124.0, "124 s"),
        (None, UNKNOWN),
    ],
)
def test_a_duration_changes_from_milliseconds_to_seconds_at_one_second(seconds, text):
    assert text == seconds_text(seconds)


@pytest.mark.parametrize(
    ("age", "text"),
    [
        (timedelta(seconds=-3), "now"),
        (timedelta(seconds=0.4), "now"),
        (timedelta(seconds=89), "89 s"),
        (timedelta(seconds=90), "2 min"),
        (timedelta(minutes=89), "89 min"),
        (timedelta(minutes=90), "2 h"),
        (timedelta(hours=35), "35 h"),
        (timedelta(hours=72), "3 d"),
    ],
)
def test_an_age_is_told_in_its_largest_fitting_unit(age, text):
    assert text == age_text(NOW - age, NOW)


def test_an_unknown_moment_has_no_age():
    assert age_text(None, NOW) == UNKNOWN


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (5.0, "US$ 5.00"),
        (1234.5, "US$ 1,234.50"),
        (0.0012, "US$ 0.0012"),
        (0.0, "US$ 0.00"),
        (None, UNKNOWN),
    ],
)
def test_a_small_amount_keeps_the_decimals_that_make_it_one(usd, text):
    assert text == usd_text(usd)


def test_lengths_counts_and_words_read_as_people_write_them():
    assert tuple(map(span_text, (259_200, 1_440, 45, 90))) == ("72 h", "24 min", "45 s", "90 s")
    assert tuple(plural(n, "run") for n in (1, 0, 1_200)) == ("1 run", "0 runs", "1,200 runs")
    assert (count_text(12_000), count_text(None)) == ("12,000", UNKNOWN)
    assert word_text("timeout_first_token") == "timeout first token"


@pytest.mark.parametrize(
    ("times", "text"),
    [
        (1.62, "1.6 times slower than alone"),
        (12.0, "12.0 times slower than alone"),
        (1.04, "as fast as alone"),
        (0.96, "as fast as alone"),
        (0.5, "2.0 times faster than alone"),
    ],
)
def test_a_slowdown_is_told_in_words(times, text):
    assert slower_text(times) == text


@pytest.mark.parametrize(
    ("times", "text"),
    [
        ((1.62, 1.41, 1.9), "1.6 times slower than alone (1.4\u20131.9)"),
        ((1.0, 0.9, 1.1), "as fast as alone (0.9\u20131.1)"),
        ((0.5, 0.4, 0.625), "2.0 times faster than alone (1.6\u20132.5)"),
        ((1.62, None, None), "1.6 times slower than alone"),
        ((0.5, None, None), "2.0 times faster than alone"),
    ],
)
def test_a_slowdown_is_told_with_its_interval_in_the_same_sense(times, text):
    assert slower_text(*times) == text


def test_times_to_find_trouble_are_in_minutes_up_to_two_hours():
    assert tuple(map(hours_text, (0.07, 1.99, 2.0, 10.04, None))) == (
        *("4 min", "119 min", "2.0 h", "10.0 h", ">48 h"),
    )


def test_how_long_ago_something_was_ends_a_sentence():
    now = datetime(2026, 12, 2, 12, tzinfo=UTC)

    assert ago_text(now, now) == "just now"
    assert ago_text(now - timedelta(minutes=5), now) == "5 min ago"


@pytest.mark.parametrize(
    ("times", "text"),
    [
        (2.1, "output 2.1 times slower than usual"),
        (1.0, "output as usual"),
        (0.5, "output 2.0 times faster than usual"),
    ],
)
def test_a_figure_is_told_beside_its_usual_level(times, text):
    assert than_usual_text("output", times) == text


@pytest.mark.parametrize(
    ("speed", "ttft_s", "text"),
    [
        (50.0, 0.5, "50.0 tokens/s, its median is 100"),
        (99.0, 2.0, "first token after 2.00 s, its median is 500 ms"),
        (99.0, 0.6, ""),
        (None, None, ""),
    ],
)
def test_a_run_far_from_its_medians_is_told_so(speed, ttft_s, text):
    assert far_text(speed, 100.0, ttft_s=ttft_s, usual_ttft_s=0.5) == text


def test_what_is_slower_is_named_from_five_per_cent_on():
    times = {
        Slowness.FIRST_TOKEN: 1.04,
        Slowness.OUTPUT_SPEED: 2.12,
        Slowness.END_TO_END: 1.77,
        Slowness.UNDER_LOAD: None,
    }

    assert slower_figures(times) == "output 2.1, end to end 1.8 times slower"
    assert slower_figures(dict.fromkeys(Slowness, 1.0)) == ""


def test_a_moment_is_told_to_the_minute():
    assert minute_text("2026-12-01T12:00:59.5Z") == "2026-12-01 12:00"


def test_of_too_few_runs_it_is_told_how_many_there_are_and_are_needed():
    assert few_text(4, 6) == "4 of 6 runs for a median"
