"""`incidents` and `silence` against a served centre whose store a judge has written."""

import json
import os
import pwd

import pytest
from support.believed import STORY, add_incident, believe, forget, storied
from support.boards import board_fleet, filled_pool
from support.centre import served
from support.records import NOON
from support.servers import fresh_database
from typer.testing import CliRunner

from aggregator.regions import Scope, issue_token
from pacewatch.cli.app import app
from pacewatch.words.errors import PacewatchError, SettingsError


@pytest.fixture(scope="module")
def pool(postgres_url):
    with fresh_database(postgres_url) as url, filled_pool(url) as pool:
        yield pool


@pytest.fixture(scope="module")
def token(pool):
    with pool.connection() as connection:
        return issue_token(connection, "", Scope.ADMIN, NOON)


@pytest.fixture(scope="module")
def address(pool):
    with served(pool, board_fleet(), clock=lambda: NOON) as address:
        yield address


@pytest.fixture
def ids(pool):
    with pool.connection() as connection:
        forget(connection)
        return believe(connection, NOON)


@pytest.fixture
def call(address, token, tmp_path):
    def call(*words, **environment):
        variables = {
            "PACEWATCH_AGGREGATOR_URL": address,
            "PACEWATCH_ADMIN_TOKEN": token,
            "PACEWATCH_STATE": str(tmp_path),
            "LOGNAME": "night",
            "COLUMNS": "120",
        }
        return CliRunner().invoke(app, [*map(str, words)], env=variables | environment)

    return call


def test_the_open_incidents_are_listed_and_their_being_there_is_the_exit_code(call, ids):
    found, whole = call("incidents"), call("incidents", "--all")

    assert (found.exit_code, whole.exit_code) == (1, 1)
    assert "groq/gpt-oss-120b: output 2.1 times slower than usual" in found.output
    assert "region path" not in found.output
    assert "region path" in whole.output
    assert "closed" in whole.output
    assert call("incidents", "list", "--all").output == whole.output


def test_without_an_open_incident_the_exit_code_is_nothing(call, pool, ids):
    with pool.connection() as connection:
        connection.execute("update incident set state = 'closed', ended_at = now()")
    found = call("incidents")

    assert found.exit_code == 0
    assert "No incident is open." in found.output


def test_one_incident_is_shown_whole(call, ids):
    found = call("incidents", "show", ids["halved"])
    document = json.loads(call("incidents", "show", ids["halved"], "--json").output)

    assert found.exit_code == 0
    for text in (
        f"Incident {ids['halved']}: groq/gpt-oss-120b: output 2.1 times slower than usual",
        "2.1 (1.9\u20132.3)",
        "for      slow in two of the two regions",
        "against  connect times are as always",
        "2026-12-02 11:15:00",
    ):
        assert text in found.output
    assert ids["halved"] == document["incident"]


def test_the_timeline_of_an_incident_is_shown_from_the_first_to_the_last(call, pool, ids):
    with pool.connection() as connection:
        number = add_incident(connection, storied(NOON), NOON)
    shown = call("incidents", "show", number, COLUMNS="200").output.partition("Timeline, UTC")[2]

    rows = [line.split(None, 3) for line in shown.splitlines() if line.startswith("2026-12-02 ")]
    assert [(kind, text.strip()) for _, _, kind, text in rows] == list(STORY)
    assert (rows[0][1], rows[-1][1]) == ("11:10:00", "12:00:00")


def test_what_is_heard_no_more_is_not_told_to_be_as_usual(call, pool, ids):
    with pool.connection() as connection:
        connection.execute(
            "update incident set state = 'eased', eased_at = %s, unusual_end = 'unheard'"
            " where incident_id = %s",
            (NOON, ids["halved"]),
        )
    found = call("incidents", "show", ids["halved"], COLUMNS="200")

    assert "nothing was heard of it any more, 60 min" in found.output
    assert "as usual again" not in found.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        *(
            (("incidents", word, 99), "ID: there is no incident 99 (pacewatch incidents --all ")
            for word in ("show", "ack", "accept")
        ),
        (("evidence", "--incident", 99), "--incident: there is no incident 99 (pacewatch "),
        (("evidence", "no/no"), 'ENDPOINT: "no/no" is not known (pacewatch board lists those '),
        (("silence", "end", 99), "ID: there is no silence 99 (pacewatch silence list --all "),
    ],
)
def test_what_is_not_there_is_told_by_the_name_it_was_given_under(call, ids, words, sentence):
    found = call(*words)

    assert isinstance(found.exception, SettingsError)
    assert str(found.exception).startswith(sentence)


