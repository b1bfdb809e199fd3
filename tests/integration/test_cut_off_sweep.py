"""Postgres loses its power while a sweep drops what is too old."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from support.centre import make_fleet, migrated_pool
from support.records import NOON, make_slot, plan, push, record_of, statuses
from support.servers import PostgresServer, short_folder
from support.stack import until

from aggregator.db import Connection, Pool
from aggregator.partitions import TABLES
from aggregator.upkeep import drop_old
from pacewatch.words.errors import StoreError
from pacewatch.words.fleet import Schedule
from pacewatch.words.retention import Retention

FLEET = make_fleet(schedule=Schedule(), retention=Retention(timelines_days=2, timings_days=4))
SLOTS = [make_slot(NOON - timedelta(days=days)) for days in range(7, -1, -1)]
"""A run a day: three are too old, and the timelines of five."""
DROPPED, HELD, LEFT = "run_20261125", "run_20261126", "timeline_20261125"
"""A partition that is dropped, the one in whose drop the power goes, and one that comes later."""
HOLD = f"""
create function hold() returns event_trigger language plpgsql as $$ begin
  if exists (select from pg_event_trigger_dropped_objects() where object_name = '{HELD}') then
    perform pg_sleep(50);
  end if;
end $$;
create event trigger hold on sql_drop execute function hold();
"""
"""Keeps a transaction open that has dropped the partition."""
HOLDS = "select from pg_stat_activity where wait_event = 'PgSleep'"


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    with short_folder() as folder:
        server = PostgresServer(folder)
        try:
            server.start()
            yield server
        finally:
            server.kill()


def contents(connection: Connection) -> dict[str, int]:
    """Every partition that a table has, with its rows."""
    found = connection.execute(
        "select inhrelid::regclass::text as name from pg_inherits join pg_class on oid = inhparent"
        " where relname = any(%s)",
        (list(TABLES),),
    ).fetchall()
    return {
        row["name"]: connection.execute(f"select count(*) as n from {row['name']}").fetchone()["n"]
        for row in found
    }


def orphans(connection: Connection) -> set[str]:
    """Tables named as partitions that no table has, and files of the database that no table has."""
    loose = connection.execute(
        "select relname from pg_class where relkind = 'r' and not relispartition"
        " and relname ~ '^(run|timing|timeline)_[0-9]'"
    ).fetchall()
    connection.execute("checkpoint")  # what was unlinked goes with it
    known = {
        str(row["file"])
        for row in connection.execute("select pg_relation_filenode(oid) as file from pg_class")
    }
    where = connection.execute(
        "select current_setting('data_directory') || '/base/' || oid as folder from pg_database"
        " where datname = current_database()"
    ).fetchone()
    held = {
        found[0]
        for file in Path(where["folder"]).iterdir()
        if (found := re.match(r"\d+", file.name))
    }
    return {row["relname"] for row in loose} | (held - known)


def cut_off_in_a_drop(server: PostgresServer, pool: Pool) -> None:
    """Let the power go while the drop of a partition is done but not yet committed."""
    with ThreadPoolExecutor() as threads:
        sweep = threads.submit(drop_old, pool, FLEET, NOON)
        with psycopg.connect(server.url, autocommit=True) as watching:
            until(lambda: watching.execute(HOLDS).fetchall())
            server.cut_off()
        with pytest.raises(StoreError):
            sweep.result(120)


def test_a_sweep_cut_off_loses_nothing_leaves_nothing_half_dropped_and_is_finished_by_the_next(
    server,
):
    with migrated_pool(server.url) as pool:
        with pool.connection() as connection:
            plan(connection, *SLOTS)
            connection.execute(HOLD)
        for slot in SLOTS:
            assert statuses(push(pool, record_of(slot), now=slot.slot_at)) == ["stored"]
        with pool.connection() as connection:
            before = contents(connection)

        cut_off_in_a_drop(server, pool)
        server.start()

        with pool.connection() as connection:
            connection.autocommit = True
            after, left = contents(connection), orphans(connection)
            connection.execute("drop event trigger hold")
            connection.autocommit = False
        swept = drop_old(pool, FLEET, NOON)
        with pool.connection() as connection:
            connection.autocommit = True
            last, left_at_last = contents(connection), orphans(connection)
            connection.autocommit = False

    assert {HELD, LEFT} <= before.keys()
    assert after == {name: rows for name, rows in before.items() if name != DROPPED}
    assert (left, left_at_last) == (set(), set())
    assert HELD in swept
    assert LEFT in swept
    assert last == {name: rows for name, rows in after.items() if name not in swept}
    kept = {"run": 4, "timing": 4, "timeline": 2}
    assert {name for name, rows in last.items() if rows} == {
        f"{table}_{NOON - timedelta(days=days):%Y%m%d}"
        for table, most in kept.items()
        for days in range(most + 1)
    }
