import psycopg
import pytest

from aggregator import db
from pacewatch.words.errors import StoreError


def test_migrating_twice_makes_nothing_the_second_time(database_url):
    assert db.migrate(database_url) == list(db.migrations())
    assert db.migrate(database_url) == []


def test_a_store_of_a_newer_version_is_refused(database_url):
    db.migrate(database_url)
    with db.connect(database_url) as connection:
        connection.execute("insert into migration (name) values ('9999_later')")

    with pytest.raises(StoreError, match="newer version: it has 9999_later"):
        db.migrate(database_url)


def test_a_store_without_tables_is_refused_with_the_command_that_mends_it(database_url):
    with (
        db.connect(database_url) as connection,
        pytest.raises(StoreError, match=r"lacks migration 0001_start \(pacewatch migrate makes it"),
    ):
        db.require_store(connection, True)


@pytest.mark.parametrize("simulated", [True, False])
def test_a_store_takes_the_kind_of_its_first_fleet_and_refuses_the_other(database_url, simulated):
    db.migrate(database_url)
    with db.connect(database_url) as connection:
        db.require_store(connection, simulated)
        db.require_store(connection, simulated)

        with pytest.raises(StoreError, match="a database of its own for each"):
            db.require_store(connection, not simulated)


def test_no_error_of_the_store_shows_the_connection_string(database_url):
    wrong = database_url.replace("postgresql://pacewatch:", "postgresql://pacewatch:wrong")

    with pytest.raises(StoreError) as caught, db.connect(wrong) as connection:
        connection.execute("select 1")

    assert psycopg.conninfo.conninfo_to_dict(wrong)["password"] not in str(caught.value)
