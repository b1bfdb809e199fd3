"""The judge over a real Postgres: runs come in through ingest; time is what the test says it is."""

import pytest
from support.centre import migrated_pool
from support.judging import SECOND, Court, failure, judged_fleet, usual
from support.records import timed
from support.servers import fresh_database


@pytest.fixture(scope="module")
def store(postgres_url):
    with fresh_database(postgres_url) as url, migrated_pool(url) as opened:
        yield opened


@pytest.fixture
def court(store):
    return Court(store, judged_fleet())


def learnt(court, seconds=300):
    court.play(seconds)
    return court


def test_an_endpoint_is_learning_until_twelve_good_runs_of_a_series(court):
    court.play(11 * 24)
    assert set(court.verdicts().values()) == {"learning"}

    court.play(2 * 24)
    assert set(court.verdicts().values()) == {"ok"}
    assert set(court.verdicts("eu-west").values()) == {"ok"}
    assert court.rows("select * from unjudged") == []


def test_a_halved_speed_is_slow_with_its_ratio(court):
    learnt(court, 360)

    court.play(168, lambda slot: timed(500, 50) if slot.endpoint == "beta/one" else usual(slot))

    assert court.verdicts() == {"alpha/one": "ok", "alpha/two": "ok", "beta/one": "slow"}
    (row,) = court.rows("select * from verdict where endpoint = 'beta/one' and region = ''")
    assert row["speed_ratio"] == pytest.approx(2, rel=0.05)
    assert row["speed_ratio_low"] <= row["speed_ratio"] <= row["speed_ratio_high"]
    assert row["ttft_ratio"] == pytest.approx(1, rel=0.05)


def test_failures_everywhere_are_failing_at_once(court):
    learnt(court, 360)

    court.play(48, lambda _: failure())

    assert set(court.verdicts().values()) == {"failing"}


def test_a_region_that_falls_silent_is_told_as_time_passes_and_nobody_is_slow_for_it(court):
    learnt(court, 360)
    court.heard = ["us-east"]
    last_run = court.now - 24 * SECOND

    court.play(200)

    assert set(court.verdicts("eu-west").values()) == {"silent"}
    assert set(court.verdicts("us-east").values()) == {"ok"}
    assert set(court.verdicts().values()) == {"ok"}
    (since,) = {r["since"] for r in court.rows("select since from verdict where region='eu-west'")}
    assert since == last_run

    court.heard = ["eu-west", "us-east"]
    court.play(24)
    assert set(court.verdicts("eu-west").values()) == {"ok"}
