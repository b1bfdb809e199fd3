import os
import subprocess
import sys
import threading
from contextlib import contextmanager

import psycopg
import pytest
from support.centre import migrated_pool
from support.records import NOON
from support.servers import fresh_database
from support.stack import until

from aggregator import db
from pacewatch.words.errors import StoreError


def test_migrating_twice_makes_nothing_the_second_time(database_url):
    assert db.migrate(database_url) == list(db.migrations())
    assert db.migrate(database_url) == []


def test_a_migration_that_is_killed_midway_leaves_nothing_half_made(database_url):
    with psycopg.connect(database_url) as other:
        other.execute("create table duplicate (a int)")  # what 0001 makes too, and waits for
        command = (sys.executable, "-m", "pacewatch", "migrate")
        environment = {**os.environ, "PACEWATCH_DATABASE_URL": database_url}
        with subprocess.Popen(command, env=environment) as migrating:
            until(lambda: waits_for_a_lock(other))
            migrating.kill()
        other.rollback()

    assert db.migrate(database_url) == list(db.migrations())


def waits_for_a_lock(connection):
    query = "select from pg_locks where not granted and locktype = 'transactionid'"
    return connection.execute(query).fetchall()


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


def test_two_that_migrate_at_once_make_each_migration_once(database_url):
    together, made = threading.Barrier(2), []

    def migrate():
        together.wait(60)
        made.append(db.migrate(database_url))

    both = [threading.Thread(target=migrate) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join(300)

    assert sorted(made) == [[], list(db.migrations())]


def tables(connection):
    """Every column, index and constraint of the store."""
    return [
        connection.execute(query).fetchall()
        for query in (
            "select table_name, column_name, data_type, is_nullable, column_default"
            " from information_schema.columns where table_schema = 'public' order by 1, 2",
            "select indexdef from pg_indexes where schemaname = 'public' order by 1",
            "select conrelid::regclass::text as it, pg_get_constraintdef(oid) as says"
            " from pg_constraint where connamespace = 'public'::regnamespace order by 1, 2",
        )
    ]


@contextmanager
def migrated_before(url, name):
    """A store as it was before a migration."""
    with db.connect(url) as connection:
        connection.execute(
            "create table migration"
            " (name text primary key, made_at timestamptz not null default now())"
        )
        for made, text in db.migrations().items():
            if made == name:
                break
            connection.execute(text)
            connection.execute("insert into migration (name) values (%s)", (made,))
        yield connection


@pytest.mark.parametrize("made", db.migrations())
def test_a_store_of_an_earlier_version_is_upgraded_to_the_same_tables(
    database_url, postgres_url, made
):
    with migrated_before(database_url, made):
        pass

    assert db.migrate(database_url) == list(db.migrations())[list(db.migrations()).index(made) :]

    with fresh_database(postgres_url) as new:
        db.migrate(new)
        with db.connect(new) as connection:
            fresh = tables(connection)
    with db.connect(database_url) as connection:
        upgraded = tables(connection)
    assert upgraded == fresh


RELEASED = "0017_notices_half_sent"
"""The last migration of the version that centres may run beside this one."""


def columns_of_views(connection):
    """Every view with its columns, in order."""
    query = (
        "select table_name, array_agg(column_name::text order by ordinal_position) as columns"
        " from information_schema.columns join information_schema.views using (table_name)"
        " where columns.table_schema = 'public' group by table_name"
    )
    return {row["table_name"]: row["columns"] for row in connection.execute(query).fetchall()}


def test_a_centre_of_before_reads_the_views_that_it_knows_beside_a_newer_one(database_url):
    first_later = list(db.migrations())[list(db.migrations()).index(RELEASED) + 1]
    with migrated_before(database_url, first_later) as connection:
        released = columns_of_views(connection)

    db.migrate(database_url)

    with db.connect(database_url) as connection:
        upgraded = columns_of_views(connection)
    assert released
    assert {name: upgraded.get(name) for name in released} == released


def test_statistics_of_before_the_interval_of_the_throughput_are_due_at_once(database_url):
    with migrated_before(database_url, "0015_interval_of_the_throughput") as connection:
        connection.execute(
            "insert into series (endpoint, region, workload, load, simulated)"
            " select 'a/b', region, 'short', 'parallel', true"
            " from unnest(array['eu', 'us']) as its (region)"
        )
        connection.execute(
            "insert into series_stat (series_id, system_runs, oldest_at, next_expiry)"
            " select series_id, case region when 'eu' then 5 else 0 end, '2026-12-01', 'infinity'"
            " from series"
        )

    db.migrate(database_url)

    with db.connect(database_url) as connection:
        due = connection.execute(
            db.queries("upkeep")["find_aged_series"], {"now": NOON, "limit": 9}
        )
        assert [row["series_id"] for row in due.fetchall()] == [1]


def test_statistics_of_before_definitions_were_noted_are_due_at_once(database_url):
    with migrated_before(database_url, "0018_definitions_of_a_window") as connection:
        connection.execute(
            "insert into series (endpoint, region, workload, load, simulated)"
            " select 'a/b', region, 'short', 'single', true"
            " from unnest(array['eu', 'us']) as its (region)"
        )
        connection.execute(
            "insert into series_stat (series_id, runs, oldest_at, next_expiry)"
            " select series_id, case region when 'eu' then 8 else 0 end, '2026-12-01', 'infinity'"
            " from series"
        )

    db.migrate(database_url)

    with db.connect(database_url) as connection:
        due = connection.execute(
            db.queries("upkeep")["find_aged_series"], {"now": NOON, "limit": 9}
        )
        assert [row["series_id"] for row in due.fetchall()] == [1]


def test_a_connection_that_died_is_replaced(database_url):
    with migrated_pool(database_url) as pool:
        with db.connect(database_url) as admin:
            admin.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and pid <> pg_backend_pid()"
            )

        with pool.connection() as connection:
            assert connection.execute("select 1 as one").fetchone() == {"one": 1}
