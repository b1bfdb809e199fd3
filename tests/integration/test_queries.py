"""Every named query of the store: known to a real Postgres, and asked for somewhere."""

import re
from importlib.resources import files
from pathlib import Path

import psycopg
import pytest
from support.servers import fresh_database

import aggregator
from aggregator import db

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


def test_every_query_is_asked_for_somewhere():
    folder = Path(aggregator.__file__).parent
    code = "".join(path.read_text() for path in folder.rglob("*.py"))
    unused = [f"{file}.{name}" for file, name in NAMED if f'"{name}"' not in code]

    assert unused == []


def test_no_file_names_a_query_twice():
    for file in FILES:
        text = files("aggregator").joinpath("sql", f"{file}.sql").read_text()
        assert text.count("-- name: ") == len(db.queries(file))
