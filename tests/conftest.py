"""Fixtures of all suites. The environment is cleaned of our own and of proxy variables before
anything else.
"""

import os
from collections.abc import Iterator

import pytest
from support.servers import embedded_postgres, fresh_database

_OURS = ("PACEWATCH_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")

for _name in [
    n for n in os.environ if n.upper().startswith(_OURS) or n.upper().endswith("_API_KEY")
]:
    del os.environ[_name]


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A served Postgres for the session."""
    with embedded_postgres() as url:
        yield url


@pytest.fixture
def database_url(postgres_url: str) -> Iterator[str]:
    """A new empty database."""
    with fresh_database(postgres_url) as url:
        yield url
