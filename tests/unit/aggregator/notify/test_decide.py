"""Whom to tell what, and when not."""

from dataclasses import replace
from datetime import timedelta

import pytest
from support.incidents import HOUR, MINUTE, NOON, make_incident, make_part

from aggregator.notify.decide import Told, due, gets, silence_of, withdrawn
from aggregator.notify.grade import Grade, Kind, grade_of, key_of
from aggregator.silences import Silence
from pacewatch.words.channel import Channel
from pacewatch.words.endpoint import Importance
from pacewatch.words.verdict import Blame, Trouble

OPS = Channel(name="ops", url_env="OPS_URL")
ALL = Grade.WIDE | Grade.PAGES


def told(kind=Kind.OPENED, *, at=NOON, grade=ALL, waits=False, given_up=False, number=1):
    return Told(id=number, kind=kind, grade=grade, made_at=at, waits=waits, given_up=given_up)


def kind_due(incident=None, *before, channel=OPS, now=NOON, silenced=False, hour_s=3_600):
    incident = incident or make_incident()
    return due(incident, channel, before, now, silenced=silenced, hour_s=hour_s)


def test_an_incident_is_told_once_it_is_confirmed():
    assert kind_due() is Kind.OPENED
    assert kind_due(None, told()) is None


@pytest.mark.parametrize("state", ["suspected", "cleared", "unconfirmed", "closed"])
def test_what_is_not_open_is_not_told(state):
    assert kind_due(make_incident(state=state)) is None


def test_what_waits_for_its_channel_is_not_told_twice():
    waits = told(waits=True, grade=Grade(0))

    assert kind_due(None, waits, now=NOON + 30 * HOUR) is None


@pytest.mark.parametrize(
    ("channel", "incident", "is_told"),
    [
        (OPS, make_incident(importance=Importance.WATCH), False),
        (OPS, make_incident(importance=Importance.NOTIFY, blame=Blame.QUOTA), True),
        (replace(OPS, only_pages=True), make_incident(), True),
        (replace(OPS, only_pages=True), make_incident(importance=Importance.NOTIFY), False),
        (replace(OPS, only_pages=True), make_incident(blame=Blame.REGION_PATH), False),
        (replace(OPS, only_pages=True), make_incident(blame=Blame.MODEL), True),
        (replace(OPS, classes=frozenset({Blame.OURS})), make_incident(), False),
        (replace(OPS, classes=frozenset({Blame.OURS})), make_incident(blame=Blame.OURS), True),
    ],
)
def test_a_channel_gets_what_it_is_for(channel, incident, is_told):
    assert gets(channel, incident) is is_told
    assert (kind_due(incident, channel=channel) is Kind.OPENED) is is_told


def test_what_begins_to_fail_or_to_page_is_told_as_worse_once():
    slow = told(grade=grade_of(make_incident(blame=Blame.REGION_PATH)))
    failing = make_incident(make_part(trouble=Trouble.FAILURES, ratio=None))

    assert kind_due(make_incident(), slow) is Kind.WORSE
    assert kind_due(failing, told()) is Kind.WORSE
    assert kind_due(failing, told(), told(Kind.WORSE, grade=ALL | Grade.FAILS)) is None


def test_what_grew_less_bad_is_not_told():
    assert kind_due(make_incident(blame=Blame.QUOTA), told()) is None


def test_a_reminder_comes_after_its_hours_which_the_demo_scales():
    assert kind_due(None, told(), now=NOON + 4 * HOUR - MINUTE) is None
    assert kind_due(None, told(), now=NOON + 4 * HOUR) is Kind.REMINDER
    assert kind_due(None, told(), now=NOON + timedelta(seconds=80), hour_s=20) is Kind.REMINDER
    again = told(Kind.REMINDER, at=NOON + 4 * HOUR)
    assert kind_due(None, told(), again, now=NOON + 7 * HOUR) is None


@pytest.mark.parametrize(
    "incident",
    [make_incident(acknowledged_at=NOON), make_incident(state="eased", eased_at=NOON)],
)
def test_nobody_is_reminded_of_what_is_acknowledged_or_has_eased(incident):
    assert kind_due(incident, told(), now=NOON + 9 * HOUR) is None


def test_a_channel_without_reminders_gets_none():
    assert kind_due(None, told(), channel=replace(OPS, remind_h=0), now=NOON + 99 * HOUR) is None


def test_the_end_is_told_once_to_whoever_was_told_of_the_beginning():
    over = make_incident(state="closed", ended_at=NOON, importance=Importance.WATCH)

    assert kind_due(over, told()) is Kind.CLOSED
    assert kind_due(over, told(), silenced=True) is Kind.CLOSED, "it wakes nobody"
    assert kind_due(over, told(waits=True)) is Kind.CLOSED, "after the one that waits"
    assert kind_due(over, told(given_up=True)) is None
    assert kind_due(over, told(), told(Kind.CLOSED)) is None


def silence(endpoints="*", region="", number=1, until=NOON + HOUR):
    return Silence(
        silence_id=number,
        endpoints=endpoints,
        region=region,
        starts_at=NOON,
        ends_at=until,
        why="planned",
        made_by="",
    )


@pytest.mark.parametrize(
    ("incident", "silences", "held_by"),
    [
        (make_incident(), [silence("cerebras/*")], None),
        (make_incident(), [silence("groq/*")], 1),
        (make_incident(), [silence("*/gpt-oss-120b")], 1),
        (make_incident(), [silence("*", "eu-west")], None),
        (make_incident(region="eu-west"), [silence("*", "eu-west")], 1),
        (make_incident(region="eu-west"), [silence("groq/*", "us-east")], None),
        (make_incident(make_part(), make_part("groq/b")), [silence("groq/b")], None),
        (
            make_incident(make_part(eased_at=NOON), make_part("groq/b")),
            [silence("groq/b")],
            1,
        ),
        (make_incident(parts=()), [silence("groq/*")], None),
        (make_incident(parts=()), [silence()], 1),
        (make_incident(), [silence(), silence(number=2, until=NOON + 2 * HOUR)], 2),
    ],
)
def test_a_silence_holds_for_an_incident_that_it_covers_whole(incident, silences, held_by):
    found = silence_of(incident, silences)

    assert (found and found.silence_id) == held_by


def test_what_is_silenced_is_told_when_the_silence_ends():
    assert kind_due(silenced=True) is None
    assert kind_due(None, told(), now=NOON + 9 * HOUR, silenced=True) is None
    assert kind_due() is Kind.OPENED


def test_what_waits_is_withdrawn_by_a_silence_and_reminders_by_an_answer():
    waiting = [told(kind, waits=True, number=n) for n, kind in enumerate(Kind)]
    over = make_incident(state="closed")

    assert withdrawn(make_incident(), waiting, silenced=True) == (0, 1, 2)
    assert withdrawn(make_incident(), waiting, silenced=False) == ()
    assert withdrawn(make_incident(acknowledged_at=NOON), waiting, silenced=False) == (2,)
    assert withdrawn(over, waiting, silenced=True) == (2,)
    assert withdrawn(over, [told(Kind.REMINDER)], silenced=True) == ()


def test_of_two_centres_no_two_incidents_have_one_key():
    later = make_incident(opened_at=NOON + MINUTE)

    assert key_of(make_incident()) != key_of(later)
    assert key_of(make_incident()) == key_of(make_incident(state="closed"))
