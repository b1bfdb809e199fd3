"""Every named query of the store: known to a real Postgres, and asked for somewhere."""

import re
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from support.records import NOON
from support.servers import fresh_database

import aggregator
from aggregator import db
from aggregator.partitions import make_days

FILES = sorted(
    entry.name.removesuffix(".sql")
    for entry in files("aggregator").joinpath("sql").iterdir()
    if entry.name.endswith(".sql")
)
NAMED = [(file, name) for file in FILES for name in db.queries(file)]

_PARAMETER = re.compile(r"%\((\w+)\)[sb]")


@pytest.fixture(scope="module")
def connection(postgres_url):
    with fresh_database(postgres_url) as url:
        db.migrate(url)
        with psycopg.connect(url) as connection:
            yield connection


def numbered(query):
    """The query with the server's own parameters."""
    names = list(dict.fromkeys(_PARAMETER.findall(query)))
    return _PARAMETER.sub(lambda found: f"${names.index(found[1]) + 1}", query).replace("%%", "%")


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_postgres_prepares_the_query(connection, file, name):
    query = numbered(db.queries(file)[name]).rstrip().removesuffix(";")

    try:
        connection.execute(f"prepare tried as {query}")
        connection.execute("deallocate tried")
    finally:
        connection.rollback()


DAYS = [NOON.date() - timedelta(days=n) for n in range(30)]
OF_ALL_DAYS = {
    "find_latest",  # a repair: the latest run may be of any day
    "mark_past_days_due",  # the first day there is
}
_PARTITIONED = re.compile(r"\b(?:from|join|update)\s+(?:run|timing|timeline)\b")
_LATE = {"until", "now", "latest", "today", "day"}
_VALUES = {
    "boolean": "true",
    "smallint": "1",
    "smallint[]": "{1}",
    "integer": "1",
    "bigint": "1",
    "double precision": "1",
    "integer[]": "{1}",
    "text": "x",
    "text[]": "{x}",
    "uuid": str(UUID(int=1)),
    "uuid[]": f"{{{UUID(int=1)}}}",
    "timestamp with time zone[]": f"{{{NOON}}}",
    "interval": "1 hour",
    "date": str(NOON.date()),
    "json": "[]",
}


@pytest.fixture(scope="module")
def a_month(connection):
    """A store whose tables have a part for each of thirty days."""
    make_days(connection, DAYS)
    connection.commit()
    connection.execute("set plan_cache_mode = force_custom_plan")
    return connection


@pytest.mark.parametrize(
    ("file", "name"),
    [
        (file, name)
        for file, name in NAMED
        if name not in OF_ALL_DAYS and _PARTITIONED.search(db.queries(file)[name])
    ],
)
def test_a_query_of_a_day_is_planned_over_that_day_and_not_over_all_there_are(a_month, file, name):
    """Else a year of days is planned, locked and at worst read for a few runs of today."""
    told = db.queries(file)[name].rstrip().removesuffix(";")
    names = list(dict.fromkeys(_PARAMETER.findall(told)))
    try:
        a_month.execute(f"prepare tried as {numbered(told)}")
        types = a_month.execute(
            "select parameter_types::text[] from pg_prepared_statements where name = 'tried'"
        ).fetchone()[0]
        values = [_value(*pair) for pair in zip(names, types, strict=True)]
        filled = f"({', '.join(values)})" if values else ""
        lines = a_month.execute(f"explain (costs off) execute tried{filled}").fetchall()
    finally:
        a_month.rollback()
        a_month.execute("deallocate all")

    days = set(re.findall(r"_(20\d{6})\b", "\n".join(line for (line,) in lines)))
    assert 1 <= len(days) <= 3, days


def _value(name, kind):
    if kind == "timestamp with time zone":
        return f"'{NOON if name in _LATE else NOON - timedelta(hours=20)}'"
    return f"'{_VALUES[kind]}'"


def test_every_query_is_asked_for_somewhere():
    folder = Path(aggregator.__file__).parent
    code = "".join(path.read_text() for path in folder.rglob("*.py"))
    unused = [f"{file}.{name}" for file, name in NAMED if f'"{name}"' not in code]

    assert unused == []


def test_no_file_names_a_query_twice():
    for file in FILES:
        text = files("aggregator").joinpath("sql", f"{file}.sql").read_text()
        assert text.count("-- name: ") == len(db.queries(file))
