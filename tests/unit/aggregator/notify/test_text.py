"""What a message says, word for word."""

import pytest
from support.incidents import HOUR, MINUTE, NOON, make_incident, make_part

from aggregator.notify.grade import Grade, Kind
from aggregator.notify.text import _ENDED, _NEXT, _PLAIN, message_of, trial_message
from pacewatch.words.endpoint import Importance
from pacewatch.words.verdict import SLOW_FIGURES, Blame, Trouble, UnusualEnd

BOARD = "https://pacewatch.example"
MANY = tuple(make_part(f"groq/model-{n}", ratio=1.6 + n / 10) for n in range(10))
FAILING = make_part(trouble=Trouble.FAILURES, ratio=None)

MESSAGES = {
    "opened": (make_incident(), Kind.OPENED, {}),
    "opened_simulated": (make_incident(simulated=True), Kind.OPENED, {}),
    "opened_many": (make_incident(*MANY), Kind.OPENED, {}),
    "opened_of_which_one_has_eased": (
        make_incident(make_part(), make_part("groq/m", eased_at=NOON)),
        Kind.OPENED,
        {},
    ),
    "opened_late_and_eased": (
        make_incident(state="eased", eased_at=NOON - 5 * MINUTE),
        Kind.OPENED,
        {"made_at": NOON - 11 * MINUTE},
    ),
    "opened_late_and_unheard": (
        make_incident(state="eased", eased_at=NOON - 5 * MINUTE, unusual_end=UnusualEnd.UNHEARD),
        Kind.OPENED,
        {},
    ),
    "opened_yesterday": (
        make_incident(since=NOON - 20 * HOUR, blame=Blame.MODEL, trouble=Trouble.GONE),
        Kind.OPENED,
        {},
    ),
    "opened_region_path": (
        make_incident(
            make_part(trouble=Trouble.FIRST_TOKEN, ratio=5.12),
            region="eu-west",
            trouble=Trouble.FIRST_TOKEN,
            blame=Blame.REGION_PATH,
        ),
        Kind.OPENED,
        {},
    ),
    "opened_prober": (
        make_incident(
            provider="",
            region="eu-west",
            trouble=Trouble.TIMING,
            blame=Blame.PROBER,
            importance=Importance.NOTIFY,
            speaks_against=(),
        ),
        Kind.OPENED,
        {},
    ),
    "opened_ours_without_ratio": (
        make_incident(
            make_part(ratio=None),
            make_part("cerebras/gpt-oss-120b", ratio=None),
            provider="",
            blame=Blame.OURS,
        ),
        Kind.OPENED,
        {},
    ),
    "opened_without_endpoints": (
        make_incident(parts=(), trouble=Trouble.QUOTA, blame=Blame.MODEL),
        Kind.OPENED,
        {},
    ),
    "worse": (
        make_incident(make_part(), FAILING, trouble=Trouble.FAILURES),
        Kind.WORSE,
        {"news": Grade.FAILS | Grade.PAGES},
    ),
    "closed_into_another": (
        make_incident(parts=(), state="closed", ended_at=NOON - MINUTE),
        Kind.CLOSED,
        {"ended_as": "part of incident 14"},
    ),
    "closed_accepted": (
        make_incident(
            state="closed",
            eased_at=NOON - MINUTE,
            ended_at=NOON - MINUTE,
        ),
        Kind.CLOSED,
        {"ended_as": "its level is the usual one now"},
    ),
    "opened_perhaps_told_already": (make_incident(), Kind.OPENED, {"repeats": True}),
    "reminder": (make_incident(since=NOON - 5 * HOUR), Kind.REMINDER, {}),
    "closed": (
        make_incident(
            state="closed",
            since=NOON - 30 * HOUR,
            eased_at=NOON - 2 * HOUR,
            ended_at=NOON - MINUTE,
        ),
        Kind.CLOSED,
        {},
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_reads_well(golden, name):
    incident, kind, rest = MESSAGES[name]

    said = message_of(incident, kind, NOON, **({"board_url": BOARD} | rest))

    assert len(said.title) < 200
    golden(f"notify/{name}.txt", f"{said.title}\n{said.body}\n")


def test_without_a_known_address_of_the_board_no_link_is_made_up():
    assert "\nIncident 12\n" in message_of(make_incident(), Kind.OPENED, NOON).body


def test_a_test_says_that_nothing_is_wrong():
    said = trial_message("ops", simulated=True, board_url=BOARD)

    assert said.title == "SIMULATED Pacewatch: a test of channel ops"
    assert said.body.splitlines() == [
        "Nothing is wrong; incidents are told here.",
        f"Board: {BOARD}",
    ]


def test_every_trouble_and_every_class_has_its_words():
    assert set(SLOW_FIGURES) | set(_PLAIN) == set(_ENDED) == set(Trouble)
    assert set(_NEXT) == set(Blame)
