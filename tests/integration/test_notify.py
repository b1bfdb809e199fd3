"""Telling people over real sockets from a real store: once each, whatever is away or killed."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from datetime import datetime, timedelta

import pytest
from support.centre import make_fleet, migrated_pool
from support.incidents import HOUR, MINUTE, NOON, insert_incident, make_incident, make_part
from support.receiving import receiving
from support.stack import free_port
from support.tls import Authority

from aggregator.db import queries
from aggregator.incident_rows import Incidents
from aggregator.notify.book import book
from aggregator.notify.courier import Courier
from aggregator.notify.deliver import STABLE_KEYS, parts_of, service_of
from aggregator.notify.send import GIVEN_UP_AFTER, Means, send_due
from aggregator.rows import one_moment
from aggregator.silences import MOST
from aggregator.status import read_status
from pacewatch.words.channel import Centre, Channel
from pacewatch.words.fleet import Schedule

OPS = Channel(name="ops", url_env="OPS_URL")
SECRET = "hunter2hunter2"


@pytest.fixture(scope="module")
def courier():
    """One child for all: it is started where proxies and credentials are in the environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
            patch.setenv(name, f"http://me:{SECRET}@127.0.0.1:9")
        with Courier(longest_s=20) as courier:
            courier.look_at("json://localhost")
            yield courier


@pytest.fixture
def pool(database_url):
    with migrated_pool(database_url) as pool:
        yield pool


class Desk:
    """A central worker's hand that tells, at a time of the test's own."""

    def __init__(self, pool, courier, *channels, **urls):
        self.pool = pool
        self.now = NOON
        centre = Centre(url="https://pacewatch.example")
        self.fleet = make_fleet(channels=channels or (OPS,), centre=centre, schedule=Schedule())
        self.means = Means(
            fleet=self.fleet, environment=urls, courier=courier, clock=lambda: self.now
        )

    def tell(self, now=None):
        self.now = now or self.now
        book(self.pool, self.fleet, self.now)
        return send_due(self.pool, self.means)

    def do(self, query, *values):
        with self.pool.connection() as connection:
            cursor = connection.execute(query, values)
            return cursor.fetchall() if cursor.description else []

    def open(self, *parts, **rest):
        with self.pool.connection() as connection:
            return insert_incident(connection, make_incident(*parts, **rest))

    def close(self, at, incident=None):
        self.do("update incident set state = 'closed', eased_at = %s, ended_at = %s", at, at)

    def notices(self):
        return self.do("select * from notice order by notice_id")

    def timeline(self):
        return [row["text"] for row in self.do("select text from incident_event order by event_id")]


def url_of(receiver, scheme="json"):
    return f"{scheme}://me:{SECRET}@127.0.0.1:{receiver.port}/in/{SECRET}"


def test_the_beginning_and_the_end_of_an_incident_are_told_once_each(pool, courier):
    with receiving() as receiver:
        desk = Desk(pool, courier, OPS_URL=url_of(receiver))
        number = desk.open(make_part(), make_part("groq/llama-3.3-70b"), simulated=True)
        for minute in range(3):
            desk.tell(NOON + minute * MINUTE)
        desk.close(NOON + HOUR)
        for minute in range(2):
            desk.tell(NOON + HOUR + minute * MINUTE)

    begun, ended = receiver.got
    assert begun["title"].startswith("SIMULATED groq, 2 endpoints: output 2.0 times slower since")
    assert f"https://pacewatch.example/incidents/{number}\n" in begun["message"]
    assert (begun["type"], ended["type"]) == ("failure", "success")
    assert ended["title"].startswith("SIMULATED Over: groq, 2 endpoints: output as usual again")
    assert desk.timeline() == ["told ops: opened", "told ops: closed"]


def test_a_service_that_knows_alerts_by_a_key_is_told_the_end_under_the_same_key(pool, courier):
    with receiving() as receiver:
        url = f"goalert://127.0.0.1:{receiver.port}/{UUID}"
        desk = Desk(pool, courier, OPS_URL=url)
        desk.open()
        desk.tell()
        desk.close(NOON + HOUR)
        desk.tell(NOON + HOUR)

    begun, ended = receiver.got
    assert begun["dedup"] == ended["dedup"]
    assert begun["dedup"].startswith("pacewatch-")
    assert ("action" in begun, ended["action"]) == (False, "close")


