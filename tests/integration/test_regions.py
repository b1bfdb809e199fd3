from datetime import UTC, datetime

import pytest

from aggregator import db
from aggregator.regions import Grant, Scope, issue_token, list_tokens, region_of, revoke_tokens
from pacewatch.words.errors import SettingsError

NOW = datetime(2026, 12, 2, 9, tzinfo=UTC)


@pytest.fixture
def connection(database_url):
    db.migrate(database_url)
    with db.connect(database_url) as connection:
        yield connection


def test_a_token_grants_its_own_region_and_scope(connection):
    token = issue_token(connection, "eu-west", "region", NOW)

    assert region_of(connection, token) == Grant(region="eu-west", scope=Scope.REGION)


@pytest.mark.parametrize("token", ["", "pacewatch_nobody", "x" * 500, "\ud800"])
def test_an_unknown_token_grants_nothing(connection, token):
    issue_token(connection, "eu-west", "region", NOW)

    assert region_of(connection, token) is None


def test_the_store_holds_no_token(connection):
    token = issue_token(connection, "eu-west", "region", NOW)

    rows = connection.execute("select t::text as row from region_token t").fetchall()

    assert len(rows) == 1
    assert token not in rows[0]["row"]
    assert token.encode().hex() not in rows[0]["row"]


def test_a_revoked_token_grants_nothing_and_the_others_of_the_region_still_do(connection):
    old = issue_token(connection, "eu-west", "region", NOW)
    new = issue_token(connection, "eu-west", "region", NOW.replace(hour=10))

    assert revoke_tokens(connection, "eu-west", NOW, only=list_tokens(connection)[0].id) == 1

    assert region_of(connection, old) is None
    assert region_of(connection, new) is not None
    assert revoke_tokens(connection, "eu-west", NOW) == 1
    assert region_of(connection, new) is None


@pytest.mark.parametrize("region", ["EU West", "a/b", "x" * 65, ""])
def test_a_region_token_needs_a_name_of_a_region(connection, region):
    with pytest.raises(SettingsError):
        issue_token(connection, region, "region", NOW)
