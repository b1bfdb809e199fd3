from datetime import UTC, datetime, timedelta

import pytest

from pacewatch.words.outcome import Outcome
from pacewatch.words.timing import Fault, RateLimits, Timing
from probe.disk import Disk
from probe.headroom import Account, Headroom, Left

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
GROQ = Account(provider="groq", key_name="GROQ_API_KEY")
TEAM_B = Account(provider="groq", key_name="TEAM_B_KEY")


def told(left: int | None, whole: int | None = 100, reset_s: float | None = 30.0) -> Timing:
    """The answer of a request whose headers tell of a limit on requests."""
    limits = RateLimits(requests_left=left, requests_limit=whole, requests_reset_s=reset_s)
    return Timing(n=0, outcome=Outcome.OK, sent_us=0, headers_us=0, end_us=0, limits=limits)


def refused(wait_s: float | None) -> Timing:
    fault = Fault(status=429, retry_after_s=wait_s)
    return Timing(n=0, outcome=Outcome.RATE_LIMITED, fault=fault, sent_us=0, end_us=0)


@pytest.fixture
def headroom(tmp_path):
    with Disk(tmp_path, simulated=False) as disk:
        yield Headroom(disk)


def short_after(headroom: Headroom, timings: list[Timing], after_s: float = 0) -> bool:
    headroom.note(GROQ, "m1", timings, NOW)
    return headroom.is_short(GROQ, NOW + timedelta(seconds=after_s))


@pytest.mark.parametrize(
    ("left", "whole", "is_short"),
    [(19, 100, True), (20, 100, False), (0, 100, True), (0, None, True), (3, None, False),
     (None, 100, False), (500, 100, False)],
)  # fmt: skip
def test_under_a_fifth_of_a_limit_is_short(headroom, left, whole, is_short):
    assert short_after(headroom, [told(left, whole)]) is is_short


def test_a_limit_on_tokens_counts_as_well(headroom):
    limits = RateLimits(tokens_left=10, tokens_limit=6_000, requests_left=9, requests_limit=10)
    timing = Timing(n=0, outcome=Outcome.OK, limits=limits)

    assert short_after(headroom, [timing])
    assert headroom.left(NOW) == [
        Left(account=GROQ, unit="requests", ratio=0.9),
        Left(account=GROQ, unit="tokens", ratio=10 / 6_000),
    ]


def test_it_ends_when_the_provider_said_the_limit_to_be_whole_again(headroom):
    assert short_after(headroom, [told(1, reset_s=30)], 29)
    assert not headroom.is_short(GROQ, NOW + timedelta(seconds=30))


def test_where_no_reset_is_told_it_ends_after_a_minute(headroom):
    assert short_after(headroom, [told(1, reset_s=None)], 59)
    assert not headroom.is_short(GROQ, NOW + timedelta(seconds=60))


def test_no_word_of_a_provider_keeps_it_unasked_for_longer_than_a_day(headroom):
    assert short_after(headroom, [told(0, reset_s=1e9)], 86_399)
    assert not headroom.is_short(GROQ, NOW + timedelta(days=1))


def test_a_refusal_whose_headers_say_nothing_of_a_limit_stops_no_run(headroom):
    """It is the quota's own story, and the next one must be seen too."""
    assert not short_after(headroom, [refused(45)])


def test_a_reset_counts_from_the_headers_that_told_it(headroom):
    """The run ended 20 s after its headers came."""
    limits = RateLimits(requests_left=1, requests_limit=100, requests_reset_s=30)
    timing = Timing(
        n=0, outcome=Outcome.OK, sent_us=0, headers_us=1_000_000, end_us=21_000_000, limits=limits
    )

    assert short_after(headroom, [timing], 9)
    assert not headroom.is_short(GROQ, NOW + timedelta(seconds=10))


def test_of_a_parallel_run_the_scarcest_answer_counts(headroom):
    assert short_after(headroom, [told(90), told(5), told(60)])


def test_a_newer_word_on_the_same_model_replaces_the_older(headroom):
    headroom.note(GROQ, "m1", [told(5)], NOW)
    headroom.note(GROQ, "m1", [told(95)], NOW)

    assert not headroom.is_short(GROQ, NOW)


def test_what_was_said_of_one_model_counts_for_the_keys_other_models(headroom):
    headroom.note(GROQ, "m1", [told(5)], NOW)
    headroom.note(GROQ, "m2", [told(95)], NOW)

    assert headroom.is_short(GROQ, NOW)


def test_another_key_has_limits_of_its_own(headroom):
    headroom.note(GROQ, "m1", [told(5)], NOW)

    assert not headroom.is_short(TEAM_B, NOW)


def test_it_outlives_the_worker(tmp_path):
    with Disk(tmp_path, simulated=False) as disk:
        Headroom(disk).note(GROQ, "m1", [told(5)], NOW)
    with Disk(tmp_path, simulated=False) as disk:
        assert Headroom(disk).is_short(GROQ, NOW)