UUID = "7a5e1c1c-2a1f-4e0b-9a3a-0a1b2c3d4e5f"
TOKEN = "abcdefghijklmnopqrstuvwxyz012345"
KEYED = {
    "firehydrant": TOKEN,
    "goalert": f"host/{UUID}",
    "goalerts": f"host/{UUID}",
    "ilert": TOKEN,
    "incidentio": f"01GW2G3V0S59R238FAHPDS1R66/{TOKEN}{TOKEN}",
    "opsimate": f"{TOKEN}@host",
    "opsimates": f"{TOKEN}@host",
    "pagerduty": f"{TOKEN}@{TOKEN}",
    "pagertree": "int_0123456789",
    "signl4": TOKEN,
    "splunk": f"route@{UUID}",
    "squadcast": f"{TOKEN}01234567",
    "victorops": f"route@{UUID}",
}


@pytest.mark.filterwarnings("ignore:'imghdr':DeprecationWarning")  # of what apprise loads
def test_every_service_that_knows_alerts_by_a_key_takes_ours():
    given = {}
    for scheme, rest in KEYED.items():
        service = service_of(parts_of(f"{scheme}://{rest}"), "pacewatch-12-1")
        given[scheme] = (getattr(service, STABLE_KEYS[scheme]), service.action)

    assert given == dict.fromkeys(STABLE_KEYS, ("pacewatch-12-1", "map"))


def test_a_receiver_that_is_away_gets_all_when_it_is_back_in_order(pool, courier):
    port = free_port()
    desk = Desk(pool, courier, OPS_URL=f"json://me:{SECRET}@127.0.0.1:{port}/{SECRET}")
    desk.open()

    assert desk.tell().failed == {"ops": "the connection was refused"}
    pauses = [desk.notices()[0]["due_at"] - NOON]
    desk.tell(NOON + timedelta(seconds=6))
    pauses.append(desk.notices()[0]["due_at"] - desk.now)
    desk.close(NOON + HOUR)
    desk.tell(NOON + HOUR)
    pauses.append(desk.notices()[0]["due_at"] - desk.now)
    with receiving(port) as receiver:
        desk.tell(NOON + 2 * HOUR)
        desk.tell(NOON + 2 * HOUR)

    assert pauses == [timedelta(seconds=s) for s in (5, 10, 20)]
    assert [title.split(":")[0] for title in receiver.titles] == ["groq/gpt-oss-120b", "Over"]
    assert "By now: over since" in receiver.got[0]["message"]
    assert "Told late: this was due at 12:00 UTC" in receiver.got[0]["message"]


def test_a_broken_channel_holds_up_no_other_and_is_given_up_after_a_day(pool, courier, caplog):
    with receiving() as broken, receiving() as sound:
        broken.status = 500
        other = Channel(name="other", url_env="OTHER_URL")
        unset = Channel(name="unset", url_env="UNSET_URL")
        urls = {"OPS_URL": url_of(broken), "OTHER_URL": url_of(sound)}
        desk = Desk(pool, courier, OPS, other, unset, **urls)
        desk.open()
        first = desk.tell()
        desk.tell(NOON + GIVEN_UP_AFTER)
        broken.status = 200
        desk.close(NOON + 25 * HOUR)
        desk.tell(NOON + 25 * HOUR)

    assert first.failed == {"ops": "it answered 500", "unset": "UNSET_URL is not set"}
    assert len(sound.got) == 3, "the beginning, a reminder, the end"
    assert len(broken.got) == 2, "what was never told has no end"
    given_up = {row["channel"]: row["error"] for row in desk.notices() if row["given_up_at"]}
    assert given_up == first.failed
    assert "ops could not be told in 24 h (opened): it answered 500" in desk.timeline()
    with one_moment(pool) as connection:
        problems = read_status(connection, desk.fleet, desk.now).problems
    assert (
        "channel ops: 1 notice of incidents not delivered, the first for 25 h: it answered 500"
        in problems
    )
    held = json.dumps([desk.notices(), desk.timeline()], default=str)
    logged = "".join(str(vars(record)) for record in caplog.records)
    assert "notice.given_up" in logged
    assert SECRET not in held + logged