@pytest.mark.parametrize(
    "words",
    [("incidents", "show", "x"), ("incidents", "ack", 0), ("evidence", "--incident", "x")],
)
def test_what_is_no_number_is_wrong_use(call, words):
    found = call(*words)

    assert found.exit_code == 2
    assert f'"{words[-1]}" is no number of an incident (allowed: ' in " ".join(found.output.split())


def test_an_acknowledgement_bears_the_login_name_and_is_shown(call, ids):
    found = call("incidents", "ack", ids["halved"])

    assert found.exit_code == 0
    assert "open, acknowledged" in found.output
    assert "acknowledged by night" in found.output


def test_what_is_not_open_cannot_be_accepted(call, ids):
    found = call("incidents", "accept", ids["path"], "--by", "me")

    assert isinstance(found.exception, PacewatchError)
    assert f"incident {ids['path']}: is closed" in str(found.exception)


def test_a_silence_is_begun_listed_and_ended(call, ids):
    begun = call("silence", "groq/*", "--for", "90min", "--why", "their maintenance")
    listed = json.loads(call("silence", "list", "--json").output)["silences"]
    ended = call("silence", "end", listed[0]["silence"])

    assert (begun.exit_code, ended.exit_code) == (0, 0)
    assert "groq/*: nobody is told until" in begun.output
    assert [(one["endpoints"], one["by"], one["why"]) for one in listed] == [
        ("groq/*", "night", "their maintenance")
    ]
    assert "ended" in ended.output
    assert "No silence holds" in call("silence", "list").output
    assert "their maintenance" in call("silence", "list", "--all").output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("groq/*", "--for", "2 hours"), '--for: "2 hours" is no length of time'),
        (("groq/*", "--for", "0h"), '--for: "0h" is no length of time'),
        (("groq/*", "--for", "99999d"), "--for: is no time that a silence may last (allowed: "),
        (("groq/*", "--for", "2h", "--why", " "), "--why: is no reason (allowed: one line "),
        (("groq/*", "--for", "2h", "--by", " "), "--by: is no name (allowed: one line "),
        (("groq/*", "--for", "2h", "--region", "mars"), '--region "mars": unknown (known: '),
        (("GROQ", "--for", "2h"), "ENDPOINTS: is no id and no pattern of ids (allowed: "),
        (("grog/*", "--for", "2h"), 'ENDPOINTS "grog/*": matches no endpoint that is probed'),
    ],
)
def test_a_silence_that_cannot_be_is_refused(call, words, sentence):
    found = call("silence", "--why", "x", *words)

    assert isinstance(found.exception, SettingsError)
    assert str(found.exception).startswith(sentence)


def test_where_the_environment_names_nobody_a_silence_bears_the_accounts_name(call, ids):
    found = call("silence", "groq/*", "--for", "2h", "--why", "x", "--json", LOGNAME="", USER="")

    assert json.loads(found.output)["by"] == pwd.getpwuid(os.getuid()).pw_name


def test_without_a_token_the_sentence_says_how_to_get_one(call, ids):
    found = call("incidents", "ack", ids["halved"], PACEWATCH_ADMIN_TOKEN="")

    assert isinstance(found.exception, SettingsError)
    assert "pacewatch token issue --scope admin" in str(found.exception)


def test_board_and_status_tell_verdicts_and_open_incidents(call, ids):
    board, status = call("board"), call("status")

    assert f"Incident {ids['halved']}: groq/gpt-oss-120b: output 2.1 times" in board.output
    assert status.exit_code == 1
    assert f"incident {ids['halved']}: groq/gpt-oss-120b: output 2.1 times" in status.output
