"""The dispatcher over a real Postgres; time is what the test says it is."""

import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from support.centre import migrated_pool
from support.dispatching import NOON, REGIONS, Centre, dispatch_fleet, empty, make_endpoint
from support.servers import fresh_database

from aggregator import db, dispatch
from pacewatch.words.endpoint import Importance, Limits
from pacewatch.words.errors import StoreError
from pacewatch.words.fleet import Region, Schedule, Spending
from pacewatch.words.slot import Load, Purpose, run_id

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
LIVE = Schedule(tick_s=0, heartbeat_s=30)


@pytest.fixture(scope="module")
def store(postgres_url: str) -> Iterator[db.Pool]:
    with (
        fresh_database(postgres_url) as url,
        migrated_pool(url, simulated=False) as opened,
    ):
        yield opened


@pytest.fixture
def pool(store: db.Pool) -> db.Pool:
    empty(store)
    return store


@pytest.fixture
def centre(pool: db.Pool) -> Centre:
    return Centre(pool, dispatch_fleet())


def only_first(pool: db.Pool, **fields: object) -> Centre:
    """A fleet of one endpoint in two regions, whose schedule adds nothing to the first run."""
    schedule = Schedule(single_per_day=0, parallel_per_day=0, tick_s=0)
    return Centre(pool, dispatch_fleet(endpoints=["alpha/one"], schedule=schedule, **fields))


def test_a_new_endpoint_gets_one_run_at_once_in_each_region(centre: Centre) -> None:
    done = [*centre.tick(NOON).sent, *centre.tick(NOON + 5 * SECOND).sent]

    first = [slot for slot in done if slot.purpose is Purpose.FIRST]
    assert sorted((slot.endpoint, slot.region) for slot in first) == [
        (endpoint.id, region) for endpoint in centre.fleet.endpoints for region in REGIONS
    ]
    assert {slot.load for slot in first} == {Load.SINGLE}
    assert first[0].run_id == run_id(
        purpose=Purpose.FIRST,
        endpoint=first[0].endpoint,
        region=first[0].region,
        workload="standard",
        load=Load.SINGLE,
        at="",
    )


def test_an_endpoint_that_is_added_later_gets_its_first_run_alone(centre: Centre) -> None:
    centre.tick(NOON)
    centre.tick(NOON + 5 * SECOND)
    centre.change(dispatch_fleet(endpoints=["alpha/one", "alpha/two", "beta/one", "gamma/new"]))

    done = centre.tick(NOON + 10 * SECOND)

    assert {s.endpoint for s in done.sent if s.purpose is Purpose.FIRST} == {"gamma/new"}


def test_the_counters_of_what_is_planned_stand_at_zero_before_any_run(centre: Centre) -> None:
    centre.tick(NOON)

    stats = centre.rows("select tried, succeeded from series join series_stat using (series_id)")
    assert stats == [{"tried": 0, "succeeded": 0}] * 12
    places = centre.rows("select recovered, duplicate, cost_usd from place_counter")
    assert places == [{"recovered": 0, "duplicate": 0, "cost_usd": 0.0}] * 6
    reasons = centre.rows("select reason, sum(runs) as runs from missed_counter group by reason")
    assert {row["reason"]: row["runs"] for row in reasons} == {
        "not_sent": 0,
        "no_worker": 0,
        "lost": 0,
    }


def test_an_endpoint_that_is_no_longer_picked_stays_inactive_with_its_versions(
    centre: Centre,
) -> None:
    centre.tick(NOON)
    before = centre.rows("select * from endpoint_version order by endpoint_hash")
    centre.change(dispatch_fleet(endpoints=["alpha/one"]))
    centre.tick(NOON + MINUTE)

    assert centre.rows("select endpoint, active from endpoint order by endpoint") == [
        {"endpoint": "alpha/one", "active": True},
        {"endpoint": "alpha/two", "active": False},
        {"endpoint": "beta/one", "active": False},
    ]
    assert before == centre.rows("select * from endpoint_version order by endpoint_hash")


def test_an_endpoint_is_kept_with_the_host_it_is_asked_at(centre: Centre) -> None:
    asked = make_endpoint("alpha/one", base_url="http://10.0.0.1:8000/v1")
    centre.change(dispatch_fleet(endpoints=[asked]))
    centre.tick(NOON)

    assert centre.rows("select base_host from endpoint") == [{"base_host": "10.0.0.1:8000"}]


