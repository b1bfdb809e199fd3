"""Incidents over a real Postgres, from runs that come in through ingest to their end."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from psycopg.types.json import Jsonb
from support.centre import migrated_pool
from support.dispatching import NOON
from support.judging import SECOND, Court, failure, judged_fleet, learnt_store, reopened, usual
from support.records import make_slot, plan, timed
from support.servers import fresh_database

from aggregator.db import queries
from aggregator.detect.rules import daily_budget
from aggregator.detect.state import state_of, watch_of
from aggregator.fleet_file import orders_of
from aggregator.incident_texts import title_of
from aggregator.incident_views import read_these
from aggregator.incidents import accept, acknowledge
from aggregator.notify.book import book
from aggregator.ruling import requests_a_day, rules_of
from aggregator.silences import end_silence, make_silence
from aggregator.upkeep import drop_old
from pacewatch.words.channel import Channel
from pacewatch.words.flag import Flag
from pacewatch.words.fleet import Region
from pacewatch.words.judging import Limits
from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import Purpose
from pacewatch.words.timing import Connection
from pacewatch.words.verdict import TROUBLE_MEANINGS, Trouble

MANY = ["alpha/a", "alpha/b", "beta/a", "gamma/a", "delta/b"]


@pytest.fixture(scope="module")
def learnt(postgres_url):
    """Four providers, one with two models, from two regions, all learnt and as usual."""
    with learnt_store(postgres_url, judged_fleet(endpoints=MANY)) as court:
        yield court


@pytest.fixture
def court(postgres_url, learnt):
    with reopened(postgres_url, learnt) as court:
        yield court


def of(provider, answer, region=None):
    """How the world answers while one provider, from one region or all, answers like this."""

    def answers(slot):
        is_it = slot.endpoint.startswith(provider) and region in (None, slot.region)
        return answer if is_it else usual(slot)

    return answers


def incidents(court):
    return court.rows("select * from incident order by incident_id")


def events(court):
    rows = court.rows("select kind from incident_event order by event_id")
    return [row["kind"] for row in rows]


def test_a_slow_provider_is_one_incident_of_its_endpoints_that_ends_by_itself(court):
    court.play(144, of("alpha", timed(500, 50)))

    (incident,) = incidents(court)
    assert (incident["class"], incident["provider"], incident["region"]) == (
        "provider",
        "alpha",
        "",
    )
    assert (incident["state"], incident["trouble"]) == ("confirmed", "output_speed")
    gathered = court.rows("select * from incident_endpoint order by endpoint")
    assert [row["endpoint"] for row in gathered] == ["alpha/a", "alpha/b"]
    assert [row["ratio"] for row in gathered] == [pytest.approx(2, rel=0.15)] * 2
    assert {e for e, v in court.verdicts().items() if v == "slow"} == {"alpha/a", "alpha/b"}

    court.play(144)
    assert [row["state"] for row in incidents(court)] == ["eased"]
    for row in court.rows("select * from incident_endpoint"):
        assert row["ratio"] == pytest.approx(2, rel=0.15)
        assert row["ratio_low"] > 1.5
    court.play(120)
    assert [row["state"] for row in incidents(court)] == ["closed"]
    probes = ["probes" for kind in events(court) if kind == "probes"]
    assert [kind for kind in events(court) if kind != "probes"] == [
        "suspected",
        "suspected",
        "confirmed",
        "class",
        "joined",
        "eased",
        "closed",
    ]
    assert 2 <= len(probes) <= 6
    assert court.rows("select purpose from run where purpose = 'confirm' and rolls") == []
    asked = Counter(row["region"] for row in court.rows("select region from confirm_order"))
    assert min(asked.values()) / asked.total() >= 1 / 3
    assert len(asked) == 2


def test_a_provider_that_comes_and_goes_is_one_incident_and_is_told_once(court):
    slow = of("alpha", timed(500, 50))
    fleet = replace(court.orders.fleet, channels=(Channel(name="ops", url_env="OPS_URL"),))

    def told_until(state, answer):
        """What the channel is told until the incident is so."""
        booked = 0
        for _ in range(40):
            court.play(24, answer)
            booked += book(court.pool, fleet, court.now)
            if [row["state"] for row in incidents(court)] == [state]:
                return booked
        raise AssertionError(incidents(court))

    told = [told_until("confirmed", slow)]
    for _ in range(2):
        told += [told_until("eased", usual), told_until("confirmed", slow)]
    told.append(told_until("closed", usual))

    assert told == [1, 0, 0, 0, 0, 1]
    assert [row["kind"] for row in court.rows("select kind from notice order by notice_id")] == [
        "opened",
        "closed",
    ]
    assert events(court).count("again") == 2


FAR = of("alpha/a", timed(2_500, 100), "us-east")


@pytest.fixture(scope="module")
def distant(postgres_url, learnt):
    """One endpoint is slow from one region."""
    with fresh_database(postgres_url, like=learnt.url) as url:
        with migrated_pool(url) as pool:
            court = Court(pool, learnt.orders.fleet, at=learnt.now)
            court.play(240, FAR)
        court.url = url
        yield court


@pytest.fixture
def far_court(postgres_url, distant):
    with reopened(postgres_url, distant) as court:
        yield court


def regions_are(*names, **fields):
    fleet = judged_fleet(endpoints=MANY, regions=names)
    regions = {name: replace(region, **fields) for name, region in fleet.regions.items()}
    return orders_of(replace(fleet, regions={"eu-west": Region(name="eu-west")} | regions))


def other_end(court, incident):
    query = queries("notify")["select_other_end"].replace("%(incident)s", "%s")
    return [row["text"] for row in court.rows(query, incident["incident_id"])]


@pytest.mark.parametrize(
    ("orders", "eased", "closed"),
    [
        (
            regions_are("eu-west", "us-east"),
            "nothing is heard from us-east any more; as usual elsewhere",
            "nothing was heard of it any more",
        ),
        (
            regions_are("us-east", paused=True),
            "us-east is paused; as usual elsewhere",
            "nothing was heard of it any more",
        ),
        (regions_are(), "us-east is not probed from any more", "no longer probed"),
    ],
    ids=["silent", "paused", "left"],
)
def test_trouble_of_a_region_that_is_not_heard_any_more_eases_and_ends_and_says_why(
    far_court, orders, eased, closed
):
    court = far_court
    court.orders, court.heard = orders, ["eu-west"]
    court.now += 190 * SECOND
    court.run("eu-west")

    (incident,) = incidents(court)
    assert (incident["class"], incident["state"]) == ("region_path", "eased")
    court.now += 130 * SECOND
    court.run("eu-west")
    (incident,) = incidents(court)
    assert incident["state"] == "closed"
    told = court.rows("select text from incident_event order by event_id desc limit 2")
    assert [row["text"] for row in told] == [closed, eased]
    assert other_end(court, incident) == [closed]

    court.orders, court.heard = regions_are("eu-west", "us-east"), ["eu-west", "us-east"]
    court.now += 24 * SECOND
    court.play(48)
    assert len(incidents(court)) == 1


def test_trouble_of_a_region_that_is_heard_again_soon_goes_on_in_its_incident(far_court):
    court = far_court
    court.heard = ["eu-west"]
    court.now += 190 * SECOND
    court.run("eu-west")
    court.heard = ["eu-west", "us-east"]
    court.now += 24 * SECOND
    court.run("us-east", FAR)

    assert [row["state"] for row in incidents(court)] == ["confirmed"]
    assert events(court)[-2:] == ["eased", "again"]
    assert other_end(court, incidents(court)[0]) == []


@pytest.mark.parametrize("rest", [{}, {"paused": True}], ids=["silent", "paused"])
def test_trouble_of_a_region_that_is_heard_again_and_well_closes_as_usual_again(far_court, rest):
    court = far_court
    court.orders, court.heard = regions_are("us-east", **rest), ["eu-west"]
    court.now += 190 * SECOND
    court.run("eu-west")
    (incident,) = incidents(court)
    assert (incident["state"], incident["unusual_end"]) == ("eased", "unheard")

    court.orders, court.heard = regions_are("eu-west", "us-east"), ["eu-west", "us-east"]
    for k in range(8):  # a backlog, that is judged at once
        court.push("us-east", usual, court.now + (20 + k) * SECOND)
    court.now += 30 * SECOND
    court.run("us-east")
    (incident,) = incidents(court)
    assert (incident["state"], incident["unusual_end"]) == ("eased", None)
    assert incident["eased_at"] == court.now + 6 * SECOND

    court.play(144)
    assert [row["state"] for row in incidents(court)] == ["closed"]
    told = court.rows(
        "select kind, text from incident_event"
        " where kind <> 'probes' order by event_id desc limit 3"
    )
    silent = "us-east is paused" if rest else "nothing is heard from us-east any more"
    assert [(row["kind"], row["text"]) for row in told] == [
        ("closed", "as usual for long enough"),
        ("heard", "alpha/a from us-east: heard again, and as usual"),
        ("eased", f"{silent}; as usual elsewhere"),
    ]
    assert other_end(court, incident) == []


def answered(court, endpoint):
    """Many good runs of one endpoint from each region, judged at once."""
    slots = [
        make_slot(court.now + k * SECOND, endpoint=endpoint, region=region, workload="short")
        for region in court.heard
        for k in range(14)
    ]
    with court.pool.connection() as connection:
        plan(connection, *slots)
    court.answer(slots, usual, court.now + 20 * SECOND)
    court.judge(court.now + 21 * SECOND)


def test_an_incident_is_as_usual_again_once_each_of_its_endpoints_is_heard_and_well(court):
    court.play(48, of("alpha", failure()))
    court.now += 190 * SECOND
    court.judge(court.now)
    (incident,) = incidents(court)
    assert (incident["state"], incident["unusual_end"]) == ("eased", "unheard")

    ends = []
    for endpoint in ("alpha/a", "alpha/b"):
        answered(court, endpoint)
        ends += [(row["state"], row["unusual_end"]) for row in incidents(court)]

    assert ends == [("eased", "unheard"), ("eased", None)]
    assert events(court)[-1] == "heard"


def test_as_usual_where_it_is_heard_does_not_hide_that_another_endpoint_is_not_heard(court):
    court.play(48, of("alpha", failure()))
    (incident,) = incidents(court)
    with court.pool.connection() as connection:
        connection.execute(
            "update incident_endpoint set eased_at = %s, unheard = true where endpoint = 'alpha/b'",
            (court.now,),
        )
        connection.execute("update judgement set state = null where endpoint = 'alpha/a'")
    answered(court, "alpha/a")
    (incident,) = incidents(court)
    assert (incident["state"], incident["unusual_end"]) == ("eased", "unheard")
    told = court.rows("select text from incident_event where kind = 'eased'")
    assert [row["text"] for row in told] == ["as usual again, but for what is not heard any more"]


def test_trouble_that_nobody_looks_at_any_more_ends(court):
    court.play(48, of("alpha", failure()))
    assert [row["state"] for row in incidents(court)] == ["confirmed"]
    court.heard = []
    for seconds in (620, 130):
        court.now += seconds * SECOND
        court.judge(court.now)

    (incident,) = incidents(court)
    assert incident["state"] == "closed"
    assert set(court.verdicts().values()) == {"silent"}
    told = court.rows("select text from incident_event where kind = 'eased'")
    assert [row["text"] for row in told] == ["nothing is heard from eu-west, us-east any more"]


def test_a_paused_region_is_not_asked_and_does_not_make_one_of_two(court):
    court.orders, court.heard = regions_are("us-east", paused=True), ["eu-west"]
    court.run("eu-west", of("beta/a", failure()))
    assert {slot.region for slot in court.ordered()} == {"eu-west"}

    court.confirm(of("beta/a", failure()))
    (incident,) = incidents(court)
    assert (incident["class"], incident["state"]) == ("provider", "confirmed")
    assert incident["speaks_against"] == ["or the path to it: one region cannot tell"]


def test_a_suspicion_of_a_region_that_left_the_file_asks_the_others(court):
    court.run("us-east", of("beta/a", failure()))
    court.confirm(of("beta/a", failure(), "us-east"))
    court.orders, court.heard = regions_are(), ["eu-west"]
    court.run("eu-west", of("beta/a", failure()))

    assert {slot.region for slot in court.ordered()} == {"eu-west"}


def test_trouble_from_one_region_is_of_its_path_and_comes_and_goes_as_one_incident(far_court):
    court, far = far_court, FAR
    (incident,) = incidents(court)
    assert (incident["class"], incident["provider"], incident["region"]) == (
        "region_path",
        "alpha",
        "us-east",
    )
    assert court.verdicts("us-east")["alpha/a"] == "slow"
    assert court.verdicts("eu-west")["alpha/a"] == "ok"

    while incidents(court)[0]["state"] != "eased":
        court.play(24)
    court.play(96, far)
    assert [row["state"] for row in incidents(court)] == ["confirmed"]
    assert events(court)[-1] == "again"


def test_an_outage_is_asked_about_at_once_and_confirmed_by_what_is_answered(court):
    court.run("eu-west", of("beta/a", failure()))

    asked = Counter(slot.region for slot in court.ordered())
    assert asked == {"eu-west": 1, "us-east": 1}
    assert {slot.endpoint for slot in court.ordered()} == {"beta/a"}
    (incident,) = incidents(court)
    assert incident["state"] == "suspected"

    court.now += 10 * SECOND
    court.confirm(of("beta/a", failure()))
    (incident,) = incidents(court)
    assert (incident["state"], incident["class"]) == ("confirmed", "provider")
    assert court.verdicts()["beta/a"] == "failing"


def test_what_a_failure_has_asked_goes_out_with_the_next_round_and_the_tick_after_it(court):
    """Each comes every five seconds: far sooner than within ninety."""
    court.run("eu-west", of("beta/a", failure()))
    done = court.centre.tick(court.now + 7 * SECOND)

    sent = [slot for slot in done.sent if slot.purpose is Purpose.CONFIRM]
    assert Counter((slot.endpoint, slot.region) for slot in sent) == {
        ("beta/a", "eu-west"): 1,
        ("beta/a", "us-east"): 1,
    }


def test_a_lone_failure_is_cleared_by_good_answers_and_kept(court):
    court.run("eu-west", of("beta/a", failure()))
    court.now += 10 * SECOND
    court.confirm()

    (incident,) = incidents(court)
    assert (incident["state"], incident["ended_at"] is None) == ("cleared", False)
    assert events(court) == ["suspected", "probes", "cleared"]
    assert set(court.verdicts().values()) == {"ok"}


def test_what_is_neither_confirmed_nor_cleared_in_time_is_left_unconfirmed(court):
    court.run("eu-west", of("beta/a", failure()))
    court.judge(court.now + 60 * SECOND)

    assert [row["state"] for row in incidents(court)] == ["unconfirmed"]


def test_probes_of_a_day_stay_within_the_budget_of_a_provider_whatever_its_models_do(court):
    """Of twelve a day eleven were made of its other model; a day ago there were as many."""
    day = court.orders.fleet.schedule.day_s * SECOND
    with court.pool.connection() as connection:
        for ordered_at in (court.now - day - SECOND, court.now - day / 2):
            connection.execute(
                "with past as (insert into incident (provider, region, trouble, class, state,"
                " importance, simulated, since, opened_at, ended_at) values ('alpha', '',"
                " 'failures', 'unknown', 'cleared', 'notify', true, %(at)s, %(at)s, %(at)s)"
                " returning incident_id)"
                " insert into confirm_order (run_id, incident_id, endpoint, region, ordered_at)"
                " select gen_random_uuid(), incident_id, 'alpha/b', 'eu-west', %(at)s"
                " from past, generate_series(1, 11)",
                {"at": ordered_at},
            )
    assert daily_budget(requests_a_day(court.orders, "alpha")) == 12

    court.run("eu-west", lambda s: failure() if s.endpoint in ("alpha/a", "beta/a") else usual(s))

    asked = Counter((slot.endpoint, slot.region) for slot in court.ordered())
    assert asked == {("alpha/a", "eu-west"): 1, ("beta/a", "eu-west"): 1, ("beta/a", "us-east"): 1}


def test_a_storm_of_refusals_is_of_the_quota_and_nobody_is_slow_for_it(court):
    court.play(96, of("gamma", failure(Outcome.RATE_LIMITED)))

    (incident,) = incidents(court)
    assert (incident["class"], incident["provider"], incident["trouble"]) == (
        "quota",
        "gamma",
        "quota",
    )
    assert set(court.verdicts().values()) == {"ok"}


def test_when_every_provider_is_slow_from_everywhere_it_is_ours(court):
    court.play(168, lambda _: timed(500, 50))

    rows = [row for row in incidents(court) if row["state"] == "confirmed"]
    assert [(row["class"], row["provider"], row["region"]) for row in rows] == [("ours", "", "")]


def test_a_retired_model_is_told_once_and_is_neither_slow_nor_failing(court):
    court.play(96, of("delta/b", failure(Outcome.NOT_SERVED)))

    (incident,) = incidents(court)
    assert (incident["class"], incident["trouble"], incident["state"]) == (
        "model",
        "gone",
        "confirmed",
    )
    assert events(court).count("confirmed") == 1
    assert [row["trouble"] for row in court.rows("select trouble from incident_endpoint")] == [
        "gone"
    ]
    assert court.verdicts()["delta/b"] == "not_served"
    assert court.verdicts()["gamma/a"] == "ok"
    (row,) = court.rows(
        "select last_success_at from series natural join series_stat"
        " where endpoint = 'delta/b' and region = 'eu-west' and load = 'single'"
    )
    assert row["last_success_at"] < court.now - 96 * SECOND


def test_a_retired_model_that_leaves_the_file_is_not_told_to_be_there_again(court):
    court.play(96, of("delta/b", failure(Outcome.NOT_SERVED)))
    (incident,) = incidents(court)

    court.orders = orders_of(judged_fleet(endpoints=[e for e in MANY if e != "delta/b"]))
    court.judge(court.now)
    court.judge(court.now + 121 * SECOND)

    assert [row["state"] for row in incidents(court)] == ["closed"]
    assert other_end(court, incident) == ["no longer probed"]


def test_an_accepted_level_is_the_usual_one_and_ends_the_incident(court):
    slower = of("alpha/a", timed(500, 50))
    court.play(144, slower)
    (incident,) = incidents(court)
    with court.pool.connection() as connection:
        assert acknowledge(connection, incident["incident_id"], court.now, "ana")
        assert not acknowledge(connection, incident["incident_id"], court.now, "ana")
        assert accept(connection, incident["incident_id"], court.now, "ana")

    court.judge(court.now)

    assert [row["state"] for row in incidents(court)] == ["closed"]
    assert {"acknowledged", "accepted", "closed"} <= set(events(court))
    court.play(240, slower)
    assert len(incidents(court)) == 1
    assert court.verdicts()["alpha/a"] in ("ok", "learning")


def over_limit(court, over):
    with court.pool.connection() as connection:
        connection.execute(
            "update worker set calibration = jsonb_build_object('over', %s::text)"
            " where region = 'eu-west'",
            (over,),
        )


def test_two_people_who_accept_incidents_of_the_same_endpoints_wait_for_one_another(court):
    court.play(144, of("alpha", timed(500, 50)))
    (incident,) = incidents(court)
    with (
        court.pool.connection() as first,
        court.pool.connection() as second,
        court.pool.connection() as third,
        ThreadPoolExecutor() as threads,
    ):
        # the row that is locked last lies first in its table
        first.execute("update judgement set judged_at = judged_at where endpoint = 'alpha/a'")
        first.commit()
        first.execute("select from judgement where endpoint = 'alpha/a' for update")
        waiting = threads.submit(accept, second, incident["incident_id"], court.now)
        pid = second.info.backend_pid
        while not third.execute("select pg_blocking_pids(%s) <> '{}' as waits", (pid,)).fetchone()[
            "waits"
        ]:
            assert not waiting.done()
        free = third.execute(
            "select endpoint from judgement where endpoint like 'alpha/%%' for update skip locked"
        ).fetchall()
        third.rollback()
        first.rollback()
        assert waiting.result(30)

    assert [row["endpoint"] for row in free] == ["alpha/b"]


def test_a_worker_over_its_own_limit_is_an_incident_of_our_prober_alone(court):
    court.judge(court.now)
    over_limit(court, "arrival_p99_s")
    court.judge(court.now)
    court.judge(court.now)

    (incident,) = incidents(court)
    assert (incident["class"], incident["provider"], incident["region"]) == (
        "prober",
        "",
        "eu-west",
    )
    assert (incident["trouble"], incident["state"]) == ("timing", "confirmed")
    over_limit(court, "")
    court.judge(court.now)
    over_limit(court, "arrival_p99_s")
    court.judge(court.now)
    over_limit(court, "")
    court.judge(court.now)
    court.judge(court.now + 121 * SECOND)
    assert events(court) == ["confirmed", "eased", "again", "eased", "closed"]


@pytest.mark.parametrize(
    ("regions", "unusual", "eased", "closed"),
    [
        (
            ("eu-west", "us-east"),
            "unheard",
            "nothing is heard from eu-west any more",
            "nothing was heard of it any more",
        ),
        (("us-east",), "left", "eu-west is not probed from any more", "no longer probed"),
    ],
    ids=["silent", "left"],
)
def test_workers_that_are_heard_no_more_are_not_told_to_be_exact_again(
    court, regions, unusual, eased, closed
):
    court.judge(court.now)
    over_limit(court, "arrival_p99_s")
    court.judge(court.now)
    fleet = judged_fleet(endpoints=MANY, regions=regions)
    court.orders, court.heard = orders_of(fleet), ["us-east"]
    court.judge(court.now + 95 * SECOND)
    (incident,) = incidents(court)
    assert (incident["state"], incident["unusual_end"]) == ("eased", unusual)

    court.judge(court.now + 216 * SECOND)
    told = court.rows("select text from incident_event order by event_id desc limit 2")
    assert [row["text"] for row in told] == [closed, eased]
    assert other_end(court, incident) == [closed]


def test_workers_that_are_heard_again_and_exact_close_as_such_once_they_have_calibrated(court):
    court.judge(court.now)
    over_limit(court, "arrival_p99_s")
    court.judge(court.now)
    court.heard = ["us-east"]
    court.judge(court.now + 95 * SECOND)
    court.heard = ["eu-west", "us-east"]
    with court.pool.connection() as connection:
        connection.execute("update worker set calibration = null")
    court.judge(court.now + 100 * SECOND)
    (incident,) = incidents(court)
    assert (incident["state"], incident["unusual_end"]) == ("eased", "unheard")

    over_limit(court, "")
    court.judge(court.now + 105 * SECOND)
    (incident,) = incidents(court)
    assert (incident["state"], incident["unusual_end"]) == ("eased", None)
    court.judge(court.now + 230 * SECOND)
    told = court.rows("select text from incident_event order by event_id desc limit 2")
    assert [row["text"] for row in told] == [
        "as usual for long enough",
        "heard again, and its timings are exact again",
    ]


def test_a_worker_that_has_not_calibrated_since_it_started_is_not_told_to_be_exact_again(court):
    court.judge(court.now)
    over_limit(court, "arrival_p99_s")
    court.judge(court.now)
    with court.pool.connection() as connection:
        connection.execute("update worker set calibration = null")
    court.judge(court.now)
    assert [row["state"] for row in incidents(court)] == ["confirmed"]

    over_limit(court, "")
    court.judge(court.now)
    assert events(court) == ["confirmed", "eased"]


@pytest.mark.parametrize(
    ("everywhere", "worst"),
    [(timed(1_500, 100), timed(2_500, 100)), (failure(), failure())],
    ids=["slow", "fails"],
)
def test_trouble_that_other_regions_share_is_the_provider_s_whatever_the_worst_one_s_workers_are(
    court, everywhere, worst
):
    court.judge(court.now)
    over_limit(court, "arrival_p99_s")

    def answer(slot):
        if not slot.endpoint.startswith("alpha"):
            return usual(slot)
        return worst if slot.region == "eu-west" else everywhere

    court.play(144, answer)

    confirmed = [row for row in incidents(court) if row["state"] == "confirmed"]
    assert sorted((row["class"], row["provider"], row["region"]) for row in confirmed) == [
        ("prober", "", "eu-west"),
        ("provider", "alpha", ""),
    ]
    assert "timing" in {row["trouble"] for row in confirmed}


def test_flags_on_three_of_a_workers_latest_ten_runs_are_of_our_prober(court):
    flagged = timed(5_000, 100, flags=(Flag.PROBER_SUSPECT,))
    for count in (2, 3):
        some = {endpoint.id for endpoint in court.orders.fleet.endpoints[:count]}
        court.run("eu-west", lambda s, some=some: flagged if s.endpoint in some else usual(s))
        court.now += 12 * SECOND
        assert len(incidents(court)) == (0 if count == 2 else 1)
    assert incidents(court)[0]["class"] == "prober"


def test_a_region_whose_endpoints_are_all_slow_is_our_prober(court):
    court.play(240, lambda s: timed(2_500, 100) if s.region == "us-east" else usual(s))

    rows = [row for row in incidents(court) if row["state"] == "confirmed"]
    assert [(row["class"], row["provider"], row["region"]) for row in rows] == [
        ("prober", "", "us-east")
    ]


@pytest.mark.parametrize("slower", ["connect_us", "rtt_us"])
def test_a_region_whose_endpoints_are_all_slow_over_a_longer_path_is_of_the_path(court, slower):
    near = {"connect_us": 9_000, "rtt_us": (4_000, 4_000)}
    far = near | {slower: {"connect_us": 18_000, "rtt_us": (8_000, 8_000)}[slower]}
    court.play(96, lambda _: timed(500, 100, connection=Connection(**near)))

    def answer(slot):
        return (
            timed(2_500, 100, connection=Connection(**far))
            if slot.region == "us-east"
            else timed(500, 100, connection=Connection(**near))
        )

    court.play(240, answer)

    rows = [row for row in incidents(court) if row["state"] == "confirmed"]
    assert [(row["class"], row["provider"], row["region"]) for row in rows] == [
        ("region_path", "", "us-east")
    ]
    assert "round trips or connects take longer" in rows[0]["speaks_for"]


@pytest.mark.parametrize(("before_s", "expected"), [(30, "model"), (300, "provider")])
def test_slowness_that_began_when_another_model_answered_is_of_the_model(court, before_s, expected):
    with court.pool.connection() as connection:
        connection.execute(
            "insert into provider_change (endpoint, facet, value, before, changed_at, noted_at)"
            " values ('beta/a', 'model', 'b-2', 'b-1', %(at)s, %(at)s)",
            {"at": court.now - before_s * SECOND},
        )
    court.play(144, of("beta", timed(500, 50)))

    (incident,) = incidents(court)
    assert (incident["class"], incident["provider"]) == (expected, "beta")
    assert ("what answers has changed" in incident["speaks_for"]) == (expected == "model")


@pytest.mark.parametrize(
    ("limits", "trouble", "title"),
    [
        (Limits(slow_ttft_s=0.45), "first_token", "first token slower than its limit"),
        (Limits(slow_tokens_per_s=110.0), "output_speed", "output slower than its limit"),
        (Limits(failing_ttft_s=0.45), "failures", TROUBLE_MEANINGS[Trouble.FAILURES]),
    ],
)
def test_what_is_as_usual_but_over_a_limit_everywhere_is_the_providers_and_says_so(
    court, limits, trouble, title
):
    court.orders = orders_of(replace(court.orders.fleet, limits={"beta/a": limits}))
    court.play(360)

    (incident,) = [row for row in incidents(court) if row["state"] == "confirmed"]
    assert (incident["class"], incident["provider"], incident["trouble"]) == (
        "provider",
        "beta",
        trouble,
    )
    with court.pool.connection() as connection:
        (told,) = read_these(connection, [incident["incident_id"]])
    assert title_of(told) == f"beta/a: {title}"
    (event,) = court.rows("select text from incident_event where kind = 'confirmed'")
    limit = {"first_token": " of 450 ms", "output_speed": " of 110 tokens/s", "failures": ""}
    assert event["text"] == f"beta/a: {title}{limit[trouble]}"
    assert court.verdicts()["beta/a"] == ("failing" if trouble == "failures" else "slow")


def test_a_provider_that_fails_while_a_region_is_in_trouble_is_told_as_the_provider(court):
    """And it is the provider's trouble alone that pages."""
    near = lambda s: timed(2_500, 100) if s.region == "us-east" else usual(s)  # noqa: E731
    court.play(360, near)
    (first,) = [row for row in incidents(court) if row["state"] == "confirmed"]
    assert (first["class"], first["provider"]) == ("prober", "")

    court.play(72, lambda s: failure() if s.endpoint == "beta/a" else near(s))

    rows = [row for row in incidents(court) if row["state"] == "confirmed"]
    assert [(row["class"], row["provider"]) for row in rows] == [
        ("prober", ""),
        ("provider", "beta"),
    ]
    gathered = court.rows("select * from incident_endpoint where endpoint = 'beta/a'")
    assert {row["incident_id"] for row in gathered} == {rows[1]["incident_id"]}