def test_what_hangs_is_left_after_a_bounded_time(pool):
    done = threading.Event()
    with receiving() as receiver, Courier(longest_s=1) as courier:
        receiver.before_answer = lambda: done.wait(60)
        desk = Desk(pool, courier, OPS_URL=url_of(receiver) + "?rto=60")
        desk.open()
        try:
            assert desk.tell().failed == {"ops": "no answer in 1 s"}
        finally:
            done.set()
        receiver.before_answer = lambda: None
        desk.do("update notice set sending_at = sending_at - interval '2 seconds'")
        assert desk.tell(NOON + MINUTE).sent == 1

    first, second = receiver.got
    assert "Perhaps told already" not in first["message"]
    assert "Perhaps told already" in second["message"]


def test_a_redirect_is_not_followed(pool, courier):
    with receiving() as receiver:
        receiver.status = 307
        desk = Desk(pool, courier, OPS_URL=url_of(receiver))
        desk.open()

        assert desk.tell().failed == {"ops": "it answered 307"}
    assert len(receiver.got) == 1


def test_a_service_behind_an_authority_of_one_s_own_is_told_where_its_file_is_named(
    pool, courier, tmp_path, monkeypatch
):
    authority = Authority(tmp_path)
    with receiving(certificate=authority.certificate("localhost")) as receiver:
        url = f"jsons://localhost:{receiver.port}/"
        desk = Desk(pool, courier, OPS_URL=url)
        desk.open()
        assert desk.tell().failed == {"ops": "its certificate is not trusted"}

        monkeypatch.setenv("REQUESTS_CA_BUNDLE", authority.ca_file)
        with Courier() as trusting:
            assert Desk(pool, trusting, OPS_URL=url).tell(NOON + MINUTE).sent == 1
    assert len(receiver.got) == 1


def test_two_central_workers_tell_each_notice_once(pool, courier):
    channels = [Channel(name=f"c{n}", url_env="OPS_URL") for n in range(3)]
    with receiving() as receiver, Courier() as second:
        desks = [Desk(pool, one, *channels, OPS_URL=url_of(receiver)) for one in (courier, second)]
        for n in range(4):
            desks[0].open(make_part(f"groq/m{n}"))
        together = threading.Barrier(2)

        def work(desk):
            for _ in range(4):
                together.wait(30)
                desk.tell()

        threads = [threading.Thread(target=work, args=(desk,)) for desk in desks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)

    assert Counter(Counter(receiver.titles).values()) == {3: 4}
    assert {row["tries"] for row in desks[0].notices()} == {1}


KILLED = """
import sys
from datetime import UTC, datetime
from support.centre import make_fleet
from aggregator.db import open_pool
from aggregator.notify.teller import Teller
from pacewatch.words.channel import Channel

fleet = make_fleet(channels=(Channel(name="ops", url_env="OPS_URL"),))
with open_pool(sys.argv[1]) as pool:
    Teller(pool, {"OPS_URL": sys.argv[2]}).tell(fleet)
"""


def test_a_worker_killed_between_the_answer_and_its_note_tells_again_as_such_under_the_same_key(
    pool, courier, database_url
):
    done = threading.Event()
    with receiving() as receiver:
        desk = Desk(pool, courier, OPS_URL=url_of(receiver))
        desk.open()
        receiver.before_answer = lambda: done.wait(60)
        words = [sys.executable, "-c", KILLED, database_url, url_of(receiver) + "?rto=60"]
        folders = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        with subprocess.Popen(words, env=folders) as process:
            assert receiver.came.wait(60)
            process.send_signal(signal.SIGKILL)
        done.set()
        receiver.before_answer = lambda: None
        desk.do("update notice set due_at = %s", NOON)
        end = datetime.now(NOON.tzinfo) + timedelta(seconds=30)
        while not desk.tell().sent:  # until the store has noticed that the killed one is gone
            assert datetime.now(NOON.tzinfo) < end

        assert desk.tell().sent == 0

    first, second = receiver.got
    assert "Perhaps told already" not in first["message"]
    assert "Perhaps told already" in second["message"]
    assert receiver.keys[0].startswith("pacewatch-")
    assert receiver.keys[0] == receiver.keys[1]
    assert desk.timeline() == ["told ops: opened, perhaps for the second time"]
    (notice,) = desk.notices()
    assert (notice["sent_at"] is not None, notice["sending_at"]) == (True, None)


