"""`backtest --synthetic`: generated histories of a seed that anybody may choose."""

import json

import pytest
from typer.testing import CliRunner

from aggregator.backtest import synthetic
from aggregator.backtest.study import RULES, TROUBLES
from pacewatch.cli.app import app
from pacewatch.words.errors import SettingsError


@pytest.fixture
def call(monkeypatch):
    """Play few endpoints for a short time."""
    for name, number in (("ENDPOINTS", 1), ("STARTS", 2), ("QUIET_DAYS", 20)):
        monkeypatch.setattr(synthetic, name, number)
    monkeypatch.setenv("COLUMNS", "120")

    def call(*words):
        done = CliRunner().invoke(app, ["backtest", *words])
        assert done.exit_code == 0, done.output
        return done.stdout

    return call


def test_each_rule_is_told_with_each_trouble_and_the_rule_alone_names_a_class(call):
    told = json.loads(call("--synthetic", "--seed", "3", "--json"))

    assert (told["seed"], told["regions"]) == (3, 3)
    assert [one["rule"] for one in told["quiet"]] == list(RULES)
    assert [(one["rule"], one["trouble"]) for one in told["troubles"]] == [
        (rule, trouble) for rule in RULES for trouble in TROUBLES
    ]
    found = {one["trouble"]: one for one in told["troubles"] if one["rule"] == "the rule"}
    for trouble in ("speed to a third", "outage, refusing", "60 % rate-limited", "model retired"):
        assert found[trouble]["median_h"] < 24
        assert found[trouble]["named_right"] == found[trouble]["found"] == found[trouble]["starts"]
    assert all(one["named_right"] is None for one in told["troubles"] if one["rule"] != "the rule")


def test_a_seed_is_its_own_histories_and_another_seed_others(call):
    first, again, other = (
        json.loads(call("--synthetic", "--seed", seed, "--json")) for seed in ("3", "3", "4")
    )

    assert first == again
    assert first["troubles"] != other["troubles"]


def test_the_screen_shows_false_alarms_and_delays_of_each_rule(call):
    shown = call("--synthetic", "--seed", "3")

    assert "Generated histories of assumed noise, seed 3, 3 regions" in shown
    assert "False-alarm days a year" in shown
    for rule in RULES:
        assert f"Found after: {rule}" in shown
    for trouble in ("speed halved", "TTFT five times, one region", "60 % rate-limited"):
        assert shown.count(trouble) >= len(RULES)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--synthetic", "--since", "1d"), "--since: generated histories have no dates"),
        (("--seed", "3"), "--seed: stored history has none"),
    ],
)
def test_options_that_would_not_count_are_refused(words, sentence):
    done = CliRunner().invoke(app, ["backtest", *words])

    assert isinstance(done.exception, SettingsError)
    assert sentence in str(done.exception)