def test_a_changed_body_adds_a_version_and_keeps_the_old_one(centre: Centre) -> None:
    centre.tick(NOON)
    changed = make_endpoint("alpha/one", body={"temperature": 0})
    centre.change(dispatch_fleet(endpoints=[changed, "alpha/two", "beta/one"]))
    centre.tick(NOON + MINUTE)

    versions = centre.rows(
        "select workload, count(*) from endpoint_version"
        " where endpoint = 'alpha/one' group by workload"
    )
    assert {row["count"] for row in versions} == {2}


def test_a_slot_is_committed_as_sent_before_anybody_sends_it(centre: Centre) -> None:
    done = centre.tick(NOON)

    held = {row["run_id"]: row for row in centre.slots("state = 'sent'")}
    assert {slot.run_id for slot in done.sent} == held.keys()
    assert {(row["sends"], row["sent_at"]) for row in held.values()} == {(1, NOON)}


def test_a_slot_is_not_sent_before_its_moment(centre: Centre) -> None:
    centre.tick(NOON)
    following = centre.slots("state = 'planned'")[0]

    early = centre.tick(following["slot_at"] - timedelta(microseconds=1))
    assert following["run_id"] not in {slot.run_id for slot in early.sent}
    due = centre.tick(following["slot_at"])
    assert following["run_id"] in {slot.run_id for slot in due.sent}


def test_nothing_is_sent_to_a_region_that_rests_and_its_slots_are_missed_for_that(
    centre: Centre,
) -> None:
    regions = {name: Region(name=name, paused=name == "us-east") for name in REGIONS}
    centre.change(replace(centre.fleet, regions=regions))
    sent = centre.tick(NOON).sent + centre.tick(NOON + timedelta(minutes=20)).sent
    due = centre.slots("region = 'us-east' and state <> 'planned'")

    assert {slot.region for slot in sent} == {"eu-west"}
    assert {(row["state"], row["reason"]) for row in due} == {("missed", "declined:paused")}
    assert centre.missed("us-east") == {"declined:paused": len(due)}


