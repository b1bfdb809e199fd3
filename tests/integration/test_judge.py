"""The judge over a real Postgres: runs come in through ingest; time is what the test says it is."""

import threading
from dataclasses import replace

import pytest
from support.dispatching import REGIONS
from support.judging import (
    SECOND,
    Court,
    failure,
    judged_fleet,
    learnt_store,
    reopened,
    usual,
)
from support.records import timed
from support.timings import make_timing

from aggregator.judge import judge_due
from pacewatch.words.endpoint import Importance
from pacewatch.words.errors import StoreError
from pacewatch.words.flag import Flag
from pacewatch.words.outcome import Outcome


@pytest.fixture(scope="module")
def learnt(postgres_url):
    """Three endpoints at two providers, from two regions, learnt and as usual."""
    with learnt_store(postgres_url, judged_fleet()) as court:
        yield court


@pytest.fixture
def court(postgres_url, learnt):
    with reopened(postgres_url, learnt) as court:
        yield court


def test_an_endpoint_is_learning_until_twelve_good_runs_of_a_series(court):
    court = Court(court.pool, judged_fleet())
    court.play(11 * 24)
    assert set(court.verdicts().values()) == {"learning"}

    court.play(2 * 24)
    assert set(court.verdicts().values()) == {"ok"}
    assert set(court.verdicts("eu-west").values()) == {"ok"}
    assert court.rows("select * from unjudged") == []


def test_an_endpoint_that_pages_is_judged_beside_those_that_do_not(court):
    one, *others = judged_fleet().endpoints
    paging = replace(one, importance=Importance.PAGE)
    court = Court(court.pool, judged_fleet(endpoints=(paging, *others)))
    court.play(24)

    assert len(court.verdicts()) == 1 + len(others)


def test_a_halved_speed_is_slow_with_its_ratio(court):
    court.play(168, lambda slot: timed(500, 50) if slot.endpoint == "beta/one" else usual(slot))

    assert court.verdicts() == {"alpha/one": "ok", "alpha/two": "ok", "beta/one": "slow"}
    (row,) = court.rows("select * from verdict where endpoint = 'beta/one' and region = ''")
    assert row["speed_ratio"] == pytest.approx(2, rel=0.05)
    assert row["speed_ratio_low"] <= row["speed_ratio"] <= row["speed_ratio_high"]
    assert row["ttft_ratio"] == pytest.approx(1, rel=0.05)
    assert 1 < row["end_to_end_ratio"] < row["speed_ratio"]


def test_failures_everywhere_are_failing_at_once(court):
    court.play(48, lambda _: failure())

    assert set(court.verdicts().values()) == {"failing"}


def test_a_region_that_falls_silent_is_told_as_time_passes_and_nobody_is_slow_for_it(court):
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


MORTAL = """
create sequence death;
create function die() returns trigger language plpgsql as $$
begin
    if nextval('death') in (1, 3, 6, 8, 11, 12, 15, 19, 22, 27) then
        perform pg_terminate_backend(pg_backend_pid());
    end if;
    return null;
end $$;
create trigger dies after update on judgement for each statement execute function die();
create trigger dies after insert on incident_event for each statement execute function die();
create trigger dies after delete on unjudged for each statement execute function die();
"""
"""Ten times, whoever writes here dies in the middle of a transaction."""


def believed(court):
    """All that judging left, but for ids and moments of its own."""
    return (
        court.rows("select endpoint, state from judgement order by endpoint"),
        court.rows(
            "select endpoint, region, verdict, since, ttft_ratio, speed_ratio from verdict"
            " order by endpoint, region"
        ),
        court.rows(
            "select class, provider, region, state, trouble from incident"
            " order by class, provider, trouble, state"
        ),
        court.rows("select endpoint, trouble, ratio from incident_endpoint order by 1, 2"),
        court.rows("select endpoint, region from confirm_order order by 1, 2"),
    )


