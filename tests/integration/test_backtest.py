"""Backtest and calibration over stored history, in a real Postgres."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.centre import migrated_pool
from support.dispatching import dispatch_fleet
from support.fleets import make_endpoint
from support.histories import fill, now
from support.servers import fresh_database
from typer.testing import CliRunner

from aggregator import quiet
from aggregator.backtest.noise import NOISE
from aggregator.backtest.replay import Replay, replay_of
from aggregator.backtest.trouble import Injected
from aggregator.detect.calibrate import HIGHEST, LOWEST, allowed_in
from aggregator.fleet_file import Orders, orders_of
from aggregator.history import read_history
from aggregator.ruling import rules_of
from pacewatch.cli.app import app
from pacewatch.config import load_fleet
from pacewatch.words.endpoint import Importance
from pacewatch.words.fleet import DEMO_SCHEDULE
from pacewatch.words.verdict import Blame

WILD = replace(NOISE, drift_sd=0.2, spell_sd=0.5)
MIDNIGHT = datetime(2026, 3, 2, tzinfo=UTC)
DAY = timedelta(seconds=DEMO_SCHEDULE.day_s)
WEEKS = 8
LEARNT = quiet.LEARNT_DAYS * DAY
FLEET = dispatch_fleet(
    simulated=True,
    schedule=DEMO_SCHEDULE,
    regions=("r0", "r1", "r2"),
    endpoints=[
        make_endpoint(provider, "m", importance=Importance.PAGE) for provider in ("alpha", "beta")
    ],
)


@pytest.fixture(scope="module")
def still(postgres_url):
    """Sixteen quiet weeks of two unsteady endpoints, after the days in which they are learnt."""
    with fresh_database(postgres_url) as url, migrated_pool(url) as pool:
        fill(pool, FLEET, start=MIDNIGHT, days=quiet.LEARNT_DAYS + 14 * WEEKS, noise=WILD)
        yield pool


def replayed(pool, orders: Orders, until: datetime, multiplier: float = 1.0) -> Replay:
    rules = {e.id: rules_of(orders, e.id, multiplier) for e in orders.fleet.endpoints}
    replay = replay_of(orders.fleet.endpoints, rules)
    with pool.connection() as connection:
        for told in read_history(connection, orders.fleet, sorted(rules), MIDNIGHT, until):
            replay.take(told.endpoint, told.evidence, told.received_at.timestamp())
    return replay


def test_pages_of_the_eight_weeks_after_calibration_stay_within_twice_the_budget(still):
    orders, middle = orders_of(FLEET), MIDNIGHT + LEARNT + 7 * WEEKS * DAY
    with still.connection() as connection:
        found = quiet.calibrate(connection, orders, middle)
        quiet.store(connection, found, middle)
        kept = quiet.read_multiplier(connection)

    assert found.weeks == pytest.approx(WEEKS, abs=0.3)
    assert LOWEST < found.multiplier <= HIGHEST
    assert kept == found.multiplier
    after = middle + 7 * WEEKS * DAY
    pages = [
        one
        for one in replayed(still, orders, after, kept).incidents
        if one.pages and one.at >= middle.timestamp()
    ]
    assert len(pages) <= 2 * allowed_in(WEEKS, FLEET.false_pages_a_month)


def test_days_of_an_incident_that_somebody_had_in_hand_are_no_quiet_time(still):
    began, end = MIDNIGHT + LEARNT + 2 * DAY, MIDNIGHT + LEARNT + 6 * DAY
    left_out = []
    with still.connection() as connection:
        for taken in (False, True):
            connection.execute(
                """with made as (
                    insert into incident (provider, region, trouble, class, state, importance,
                        simulated, since, opened_at, confirmed_at, ended_at, acknowledged_at)
                    values ('alpha', '', 'first_token', 'provider', 'closed', 'page', true,
                        %(at)s, %(at)s, %(at)s, %(at)s, case when %(taken)s then %(at)s end)
                    returning incident_id)
                insert into incident_endpoint (incident_id, endpoint, trouble, since)
                select incident_id, 'alpha/m', 'first_token', %(at)s from made""",
                {"at": began, "taken": taken},
            )
            found = quiet.calibrate(connection, orders_of(FLEET), end)
            left_out.append((found.left_out_days, found.quiet_days))
        connection.rollback()

    assert left_out == [(0, 2 * 6), (2, 2 * 6 - 2)]
    assert found.multiplier is None, "six days are too few"


def test_slowdowns_of_two_providers_are_a_page_each_soon_after_they_begin(postgres_url):
    days = quiet.LEARNT_DAYS + 4
    troubles = {
        "alpha/m": (17.0, Injected(speed=0.5, hours=12)),
        "beta/m": (17.0, Injected(speed=0.3, hours=12)),
    }
    with fresh_database(postgres_url) as url, migrated_pool(url) as pool:
        fill(pool, FLEET, start=MIDNIGHT, days=days, troubles=troubles, seed=11)
        replay = replayed(pool, orders_of(FLEET), MIDNIGHT + days * DAY)

    began = (MIDNIGHT + 17 * DAY).timestamp()
    found = [one for one in replay.incidents if one.at >= began]
    assert [(one.blame, one.provider, one.pages) for one in found] == [
        (Blame.PROVIDER, provider, True) for provider in ("beta", "alpha")
    ]
    assert found[1].ratio == pytest.approx(2, rel=0.3)
    assert all(one.at - began < DAY.total_seconds() / 2 and one.eased_at for one in found)


@pytest.fixture
def centre(postgres_url, tmp_path):
    """A centre of the demo with a history until now, in which one provider has just failed."""
    file = tmp_path / "pacewatch.toml"
    file.write_text(
        'endpoints = ["groq/gpt-oss-120b", "cerebras/gpt-oss-120b"]\n'
        '[simulator]\nr0 = "http://127.0.0.1:1"\nr1 = "http://127.0.0.1:1"\n'
        '[importance]\n"groq/*" = "page"\n'
    )
    with fresh_database(postgres_url) as url, migrated_pool(url) as pool:
        yield pool, {"PACEWATCH_DATABASE_URL": url, "PACEWATCH_CONFIG": str(file)}


def invoke(environment, *words):
    return CliRunner().invoke(app, words, env=environment)


def test_the_commands_tell_what_the_store_holds(centre):
    pool, environment = centre
    fleet = load_fleet(Path(environment["PACEWATCH_CONFIG"]), {})
    days = quiet.LEARNT_DAYS + 30
    outage = {"groq/gpt-oss-120b": (days - 1.0, Injected(failed=1.0, hours=12))}
    fill(pool, fleet, start=now() - days * DAY, days=days, troubles=outage)

    told = invoke(environment, "backtest", "--since", "1h", "--json")
    calibrated = invoke(environment, "calibrate", "--judging", "--json")

    assert told.exit_code == calibrated.exit_code == 0, told.output + calibrated.output
    document = json.loads(told.output)
    (page,) = [one for one in document["incidents"] if one["would"] == "page"]
    assert (page["class"], page["trouble"], page["endpoints"]) == (
        "provider",
        "failures",
        ["groq/gpt-oss-120b"],
    )
    assert document["pages"] == 1 and document["runs"] > 100
    assert [one["rule"] for one in document["plain"]] == [
        "72-h median 1.4 times the one before",
        "half of the regions over 3 times",
    ]
    assert json.loads(calibrated.output)["multiplier"] >= 1.0


def test_an_empty_store_is_told_in_words(centre):
    _, environment = centre

    told, calibrated = (
        invoke(environment, *words) for words in (("backtest",), ("calibrate", "--judging"))
    )

    assert (told.exit_code, calibrated.exit_code) == (0, 1)
    assert "Nothing is stored of this time." in told.output
    assert "Too little quiet history" in calibrated.output