def test_an_outage_long_after_a_region_s_path_began_to_be_slow_is_of_the_provider(far_court):
    court = far_court
    court.play(168, FAR)
    assert [row["class"] for row in incidents(court)] == ["region_path"]
    court.play(72, of("alpha", failure()))

    standing = [row for row in incidents(court) if row["state"] == "confirmed"]
    assert [(row["class"], row["region"]) for row in standing] == [("provider", "")]


def test_what_else_happened_stands_in_the_timeline_once(court):
    court.play(144, of("alpha", timed(500, 50)))
    with court.pool.connection() as connection:
        connection.execute(
            "insert into provider_change (endpoint, facet, value, before, changed_at, noted_at)"
            " values ('alpha/a', 'fingerprint', 'new', 'old', %(at)s, %(at)s)",
            {"at": court.now},
        )
        connection.execute(
            "insert into silence (endpoints, starts_at, ends_at, why, made_by)"
            " values ('alpha/*', %(at)s, %(at)s + interval '1 hour', 'known', 'ana')",
            {"at": court.now},
        )
        connection.execute(
            "update run set worker_version = '99.0' where slot_at = (select max(slot_at) from run)"
        )
    court.judge(court.now)
    court.judge(court.now)

    told = court.rows(
        "select kind, text from incident_event where kind in ('changed', 'worker', 'silenced')"
        " order by kind"
    )
    assert [row["kind"] for row in told] == ["changed", "silenced", "worker"]
    assert told[0]["text"] == "alpha/a: fingerprint is now new, was old"
    assert told[1]["text"].startswith("silenced by ana until ")
    assert told[2]["text"].endswith(": now version 99.0")