def test_two_judges_whose_connections_break_at_any_moment_judge_each_run_once(postgres_url, learnt):
    def slow_alpha(slot):
        return timed(500, 50) if slot.endpoint.startswith("alpha") else usual(slot)

    with reopened(postgres_url, learnt) as calm, reopened(postgres_url, learnt) as shaken:
        for court in (calm, shaken):
            for k in range(12):
                court.push(REGIONS[k % 2], slow_alpha, court.now + 12 * k * SECOND)
            court.now += 160 * SECOND
        calm.judge(calm.now)
        with shaken.pool.connection() as connection:
            connection.execute(MORTAL)

        def judge():
            while shaken.rows("select 1 from unjudged limit 1"):
                try:
                    judge_due(shaken.pool, shaken.orders, shaken.now)
                except StoreError:
                    broken.append(1)

        broken = []
        judges = [threading.Thread(target=judge) for _ in range(2)]
        for thread in judges:
            thread.start()
        for thread in judges:
            thread.join(60)

        assert broken
        assert shaken.rows("select * from unjudged") == []
        assert believed(shaken) == believed(calm)


def test_what_somebody_must_set_right_is_one_row_a_kind_and_no_verdict(court):
    refused = iter([Outcome.AUTH, Outcome.AUTH, Outcome.FILTERED, Outcome.EMPTY])
    for k in range(4):
        answer = make_timing(outcome=next(refused), flags=(Flag.TRUNCATED,))
        court.push("eu-west", lambda slot, answer=answer: answer, court.now + k * SECOND)
    court.push(
        "eu-west", lambda _: timed(500, 100, flags=(Flag.DEGENERATE,)), court.now + 9 * SECOND
    )
    court.judge(court.now + 30 * SECOND)

    found = court.rows("select kind, runs from advisory where endpoint = 'beta/one' order by kind")
    assert [(row["kind"], row["runs"]) for row in found] == [
        ("auth", 2),
        ("degenerate", 1),
        ("filtered", 1),
        ("too_little_room", 1),
    ]
    assert set(court.verdicts().values()) == {"ok"}
    assert court.rows("select * from incident") == []


def test_a_run_whose_worker_was_suspect_and_one_that_comes_hours_late_do_not_vote(court):
    before = court.rows("select state from judgement order by endpoint")
    suspect = failure(flags=(Flag.PROBER_SUSPECT,))
    court.run("eu-west", lambda _: suspect)
    court.push("eu-west", lambda _: failure(), court.now - 400 * SECOND)
    court.judge(court.now + 10 * SECOND)

    assert court.rows("select state from judgement order by endpoint") == before
    assert court.rows("select * from unjudged") == []


def test_a_state_that_makes_no_sense_keeps_no_other_endpoint_from_being_judged(court, caplog):
    with court.pool.connection() as connection:
        connection.execute("update judgement set state = '{\"v\": 1}' where endpoint = 'alpha/one'")
    court.push("eu-west", usual, court.now)
    court.judge(court.now + 10 * SECOND)

    assert_left_alone(court, caplog, "alpha/one")


def assert_left_alone(court, caplog, endpoint):
    left = court.rows("select endpoint from unjudged")
    assert [row["endpoint"] for row in left] == [endpoint]
    (told,) = [record for record in caplog.records if record.getMessage() == "judge.failed"]
    assert told.facts["endpoint"] == endpoint


REFUSING = """
create function refuse() returns trigger language plpgsql as $$
begin
    raise exception 'refused';
end $$;
create trigger refuses before update on judgement for each row
    when (new.endpoint = 'alpha/one') execute function refuse();
"""


def test_what_the_store_refuses_to_write_keeps_no_other_endpoint_from_being_judged(court, caplog):
    with court.pool.connection() as connection:
        connection.execute(REFUSING)
    court.push("eu-west", usual, court.now)
    court.judge(court.now + 10 * SECOND)

    assert_left_alone(court, caplog, "alpha/one")
    (row,) = court.rows("select judged_at from store")
    assert row["judged_at"] == court.now + 10 * SECOND