def test_two_dispatchers_at_once_send_each_slot_once(pool: db.Pool) -> None:
    fleet = dispatch_fleet(endpoints=[f"alpha/m{n}" for n in range(40)])
    both = [Centre(pool, fleet), Centre(pool, fleet)]
    sent: Counter[object] = Counter()
    lock, together = threading.Lock(), threading.Barrier(2)

    def run(centre: Centre) -> None:
        for step in range(60):
            together.wait(30)
            done = dispatch.tick(pool, centre.orders, NOON + step * MINUTE)
            if done is not None:
                with lock:
                    sent.update(slot.run_id for slot in done.sent)

    threads = [threading.Thread(target=run, args=(centre,)) for centre in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    held = both[0].slots("sends > 0")
    assert len(held) > 80
    assert sent == Counter({row["run_id"]: 1 for row in held})


def test_a_tick_beside_another_one_returns_at_once(centre: Centre) -> None:
    with centre.pool.connection() as connection:
        connection.execute("select pg_advisory_xact_lock(%s)", (dispatch.TICK_LOCK,))
        assert dispatch.tick(centre.pool, centre.orders, NOON) is None


def test_ticks_that_piled_up_are_one_tick(pool: db.Pool) -> None:
    centre = Centre(pool, dispatch_fleet(schedule=Schedule(tick_s=5)))
    centre.tick(NOON)

    soon = NOON + timedelta(seconds=2)
    assert dispatch.tick(pool, centre.orders, soon) is None
    assert dispatch.tick(pool, centre.orders, NOON + timedelta(seconds=5)) is not None


def test_a_clock_that_was_set_back_does_not_stop_the_ticks(pool: db.Pool) -> None:
    centre = Centre(pool, dispatch_fleet(schedule=Schedule(tick_s=5)))
    centre.tick(NOON)

    assert dispatch.tick(pool, centre.orders, NOON - 60 * MINUTE) is not None


def test_a_fleet_of_the_other_kind_is_refused(centre: Centre) -> None:
    centre.change(dispatch_fleet(simulated=True))

    with pytest.raises(StoreError, match="the store holds real measurements"):
        centre.tick(NOON)


class TestSendAgain:
    """A slot is sent again at most once, and only where the region speaks and does not list it."""

    def sent(self, pool: db.Pool, **fields: object) -> tuple[Centre, dict[str, object]]:
        centre = only_first(pool, **fields)
        slots = {slot.region: slot for slot in centre.tick(NOON).sent}
        assert slots.keys() == set(REGIONS)
        return centre, slots

    def keep_ticking(self, centre: Centre, until: datetime) -> None:
        """Tick each minute, so that no tick finds a time without ticks behind it."""
        row = centre.rows("select ticked_at from store")[0]
        now = row["ticked_at"] + MINUTE
        while now <= until:
            assert not centre.tick(now).resent
            now += MINUTE

    def test_where_a_fresh_heartbeat_does_not_list_it(self, pool: db.Pool) -> None:
        centre, slots = self.sent(pool)
        self.keep_ticking(centre, NOON + 9 * MINUTE)
        centre.hear("eu-west", NOON + 10 * MINUTE)

        done = centre.tick(NOON + 10 * MINUTE)

        assert done.resent == (slots["eu-west"],)
        assert not done.sent

    def test_not_before_its_time(self, pool: db.Pool) -> None:
        centre, _ = self.sent(pool)
        self.keep_ticking(centre, NOON + 9 * MINUTE)
        centre.hear("eu-west", NOON + 9 * MINUTE)

        assert not centre.tick(NOON + timedelta(seconds=599)).resent

    def test_not_before_the_longest_run_could_have_ended(self, pool: db.Pool) -> None:
        slow = make_endpoint("alpha/one", limits=Limits(total_s=900))
        schedule = Schedule(single_per_day=0, parallel_per_day=0, tick_s=0)
        centre = Centre(pool, dispatch_fleet(endpoints=[slow], schedule=schedule))
        centre.tick(NOON)
        self.keep_ticking(centre, NOON + 14 * MINUTE)
        centre.hear("eu-west", NOON + 14 * MINUTE)

        assert not centre.tick(NOON + timedelta(seconds=899)).resent
        assert len(centre.tick(NOON + timedelta(seconds=900)).resent) == 1

    def test_not_where_a_worker_has_it_in_hand(self, pool: db.Pool) -> None:
        centre, slots = self.sent(pool)
        self.keep_ticking(centre, NOON + 9 * MINUTE)
        centre.hear("eu-west", NOON + 10 * MINUTE, worker="w1")
        centre.hear("eu-west", NOON + 10 * MINUTE, [slots["eu-west"]], worker="w2")

        assert not centre.tick(NOON + 10 * MINUTE).resent

    def test_not_where_its_record_is_put_aside_at_the_centre(self, pool: db.Pool) -> None:
        centre, slots = self.sent(pool)
        self.keep_ticking(centre, NOON + 9 * MINUTE)
        for region in REGIONS:
            centre.hear(region, NOON + 10 * MINUTE)
        with pool.connection() as connection:
            connection.execute(
                "insert into aside (execution, run_id, region, reason, tried_with, received_at,"
                " record) values (%s, %s, 'eu-west', 'later', '', %s, '')",
                (uuid4(), slots["eu-west"].run_id, NOON + MINUTE),
            )

        assert centre.tick(NOON + 10 * MINUTE).resent == (slots["us-east"],)

    def test_not_where_the_region_is_not_heard_of(self, pool: db.Pool) -> None:
        centre, _ = self.sent(pool)
        self.keep_ticking(centre, NOON + 9 * MINUTE)
        centre.hear("eu-west", NOON + 8 * MINUTE)

        assert not centre.tick(NOON + 10 * MINUTE).resent

    def test_not_by_a_heartbeat_from_before_it_was_sent(self, pool: db.Pool) -> None:
        quick = Schedule(single_per_day=0, parallel_per_day=0, resend_s=25, tick_s=0)
        near = make_endpoint("alpha/one", limits=Limits(total_s=20))
        centre = Centre(pool, dispatch_fleet(endpoints=[near], schedule=quick))
        centre.hear("eu-west", NOON - timedelta(seconds=3))
        centre.tick(NOON)

        assert not centre.tick(NOON + timedelta(seconds=26)).resent

    def test_never_a_third_time(self, pool: db.Pool) -> None:
        centre, _ = self.sent(pool)
        self.keep_ticking(centre, NOON + 9 * MINUTE)
        centre.hear("eu-west", NOON + 10 * MINUTE)
        assert centre.tick(NOON + 10 * MINUTE).resent

        self.keep_ticking(centre, NOON + 20 * MINUTE)
        centre.hear("eu-west", NOON + 21 * MINUTE)

        assert not centre.tick(NOON + 21 * MINUTE).resent

    def test_never_a_sentinel(self, pool: db.Pool) -> None:
        centre, _ = self.sent(pool)
        with pool.connection() as connection:
            connection.execute("update slot set purpose = 'sentinel'")
        self.keep_ticking(centre, NOON + 9 * MINUTE)
        centre.hear("eu-west", NOON + 10 * MINUTE)

        assert not centre.tick(NOON + 10 * MINUTE).resent

    def test_not_after_its_validity(self, pool: db.Pool) -> None:
        centre, _ = self.sent(pool)
        self.keep_ticking(centre, NOON + 29 * MINUTE)
        centre.hear("eu-west", NOON + 30 * MINUTE)

        done = centre.tick(NOON + 30 * MINUTE)

        assert not done.resent
        assert done.missed == {"lost": 1, "no_worker": 1}

    def test_not_right_after_a_time_without_ticks(self, pool: db.Pool) -> None:
        centre, slots = self.sent(pool)
        back = NOON + 15 * MINUTE
        centre.hear("eu-west", back)

        assert not centre.tick(back).resent, "another worker's heartbeat may be on its way"
        centre.hear("eu-west", back + MINUTE)
        assert not centre.tick(back + MINUTE).resent
        centre.hear("eu-west", back + 1.5 * MINUTE)
        assert centre.tick(back + 1.5 * MINUTE).resent == (slots["eu-west"],)


def test_sentinels_come_in_turn_and_one_that_nobody_ran_is_missed_after_a_spacing(
    pool: db.Pool,
) -> None:
    paged = make_endpoint("alpha/one", importance=Importance.PAGE)
    schedule = Schedule(single_per_day=0, parallel_per_day=0, tick_s=0)
    centre = Centre(pool, dispatch_fleet(endpoints=[paged], schedule=schedule))
    sent = [slot for n in range(20) for slot in centre.tick(NOON + n * MINUTE).sent]

    sentinels = [slot for slot in sent if slot.purpose is Purpose.SENTINEL]
    assert [slot.workload for slot in sentinels] == ["sentinel"] * 4
    assert sentinels[0].region != sentinels[1].region == sentinels[3].region
    assert centre.rows("select region from series where workload = 'sentinel' order by 1") == [
        {"region": region} for region in sorted(REGIONS)
    ]
    over = centre.slots("purpose = 'sentinel' and state = 'missed'")
    assert [row["run_id"] for row in over] == [slot.run_id for slot in sentinels[:3]]
    assert {row["sends"] for row in over} == {1}


class TestMissed:
    """What nobody ran is recorded at the end of its validity, with the reason."""

    def expire(self, centre: Centre, since: datetime) -> None:
        """Tick each minute of a validity, up to one minute before its end."""
        for minute in range(1, 30):
            centre.tick(since + minute * MINUTE)

    def test_a_region_whose_workers_are_all_silent_has_no_worker_and_others_are_unaffected(
        self, pool: db.Pool
    ) -> None:
        centre = only_first(pool)
        slots = {slot.region: slot for slot in centre.tick(NOON).sent}
        with pool.connection() as connection:
            connection.execute("update slot set state = 'run' where region = 'us-east'")
        centre.hear("us-east", NOON + 30 * MINUTE)
        self.expire(centre, NOON)
        assert not centre.missed("eu-west"), "not before the end of its validity"

        done = centre.tick(NOON + 30 * MINUTE)

        assert done.missed == {"no_worker": 1}
        assert centre.missed("eu-west") == {"no_worker": 1}
        assert centre.missed("us-east") == {}
        assert centre.slots("state = 'missed'")[0]["run_id"] == slots["eu-west"].run_id

    def test_a_slot_of_a_region_that_speaks_was_lost(self, pool: db.Pool) -> None:
        centre = only_first(pool)
        centre.tick(NOON)
        self.expire(centre, NOON)
        centre.hear("eu-west", NOON + 30 * MINUTE)
        centre.tick(NOON + 30 * MINUTE)

        assert centre.missed("eu-west") == {"lost": 1}
        assert centre.missed("us-east") == {"no_worker": 1}

    def test_a_slot_in_a_workers_hand_is_not_missed_until_it_lets_go(self, pool: db.Pool) -> None:
        centre = only_first(pool)
        slots = {slot.region: slot for slot in centre.tick(NOON).sent}
        self.expire(centre, NOON)
        for minute in (30, 31, 32):
            centre.hear("eu-west", NOON + minute * MINUTE, [slots["eu-west"]])
            centre.tick(NOON + minute * MINUTE)
        assert centre.missed("eu-west") == {}

        centre.hear("eu-west", NOON + 33 * MINUTE)
        centre.tick(NOON + 33 * MINUTE)

        assert centre.missed("eu-west") == {"lost": 1}

    def test_a_slot_is_missed_once(self, pool: db.Pool) -> None:
        centre = only_first(pool)
        centre.tick(NOON)
        self.expire(centre, NOON)
        for minute in (30, 31, 32):
            centre.tick(NOON + minute * MINUTE)

        assert centre.missed("eu-west") == {"no_worker": 1}

    def test_right_after_a_time_without_ticks_nothing_is_concluded_from_silence(
        self, pool: db.Pool
    ) -> None:
        centre = only_first(pool)
        slots = {slot.region: slot for slot in centre.tick(NOON).sent}
        back = NOON + 120 * MINUTE

        assert centre.tick(back).missed == {}
        centre.hear("eu-west", back + MINUTE, [slots["eu-west"]])
        assert centre.tick(back + MINUTE).missed == {}
        assert centre.tick(back + 1.5 * MINUTE).missed == {"no_worker": 1}
        assert centre.missed("us-east") == {"no_worker": 1}
        assert centre.missed("eu-west") == {}


class TestGap:
    """A time when the centre was down is planned behind, so that it shows."""

    def test_what_nobody_sent_is_missed_and_what_still_stands_is_sent(self, centre: Centre) -> None:
        centre.tick(NOON)
        back = NOON + timedelta(hours=24)
        done = centre.tick(back)

        gap = centre.slots(f"purpose = 'scheduled' and slot_at > '{NOON}' and slot_at <= '{back}'")
        per_series = Counter((row["endpoint"], row["region"], row["load"]) for row in gap)
        assert set(per_series.values()) == {8, 2}
        assert len(per_series) == 12
        still = {row["run_id"] for row in gap if row["valid_until"] > back}
        assert still == {slot.run_id for slot in done.sent}
        assert centre.states(
            f"purpose = 'scheduled' and slot_at > '{NOON}' and valid_until <= '{back}'"
        ) == {("missed", "not_sent"): len(gap) - len(still)}

    def test_at_most_the_window(self, centre: Centre) -> None:
        centre.tick(NOON)
        back = NOON + timedelta(days=30)
        for step in range(3):
            centre.tick(back + step * MINUTE)

        missed = centre.slots(f"reason = 'not_sent' and slot_at > '{NOON + timedelta(days=1)}'")
        assert min(row["slot_at"] for row in missed) >= back - timedelta(hours=72)
        assert len(missed) == pytest.approx(60 * 3, abs=12)

    def test_an_endpoint_that_is_new_has_no_past(self, centre: Centre) -> None:
        centre.tick(NOON)
        centre.change(dispatch_fleet(endpoints=["alpha/one", "gamma/new"]))
        back = NOON + timedelta(hours=24)
        centre.tick(back)

        assert {
            row["purpose"] for row in centre.slots(f"endpoint = 'gamma/new' and slot_at < '{back}'")
        } <= {"first"}
        assert len(centre.slots("endpoint = 'alpha/one' and state = 'missed'")) > 15


class TestChangedSchedule:
    """A changed file moves what is still to come and nothing that was sent."""

    def test_future_slots_that_no_longer_stand_go_and_the_others_stay(self, centre: Centre) -> None:
        centre.tick(NOON)
        kept = {row["run_id"] for row in centre.slots("endpoint = 'alpha/one'")}
        centre.change(dispatch_fleet(endpoints=["alpha/one"]))
        centre.tick(NOON + timedelta(seconds=5))

        assert {r["run_id"] for r in centre.slots("state = 'planned'")} <= kept
        assert {r["run_id"] for r in centre.slots("endpoint = 'alpha/one'")} == kept
        gone = centre.slots("endpoint <> 'alpha/one'")
        assert {(row["purpose"], row["state"]) for row in gone} == {("first", "sent")}

    def test_more_slots_a_day_are_planned_at_once(self, centre: Centre) -> None:
        centre.tick(NOON)
        fewer = len(centre.slots("state = 'planned'"))
        often = replace(centre.fleet.schedule, single_per_day=96)
        centre.change(replace(centre.fleet, schedule=often))
        centre.tick(NOON + timedelta(seconds=5))

        assert len(centre.slots("state = 'planned'")) > 3 * fewer

    def test_a_changed_validity_reaches_what_was_not_sent(self, centre: Centre) -> None:
        centre.tick(NOON)
        centre.change(replace(centre.fleet, schedule=replace(LIVE, validity_s=60)))
        centre.tick(NOON + timedelta(seconds=5))

        spans = {row["valid_until"] - row["slot_at"] for row in centre.slots("state = 'planned'")}
        assert spans == {MINUTE}


class TestLedger:
    """What was sent a UTC day is reckoned, and the cap declines the rest."""

    COST = 0.002
    """Of a single standard run at a dollar a million tokens each way."""

    def test_slots_over_the_cap_are_declined_and_counted(self, pool: db.Pool) -> None:
        centre = only_first(pool, spending=Spending(usd_per_day=self.COST * 1.5))

        done = centre.tick(NOON)

        assert len(done.sent) == 1
        assert done.missed == {"declined:budget": 1}
        declined = centre.slots("state = 'missed'")[0]
        assert declined["reason"] == "declined:budget"
        assert centre.missed(declined["region"]) == {"declined:budget": 1}

    def test_confirming_probes_keep_within_the_cap_as_all_else(self, pool: db.Pool) -> None:
        centre = only_first(pool, spending=Spending(usd_per_day=self.COST * 3))
        centre.tick(NOON)
        with pool.connection() as connection:
            connection.execute(
                "insert into slot (run_id, endpoint, region, workload, load, purpose, slot_at,"
                " valid_until) select gen_random_uuid(), 'alpha/one', 'eu-west', 'standard',"
                " 'single', 'confirm', %(now)s, %(now)s + interval '30 minutes'"
                " from generate_series(1, 3)",
                {"now": NOON},
            )

        done = centre.tick(NOON + MINUTE)

        assert [slot.purpose for slot in done.sent] == [Purpose.CONFIRM]
        assert centre.states("purpose = 'confirm'") == {
            ("sent", None): 1,
            ("missed", "declined:budget"): 2,
        }

    def test_the_day_begins_at_midnight_utc(self, pool: db.Pool) -> None:
        often = Schedule(single_per_day=24, parallel_per_day=0, tick_s=0)
        fleet = dispatch_fleet(
            endpoints=["alpha/one"],
            regions=["eu-west"],
            schedule=often,
            spending=Spending(usd_per_day=self.COST * 10),
        )
        centre = Centre(pool, fleet)
        start = datetime(2026, 3, 2, tzinfo=UTC)
        sent: Counter[int] = Counter()
        for hour in range(48):
            for part in range(4):
                done = centre.tick(start + hour * 60 * MINUTE + part * 15 * MINUTE)
                sent[hour // 24] += len(done.sent)

        assert sent == {0: 10, 1: 10}

    def test_a_slot_that_is_sent_twice_is_reckoned_twice(self, pool: db.Pool) -> None:
        centre = only_first(pool, spending=Spending(usd_per_day=self.COST * 2))
        centre.tick(NOON)
        for minute in range(1, 11):
            centre.hear("eu-west", NOON + minute * MINUTE)
            done = centre.tick(NOON + minute * MINUTE)

        assert not done.resent
        assert centre.states() == {("sent", None): 2}

    def test_what_a_worker_declined_is_not_spent(self, pool: db.Pool) -> None:
        centre = only_first(pool, spending=Spending(usd_per_day=self.COST * 2))
        centre.tick(NOON)
        with pool.connection() as connection:
            connection.execute("update slot set state = 'missed', reason = 'declined:no_key'")
            connection.execute(
                "insert into slot (run_id, endpoint, region, workload, load, purpose, slot_at,"
                " valid_until) values (%s, 'alpha/one', 'eu-west', 'standard', 'single', 'manual',"
                " %s, %s)",
                (uuid4(), NOON, NOON + 30 * MINUTE),
            )

        assert len(centre.tick(NOON + MINUTE).sent) == 1

    def test_the_demo_spends_nothing(self, database_url: str) -> None:
        with migrated_pool(database_url, simulated=True) as pool:
            fleet = dispatch_fleet(simulated=True, spending=Spending(usd_per_day=0.0))
            centre = Centre(pool, fleet)
            centre.tick(NOON)
            assert centre.tick(NOON + MINUTE).missed == {}
            assert centre.states("purpose = 'first'") == {("sent", None): 6}