def test_a_silence_that_is_ended_before_its_time_is_told_in_the_timeline_once(court):
    court.play(144, of("alpha", timed(500, 50)))
    until = court.now + timedelta(hours=1)
    with court.pool.connection() as connection:
        made = make_silence(connection, "alpha/*", court.now, ends_at=until, why="known")
        make_silence(connection, "beta/*", court.now, ends_at=until, why="of others")
    court.judge(court.now)
    later = court.now + timedelta(minutes=5)
    for _ in range(2):
        with court.pool.connection() as connection:
            end_silence(connection, made.silence_id, later)
        court.judge(later)

    told = court.rows("select at, text from incident_event where kind = 'silenced' order by at")
    assert [row["at"] for row in told] == [court.now, later]
    assert told[1]["text"] == "the silence of alpha/* was ended"


def test_what_has_ended_is_kept_as_long_as_runs_are(court):
    court.play(96, of("gamma", failure(Outcome.RATE_LIMITED)))
    court.run("eu-west", of("beta/a", failure()))
    with court.pool.connection() as connection:
        connection.execute("update incident set ended_at = %s where trouble = 'quota'", (NOON,))

    drop_old(court.pool, court.orders.fleet, NOON + timedelta(days=401))

    assert [row["trouble"] for row in incidents(court)] == ["failures"]
    assert {row["kind"] for row in court.rows("select kind from incident_event")} == {
        "suspected",
        "probes",
    }


