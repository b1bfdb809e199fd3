import pytest

from pacewatch.words.address import BROKER_SCHEMES, WEB_SCHEMES, is_loopback, refuse_address
from pacewatch.words.errors import SettingsError
from pacewatch.words.flag import LEAVES, Figure, Flag
from pacewatch.words.fleet import DEMO_SCHEDULE, Schedule
from pacewatch.words.metrics import METRICS, Kind
from pacewatch.words.outcome import (
    OUTCOME_MEANINGS,
    OUTCOME_TEXTS,
    VOTING_OUTCOMES,
    Outcome,
    outcome_text,
)
from pacewatch.words.slot import Load


def test_every_outcome_has_a_meaning():
    assert set(Outcome) == OUTCOME_MEANINGS.keys() == OUTCOME_TEXTS.keys()


def test_neither_success_nor_our_own_fault_nor_the_quota_votes_as_a_failure():
    quiet = {Outcome.OK, Outcome.INTERNAL, Outcome.RATE_LIMITED, Outcome.PAYMENT, Outcome.AUTH}

    assert not quiet & VOTING_OUTCOMES


def test_every_flag_says_which_figures_it_takes_out():
    assert set(Flag) == LEAVES.keys()
    assert set(Figure) == LEAVES[Flag.PROBER_SUSPECT]


def test_counters_end_in_total_and_gauges_do_not():
    for word in METRICS.values():
        assert word.name.startswith("pacewatch_")
        assert (word.kind is Kind.COUNTER) == word.name.endswith("_total"), word.name
        assert word.help.endswith(".")
        assert "simulated" in word.labels


def test_all_faults_are_told_at_once():
    error = SettingsError(["a.b: wrong", "c.d: wrong too"])

    assert str(error) == "a.b: wrong\nc.d: wrong too"
    assert SettingsError("one").faults == ("one",)


def test_a_demo_day_has_the_slots_of_a_real_day():
    for load in Load:
        assert Schedule().per_day(load) == DEMO_SCHEDULE.per_day(load)
    assert (Schedule().requests(Load.SINGLE), Schedule().requests(Load.PARALLEL)) == (1, 10)
    assert DEMO_SCHEDULE.window_s == 3 * DEMO_SCHEDULE.day_s


@pytest.mark.parametrize("host", ["localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "::1"])
def test_loopback_is_known(host):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "example.com", "10.0.0.1", "0.0.0.0", "localhost.evil.com"])  # noqa: S104
def test_what_is_not_loopback_is_known(host):
    assert not is_loopback(host)


@pytest.mark.parametrize(
    "url",
    [
        "rediss://broker.example:6379/0",
        "https://pacewatch.example",
        "redis://127.0.0.1:6379/0",
        "redis+socket:///run/valkey.sock",
        "http://[::1]:8420",
    ],
)
def test_tls_and_loopback_are_let_through(url):
    assert refuse_address("X", url, BROKER_SCHEMES + WEB_SCHEMES, {}) is None


def test_an_address_in_clear_is_refused_unless_a_setting_says_so():
    url = "redis://:secret@broker.example:6379/0"

    refused = refuse_address("PACEWATCH_BROKER_URL", url, BROKER_SCHEMES, {})

    assert refused == (
        "PACEWATCH_BROKER_URL: redis to broker.example is neither TLS nor loopback "
        "(allowed: https or rediss, a loopback address, or PACEWATCH_ALLOW_UNENCRYPTED=yes)"
    )
    allowed = {"PACEWATCH_ALLOW_UNENCRYPTED": "yes"}
    assert refuse_address("PACEWATCH_BROKER_URL", url, BROKER_SCHEMES, allowed) is None


@pytest.mark.parametrize(
    "url", ["http://[::1", "rubbish", "https://", "://host", "http:host", "127.0.0.1:8420"]
)
def test_what_is_no_address_is_refused(url):
    assert refuse_address("X", url, WEB_SCHEMES, {"PACEWATCH_ALLOW_UNENCRYPTED": "yes"}) == (
        "X: not an address (form: scheme://host:port)"
    )


@pytest.mark.parametrize("url", ["htp://127.0.0.1:8420", "htp://example.com"])
def test_an_unknown_scheme_is_told_with_those_that_are_known(url):
    assert refuse_address("X", url, WEB_SCHEMES, {}) == (
        'X: unknown scheme "htp" (known: http, https)'
    )


def test_an_outcome_of_a_later_version_is_told_by_its_name():
    assert outcome_text("auth") == "the key was refused (401 or 403)"
    assert outcome_text("melted") == "melted"