def test_what_a_service_refused_is_told_later_as_if_for_the_first_time(pool, courier):
    with receiving() as receiver:
        receiver.status = 503
        desk = Desk(pool, courier, OPS_URL=url_of(receiver))
        desk.open()
        assert desk.tell().failed == {"ops": "it answered 503"}
        receiver.status = 200
        assert desk.tell(NOON + MINUTE).sent == 1
        desk.close(NOON + HOUR)
        desk.tell(NOON + HOUR)

    assert not any("Perhaps told already" in one["message"] for one in receiver.got)
    assert receiver.keys[0] == receiver.keys[1] != receiver.keys[2]


def test_a_notice_that_another_worker_has_taken_over_is_left_to_it(pool, courier):
    with receiving() as receiver:
        desk = Desk(pool, courier, OPS_URL=url_of(receiver))
        desk.open()
        book(pool, desk.fleet, NOON)
        claimed = {"now": NOON, "channels": ["ops"]}
        with pool.connection() as connection:  # it pauses before it holds the row
            row = connection.execute(queries("notify")["claim_notice"], claimed).fetchone()
        assert desk.tell().sent == 0
        desk.do("update notice set sending_at = sending_at - interval '3 seconds'")
        assert desk.tell().sent == 1
        held = {"notice": row["notice_id"], "sending_at": row["sending_at"]}
        with pool.connection() as connection:
            assert connection.execute(queries("notify")["hold_notice"], held).fetchone() is None

    assert len(receiver.got) == 1


def test_a_silence_is_heeded_however_many_were_made_after_it(pool, courier):
    with receiving() as receiver:
        desk = Desk(pool, courier, OPS_URL=url_of(receiver))
        desk.do(
            "insert into silence (endpoints, starts_at, ends_at, why)"
            " select case n when 0 then '*' else 'another/' || n end, %s, %s, 'w'"
            " from generate_series(0, %s) as n",
            NOON - HOUR,
            NOON + HOUR,
            MOST,
        )
        desk.open(make_part())

        desk.tell(NOON)

    assert desk.notices() == []


def test_a_silence_holds_back_and_lets_out_what_lasts(pool, courier):
    with receiving() as receiver:
        desk = Desk(pool, courier, OPS_URL=url_of(receiver))
        desk.do(
            "insert into silence (endpoints, starts_at, ends_at, why)"
            " values ('groq/*', %s, %s, %s)",
            NOON - MINUTE,
            NOON + HOUR,
            "a planned migration",
        )
        number = desk.open()
        for minute in range(3):
            desk.tell(NOON + minute * MINUTE)
        assert receiver.got == []
        desk.tell(NOON + HOUR)

    assert len(receiver.got) == 1
    assert f"Incident {number}" in receiver.got[0]["message"]


def test_what_nobody_acknowledged_is_reminded_of_and_what_grew_worse_is_told(pool, courier):
    with receiving() as receiver:
        desk = Desk(pool, courier, OPS_URL=url_of(receiver))
        desk.open(blame="region_path")
        desk.tell()
        desk.do("update incident set class = 'provider'")
        desk.tell(NOON + HOUR)
        desk.tell(NOON + 5 * HOUR)
        desk.do("update incident set acknowledged_at = %s", NOON + 6 * HOUR)
        desk.tell(NOON + 10 * HOUR)

    assert [title.partition(":")[0] for title in receiver.titles] == [
        "groq/gpt-oss-120b",
        "Worse",
        "Still",
    ]
    assert "New: it is the whole provider now, it pages now" in receiver.got[1]["message"]


def test_what_became_part_of_another_incident_is_not_told_as_usual_again(pool, courier):
    with receiving() as receiver:
        desk = Desk(pool, courier, OPS_URL=url_of(receiver))
        number = desk.open()
        desk.tell()
        desk.do("delete from incident_endpoint")
        with pool.connection() as connection:
            ended = Incidents(connection, NOON + HOUR)
            ended.close(number, "part of incident 14", unusual="part")
        desk.tell(NOON + HOUR)

    assert receiver.titles[1] == "Over: groq: part of incident 14; class provider"


def test_a_channel_that_the_file_no_longer_names_waits_for_nothing(pool, courier):
    gone = Desk(pool, courier, OPS_URL=f"json://127.0.0.1:{free_port()}")
    gone.open()
    gone.tell()

    desk = Desk(pool, courier, Channel(name="new", url_env="NEW_URL"))
    desk.tell(NOON + MINUTE)

    errors = {row["channel"]: row["error"] for row in desk.notices()}
    assert errors == {
        "ops": "the file names no such channel any more",
        "new": "NEW_URL is not set",
    }