def test_with_one_region_its_alarm_and_that_over_all_are_one_incident(postgres_url):
    fleet = judged_fleet(endpoints=["alpha/a", "beta/a"], regions=["eu-west"])
    with learnt_store(postgres_url, fleet) as learnt, reopened(postgres_url, learnt) as court:
        court.play(240, of("alpha", timed(500, 40)))

        (incident,) = incidents(court)
        assert (incident["class"], incident["region"]) == ("provider", "")
        assert incident["speaks_against"] == ["or the path to it: one region cannot tell"]
        assert court.verdicts("eu-west") == {"alpha/a": "slow", "beta/a": "ok"}


def test_a_level_that_has_lasted_for_two_weeks_is_taken_as_usual_and_ends_the_incident(court):
    slower = of("alpha/a", timed(500, 50))
    court.play(144, slower)
    rules = rules_of(court.orders, "alpha/a")
    (row,) = court.rows("select state from judgement where endpoint = 'alpha/a'")
    watch = watch_of(row["state"], rules)
    for charts in watch.charts.values():
        for chart in charts:
            if chart.alarmed_at is not None:
                chart.alarmed_at -= 14 * rules.day_s
    with court.pool.connection() as connection:
        connection.execute(
            "update judgement set state = %s where endpoint = 'alpha/a'", (Jsonb(state_of(watch)),)
        )
    court.play(24, slower)

    assert [row["state"] for row in incidents(court)] == ["closed"]
    assert events(court)[-2:] == ["accepted", "closed"]
